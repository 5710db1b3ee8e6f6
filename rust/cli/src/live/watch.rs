//! Prints once, or again and again.

use std::io::{IsTerminal, Write, stdout};
use std::time::Duration;

use crate::failure::Failure;

/// Erases a terminal, and goes to its first line.
const CLEAR: &str = "\x1b[2J\x1b[H";

/// `print` fills a text, so that a terminal is not empty while a slow answer is awaited.
pub(super) fn watched(
    every_s: Option<u64>,
    output: &mut impl Write,
    mut print: impl FnMut(&mut Vec<u8>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut has_printed = false;
    loop {
        let mut text = Vec::new();
        match (print(&mut text), every_s) {
            // Whoever watches sees a ResourceManager that is away come back.
            (Err(Failure::Failed(problem)), Some(_)) => text = format!("{problem}\n").into_bytes(),
            // The same request was answered before, so this is a 404: after a restart the ResourceManager answers some
            // seconds before its nodes register.
            (Err(Failure::BadInput(problem)), Some(_)) if has_printed => {
                text = format!("not there (yet): {problem}\n").into_bytes();
            }
            (printed, _) => {
                printed?;
                has_printed = true;
            }
        }
        if every_s.is_some() && stdout().is_terminal() {
            output.write_all(CLEAR.as_bytes())?;
        }
        output.write_all(&text)?;
        output.flush()?;
        let Some(every_s) = every_s else {
            return Ok(());
        };
        std::thread::sleep(Duration::from_secs(every_s));
    }
}

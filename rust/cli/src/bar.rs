//! The progress of a long command, on stderr, drawn only on a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar.
pub fn bar(of_what: &str) -> ProgressBar {
    let bar = ProgressBar::new(0);
    let template =
        format!("{{wide_bar}} {{percent:>3}} %  {{pos}}/{{len}} {of_what}, {{eta}} left");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

/// A line for what has no known length; `tick` draws it.
pub fn line(what_goes_on: &'static str) -> ProgressBar {
    let line = ProgressBar::new_spinner().with_message(what_goes_on);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed}") {
        line.set_style(style);
    }
    line
}

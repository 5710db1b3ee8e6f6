//! The progress bar of a long command.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar on stderr, drawn only on a terminal.
pub fn bar(of_what: &str) -> ProgressBar {
    let bar = ProgressBar::new(0);
    let template =
        format!("{{wide_bar}} {{percent:>3}} %  {{pos}}/{{len}} {of_what}, {{eta}} left");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar
}

//! The subcommands.

pub(crate) mod evaluate;
pub(crate) mod expected_starts;
pub(crate) mod export_series;
pub(crate) mod reproduce;
mod series_format;
pub(crate) mod simulate;

use std::fmt::Display;

use elastane_cli::failure::Failure;

fn bad_input(error: impl Display) -> Failure {
    Failure::BadInput(error.to_string())
}

fn failed(error: impl Display) -> Failure {
    Failure::Failed(error.to_string())
}

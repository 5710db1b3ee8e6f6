//! The `elastane-lab` command. `docs/lab/README.md` lists its subcommands.

mod commands;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use elastane_cli::failure::exit_code_of;

use crate::commands::{evaluate, expected_starts, export_series, reproduce, simulate};

/// Compares Elastane with published figures and other policies, and its predictions with plain ones
#[derive(Parser)]
#[command(
    name = "elastane-lab",
    version,
    after_help = "Examples:
  elastane-lab reproduce elasecutor --seeds 5
  elastane-lab simulate --workload lockstep --policy elastane,capacity
  elastane-lab evaluate series

Exit codes: 0 done, 1 it failed, 2 wrong usage or bad input."
)]
struct Command {
    #[command(subcommand)]
    subcommand: Subcommands,
}

#[derive(Subcommand)]
enum Subcommands {
    Simulate(simulate::Simulate),
    Reproduce(reproduce::Reproduce),
    Evaluate(evaluate::Evaluate),
    ExpectedStarts(expected_starts::ExpectedStarts),
    ExportSeries(export_series::ExportSeries),
}

fn main() -> ExitCode {
    let command = Command::parse();
    exit_code_of("elastane-lab", |output| match command.subcommand {
        Subcommands::Simulate(simulate) => simulate.run(output),
        Subcommands::Reproduce(reproduce) => reproduce.run(output),
        Subcommands::Evaluate(evaluate) => evaluate.run(output),
        Subcommands::ExpectedStarts(starts) => starts.run(output),
        Subcommands::ExportSeries(export) => export.run(output),
    })
}

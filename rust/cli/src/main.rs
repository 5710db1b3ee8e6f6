//! The `elastane` command. `docs/command.md` shows each subcommand with its output.

mod decisions;
mod depository;
mod evaluate;
mod failure;
mod import;
mod journal;
mod plot;
mod plot_svg;
mod profiles;
mod reproduce;
mod reproduce_ursa;
mod simulate;
mod simulation;
mod units;
mod what_if;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Failure;

/// Asks an Elastane scheduler's files and its placement policies.
#[derive(Parser)]
#[command(
    name = "elastane",
    version,
    after_help = "Exit codes: 0 done, 1 it failed, 2 wrong usage or bad input."
)]
struct Command {
    #[command(subcommand)]
    subcommand: Subcommands,
}

#[derive(Subcommand)]
enum Subcommands {
    WhatIf(what_if::WhatIf),
    Profiles(profiles::Profiles),
    Depository(depository::DepositoryCommand),
    Decisions(decisions::Decisions),
    Simulate(simulate::Simulate),
    Reproduce(reproduce::Reproduce),
    Evaluate(evaluate::Evaluate),
    Import(import::Import),
}

fn main() -> ExitCode {
    let command = Command::parse();
    let mut output = io::BufWriter::new(io::stdout().lock());
    let done = match command.subcommand {
        Subcommands::WhatIf(what_if) => what_if.run(&mut output),
        Subcommands::Profiles(profiles) => profiles.run(&mut output),
        Subcommands::Depository(depository) => depository.run(&mut output),
        Subcommands::Decisions(decisions) => decisions.run(&mut output),
        Subcommands::Simulate(simulate) => simulate.run(&mut output),
        Subcommands::Reproduce(reproduce) => reproduce.run(&mut output),
        Subcommands::Evaluate(evaluate) => evaluate.run(&mut output),
        Subcommands::Import(import) => import.run(&mut output),
    };
    match done.and_then(|()| Ok(output.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read the output has seen enough.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("elastane: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

//! The `elastane` command. `docs/command.md` describes its subcommands.

mod decisions;
mod depository;
mod import;
mod live;
mod page;
mod plot;
mod plot_svg;
mod profiles;
mod report;
mod table;
mod what_if;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use elastane_cli::{bar, failure, run_options, simulate, units};

/// Shows how an Elastane scheduler stands, what it learned and decided, and tries its policies in simulations
#[derive(Parser)]
#[command(
    name = "elastane",
    version,
    after_help = "Examples:
  elastane status --resource-manager http://rm:8088
  elastane explain application_1763736000000_0007
  elastane advise --resource-manager http://rm:8088
  elastane what-if --policy elastane scenario.json
  elastane profiles list --depository depository.db
  elastane decisions --journal decisions.jsonl
  elastane report --depository depository.db --since 7d
  elastane simulate --scenario cluster.json --policy elastane,minfrag

Exit codes: 0 done, 1 it failed, 2 wrong usage or bad input."
)]
struct Command {
    #[command(subcommand)]
    subcommand: Subcommands,
}

#[derive(Subcommand)]
enum Subcommands {
    Status(live::Status),
    Explain(live::Explain),
    Advise(live::Advise),
    WhatIf(what_if::WhatIf),
    Profiles(profiles::Profiles),
    Depository(depository::DepositoryCommand),
    Decisions(decisions::Decisions),
    Report(report::Report),
    Simulate(Box<simulate::Simulate>),
    Import(import::Import),
}

fn main() -> ExitCode {
    let command = Command::parse();
    failure::exit_code_of("elastane", |output| match command.subcommand {
        Subcommands::Status(status) => status.run(output),
        Subcommands::Explain(explain) => explain.run(output),
        Subcommands::Advise(advise) => advise.run(output),
        Subcommands::WhatIf(what_if) => what_if.run(output),
        Subcommands::Profiles(profiles) => profiles.run(output),
        Subcommands::Depository(depository) => depository.run(output),
        Subcommands::Decisions(decisions) => decisions.run(output),
        Subcommands::Report(report) => report.run(output),
        Subcommands::Simulate(simulate) => simulate.run(output),
        Subcommands::Import(import) => import.run(output),
    })
}

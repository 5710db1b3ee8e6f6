//! `elastane-lab reproduce`

mod figures;
mod house;
mod ispark;
mod reprovision;
mod sensitivity;
mod simulated;
mod ursa;

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use elastane_cli::failure::{Failure, write};
use elastane_cli::run_options::RunOptions;
use elastane_lab::reproduce::{PAPERS, Paper};
use elastane_sim::simulator::Settings;

const HOUSE: &str = "house";
const ISPARK: &str = "ispark";
const REPROVISION: &str = "reprovision";
const SENSITIVITY: &str = "sensitivity";
const URSA: &str = "ursa";

const SEEDS: u32 = 30;
/// Fewer: a sensitivity run has some thirty comparisons.
const SENSITIVITY_SEEDS: u32 = 3;

/// Repeats a paper's comparison and prints it beside the published figures
#[derive(Args)]
#[command(after_help = "Examples:
  elastane-lab reproduce elasecutor
  elastane-lab reproduce prophet --seeds 5 --json prophet.json
  elastane-lab reproduce ispark
  elastane-lab reproduce ursa --seeds 3
  elastane-lab reproduce reprovision --seeds 5
  elastane-lab reproduce sensitivity --json sensitivity.json
  elastane-lab reproduce sensitivity --of ursa --seeds 30
  elastane-lab reproduce house --noise 0.4 --length-error 0.2

Without --starvation-wait-ms an application waits until a node fits it; in house 180000 ms at most.")]
pub(crate) struct Reproduce {
    /// A paper: elasecutor, prophet, ispark or ursa. Or sensitivity: the main figures with one parameter
    /// changed at a time. Or reprovision: gain and cost of reprovisioning. Or house: the policy elastane
    /// against minfrag
    paper: String,
    /// The number of seeds, from --seed on; by default 30, for sensitivity 3
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    seeds: Option<u32>,
    /// With sensitivity: only this paper
    #[arg(long, value_name = "PAPER")]
    of: Option<String>,
    #[command(flatten)]
    run: RunOptions,
    /// Write all figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Reproduce {
    pub(crate) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let seeds = self.seeds.unwrap_or(SEEDS);
        if self.of.is_some() && self.paper != SENSITIVITY {
            let refused = "--of: goes with sensitivity only".to_owned();
            return Err(Failure::BadInput(refused));
        }
        let report = match self.paper.as_str() {
            URSA => ursa::run(&self.run, seeds, output),
            HOUSE => house::run(&self.run, seeds, output),
            REPROVISION => reprovision::run(&self.run, seeds, output),
            ISPARK => ispark::run(&self.run, seeds, output),
            SENSITIVITY => {
                let seeds = self.seeds.unwrap_or(SENSITIVITY_SEEDS);
                sensitivity::run(&self.run, self.of.as_deref(), seeds, output)
            }
            _ => simulated::run(&self.paper()?, &self.run, seeds, output),
        }?;
        match &self.json {
            Some(path) => write(path, &format!("{report:#}\n")),
            None => Ok(()),
        }
    }

    fn paper(&self) -> Result<Paper, Failure> {
        let known = PAPERS.into_iter().find(|paper| paper.name == self.paper);
        known.ok_or_else(|| {
            let mut names: Vec<&str> = PAPERS.iter().map(|paper| paper.name).collect();
            names.extend([ISPARK, URSA, SENSITIVITY, REPROVISION, HOUSE]);
            let (name, names) = (&self.paper, names.join(", "));
            Failure::BadInput(format!("paper {name}: not known, one of {names} is allowed"))
        })
    }
}

/// Refuses options of a run other than seeds and threads.
fn refuse_changes(run: &RunOptions, why: &str) -> Result<(), Failure> {
    let is_unchanged = run.noise.is_none()
        && run.length_error.is_none()
        && !run.every_heartbeat
        && run.starvation_wait_ms.is_none()
        && run.settings(Settings::default()) == Settings::default();
    if is_unchanged {
        Ok(())
    } else {
        let allowed = "--seeds, --seed, --threads and --json are allowed";
        Err(Failure::BadInput(format!("{why}: {allowed}")))
    }
}

/// Parses the options of a command line.
#[cfg(test)]
fn parsed(options: &[&str]) -> RunOptions {
    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        run: RunOptions,
    }
    let command: Command = clap::Parser::parse_from([&["test"], options].concat());
    command.run
}

//! `elastane reproduce`

mod figures;
mod house;
mod ispark;
mod reprovision;
mod sensitivity;
mod simulated;

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use elastane_sim::reproduce::{PAPERS, Paper};

use crate::failure::Failure;
use crate::reproduce_ursa;
use crate::simulation::RunOptions;

const HOUSE: &str = "house";
const ISPARK: &str = "ispark";
const REPROVISION: &str = "reprovision";
const SENSITIVITY: &str = "sensitivity";
const URSA: &str = "ursa";

const SEEDS: u32 = 30;
/// A sensitivity run has some thirty comparisons.
const SENSITIVITY_SEEDS: u32 = 3;

/// A paper's comparison, with what the paper published beside it
#[derive(Args)]
#[command(after_help = "Examples:
  elastane reproduce elasecutor
  elastane reproduce prophet --seeds 5 --json prophet.json
  elastane reproduce ispark
  elastane reproduce ursa --seeds 3
  elastane reproduce reprovision --seeds 5
  elastane reproduce sensitivity --json sensitivity.json
  elastane reproduce sensitivity --of ursa --seeds 30
  elastane reproduce house --noise 0.4 --length-error 0.2")]
pub(crate) struct Reproduce {
    /// The paper: elasecutor, prophet, ispark or ursa; or sensitivity, for how the main figures
    /// hang on the model's parameters and on what the papers leave open; or reprovision, for what
    /// reprovisioning gains and costs; or house, for the house policy against minfrag
    paper: String,
    /// How many seeds, from --seed on; 30, or 3 for sensitivity, where it is not given
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    seeds: Option<u32>,
    /// With sensitivity: of this paper only
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
        let json = self.json.as_deref();
        if self.of.is_some() && self.paper != SENSITIVITY {
            let refused = "--of: goes with sensitivity only".to_owned();
            return Err(Failure::BadInput(refused));
        }
        match self.paper.as_str() {
            URSA => reproduce_ursa::run(&self.run, seeds, json, output),
            HOUSE => house::run(&self.run, seeds, json, output),
            REPROVISION => reprovision::run(&self.run, seeds, json, output),
            ISPARK => ispark::run(&self.run, seeds, json, output),
            SENSITIVITY => {
                let seeds = self.seeds.unwrap_or(SENSITIVITY_SEEDS);
                sensitivity::run(&self.run, self.of.as_deref(), seeds, json, output)
            }
            _ => simulated::run(&self.paper()?, &self.run, seeds, json, output),
        }
    }

    fn paper(&self) -> Result<Paper, Failure> {
        let known = PAPERS.into_iter().find(|paper| paper.name == self.paper);
        known.ok_or_else(|| {
            let mut names: Vec<&str> = PAPERS.iter().map(|paper| paper.name).collect();
            names.extend([ISPARK, URSA, SENSITIVITY, REPROVISION, HOUSE]);
            let (name, names) = (&self.paper, names.join(", "));
            Failure::BadInput(format!("paper {name}: not known, {names} are there"))
        })
    }
}

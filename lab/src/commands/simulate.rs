//! `elastane-lab simulate`

use std::io::Write;

use clap::{ArgGroup, Args};
use elastane_cli::failure::Failure;
use elastane_cli::simulate::{ComparisonOptions, Files, INPUT};
use elastane_lab::baselines::policies;
use elastane_lab::workload::{generate, generate_large};

use super::bad_input;

/// The workload whose size `--machines` sets.
const LARGE: &str = "large";

const EXAMPLES: &str = "Examples:
  elastane-lab simulate --workload elasecutor --policy minfrag,tetris,static
  elastane-lab simulate --workload prophet --policy minfrag --seeds 10 --json prophet.json
  elastane-lab simulate --workload elasecutor --policy minfrag --noise 0.4 --length-error 0.2
  elastane-lab simulate --scenario cluster.json --policy minfrag,static --html report.html
  elastane-lab simulate --swim FB-2010_samples.tsv --machines 100 --policy capacity,minfrag";

/// Runs a generated workload, a scenario or a trace on a simulated cluster under one or several policies
#[derive(Args)]
#[command(
    group = ArgGroup::new(INPUT).required(true),
    after_help = format!("Policies: {}\n\n{EXAMPLES}", policies().names().join(", "))
)]
pub(crate) struct Simulate {
    /// A workload of the papers: elasecutor, elasecutor-outdated, elasecutor-tpch, prophet, ursa-mix
    /// or lockstep; or large, which fills a cluster of 10000 machines, or of --machines, for a day
    #[arg(long, value_name = "NAME", group = INPUT)]
    workload: Option<String>,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    comparison: ComparisonOptions,
}

impl Simulate {
    pub(crate) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let file = self.files.read()?;
        let name = self.workload.as_deref().unwrap_or_default();
        let workload = |seed| match (&file, self.files.machines) {
            (Some(workload), _) => Ok(workload.clone()),
            (None, Some(machines)) if name == LARGE => {
                generate_large(seed, machines as usize).map_err(bad_input)
            }
            (None, _) => generate(name, seed).map_err(bad_input),
        };
        self.comparison.run(policies(), workload, output)
    }
}

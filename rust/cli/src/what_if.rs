//! `elastane what-if`

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use elastane_core::policy::{Favor, PolicyOptions, named, names};
use elastane_sim::{Options, Scenario, what_if};

use crate::failure::{Failure, read};
use crate::run_options::fraction;

/// What a policy would place in a scenario, and why
#[derive(Args)]
#[command(after_help = "Examples:
  elastane what-if --policy minfrag scenario.json
  elastane what-if --policy prophet --margin 0.1 --all scenario.json
  elastane what-if --policy elastane --favor completion scenario.json")]
pub(crate) struct WhatIf {
    #[arg(long, value_name = "NAME", help = format!("The policy: {}", names().join(", ")))]
    policy: String,
    /// The safety margin that the fit adds to each demand, as a fraction: 0.1 is a tenth more
    #[arg(long, value_name = "FRACTION", default_value = "0", value_parser = fraction)]
    margin: f64,
    /// What the policy elastane minimizes, as placement.favor: makespan, completion (the mean completion
    /// time of applications) or balanced
    #[arg(long, value_name = "WHAT", default_value = Favor::default().name())]
    favor: Favor,
    /// Place until nothing fits, instead of one executor a node
    #[arg(long)]
    all: bool,
    /// The scenario, in JSON
    file: PathBuf,
}

impl WhatIf {
    pub(crate) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let policy_options = PolicyOptions { favor: self.favor, ..PolicyOptions::default() };
        let policy = named(&self.policy, policy_options)
            .map_err(|error| Failure::BadInput(error.to_string()))?;
        let scenario = Scenario::from_json(&read(&self.file)?)
            .map_err(|error| Failure::bad(&self.file, error))?;
        let options = Options { margin: self.margin, all: self.all };
        let answer = what_if(&scenario, policy.as_ref(), options);
        serde_json::to_writer_pretty(&mut *output, &answer)?;
        Ok(writeln!(output)?)
    }
}

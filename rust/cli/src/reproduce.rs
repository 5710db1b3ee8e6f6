//! `elastane reproduce`

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use elastane_sim::experiment::Comparison;
use elastane_sim::report::write_table;
use elastane_sim::reproduce::{Agreement, Claim, Measured, PAPERS, Paper, PublishedExperiment};
use elastane_sim::workload::generate;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::reproduce_ursa;
use crate::simulation::{RunOptions, write};

const URSA: &str = "ursa";

/// A paper's comparison, with what the paper published beside it
#[derive(Args)]
#[command(after_help = "Examples:
  elastane reproduce elasecutor
  elastane reproduce prophet --seeds 5 --json prophet.json
  elastane reproduce ursa --seeds 3")]
pub(crate) struct Reproduce {
    /// The paper: elasecutor, prophet or ursa
    paper: String,
    /// How many seeds, from --seed on
    #[arg(long, value_name = "NUMBER", default_value = "30",
          value_parser = clap::value_parser!(u32).range(1..=1_000))]
    seeds: u32,
    #[command(flatten)]
    run: RunOptions,
    /// Write all figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Reproduce {
    pub(crate) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        if self.paper == URSA {
            return reproduce_ursa::run(&self.run, self.seeds, self.json.as_deref(), output);
        }
        let paper = self.paper()?;
        writeln!(output, "{}", paper.title)?;
        let mut experiments = Vec::new();
        for experiment in paper.experiments {
            let policies: Vec<String> = experiment
                .policies
                .iter()
                .map(ToString::to_string)
                .collect();
            let workload = |seed| {
                generate(experiment.workload, seed)
                    .map_err(|error| Failure::BadInput(error.to_string()))
            };
            let compared = self.run.compare(&policies, self.seeds, None, workload)?;
            writeln!(output)?;
            write_table(output, &compared)?;
            writeln!(output)?;
            write_claims(output, experiment, &compared)?;
            output.flush()?;
            experiments.push((experiment, compared));
        }
        match &self.json {
            Some(path) => write(path, &format!("{:#}\n", self.to_json(&experiments)?)),
            None => Ok(()),
        }
    }

    fn paper(&self) -> Result<Paper, Failure> {
        let known = PAPERS.into_iter().find(|paper| paper.name == self.paper);
        known.ok_or_else(|| {
            let mut names: Vec<&str> = PAPERS.iter().map(|paper| paper.name).collect();
            names.push(URSA);
            let (name, names) = (&self.paper, names.join(", "));
            Failure::BadInput(format!("paper {name}: not known, {names} are there"))
        })
    }

    /// The main experiment's report, with the others beside it.
    fn to_json(
        &self,
        experiments: &[(&PublishedExperiment, Comparison)],
    ) -> Result<Value, Failure> {
        let mut reports = Vec::new();
        for (experiment, compared) in experiments {
            let mut report = self.run.to_json(compared)?;
            report["claims"] = measured(experiment, compared)
                .map(|(claim, measured)| {
                    json!({
                        "source": claim.source,
                        "figure": claim.measure.words(),
                        "published": claim.published,
                        "ours": measured.values,
                        "differs": measured.agreement(claim.published).words(),
                    })
                })
                .collect();
            reports.push(report);
        }
        let mut reports = reports.into_iter();
        let mut main = reports.next().unwrap_or_default();
        main["others"] = reports.collect();
        Ok(main)
    }
}

fn measured<'a>(
    experiment: &PublishedExperiment,
    compared: &'a Comparison,
) -> impl Iterator<Item = (&'static Claim, Measured)> + 'a {
    let claims = experiment.claims;
    claims
        .iter()
        .filter_map(|claim| Some((claim, claim.measure.of(compared)?)))
}

fn write_claims(
    output: &mut impl Write,
    experiment: &PublishedExperiment,
    compared: &Comparison,
) -> Result<(), Failure> {
    writeln!(
        output,
        "{:<16} {:>9} {:>9} {:>9} {:>7}  figure",
        "source", "published", "ours", "median", "±"
    )?;
    let mut reasons: Vec<&str> = Vec::new();
    for (claim, measured) in measured(experiment, compared) {
        let agreement = measured.agreement(claim.published);
        let mut note = String::new();
        if agreement != Agreement::Agrees {
            let known = reasons.iter().position(|reason| *reason == claim.because);
            let number = known.unwrap_or_else(|| {
                reasons.push(claim.because);
                reasons.len() - 1
            });
            note = format!("  ({}) {}", number + 1, agreement.words());
        }
        writeln!(
            output,
            "{:<16} {:>9.1} {:>9.1} {:>9.1} {:>7.1}  {}{note}",
            claim.source,
            claim.published,
            measured.mean(),
            measured.median(),
            measured.deviation(),
            claim.measure.words(),
        )?;
    }
    for (number, reason) in reasons.into_iter().enumerate() {
        writeln!(output, "({}) {reason}", number + 1)?;
    }
    Ok(())
}

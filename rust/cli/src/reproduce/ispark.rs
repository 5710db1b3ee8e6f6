//! `elastane reproduce ispark`: iterative applications that give up executors.

use std::io::Write;
use std::path::Path;

use elastane_sim::ispark::{Comparison, NeverEnds, Parameters, compare, to_json};
use serde_json::Value;

use super::figures::{figures_json, write_figures};
use crate::failure::Failure;
use crate::simulation::{RunOptions, write};

pub(super) fn run(
    run: &RunOptions,
    seeds: u32,
    json: Option<&Path>,
    output: &mut impl Write,
) -> Result<(), Failure> {
    run.refuse_changes("ispark is simulated iteration by iteration, by a model of its own")?;
    let parameters = Parameters::default();
    let comparison = compare(&parameters, &run.seeds(seeds))?;
    let compared = comparison.compared();
    writeln!(output, "iSpark, IEEE BigData 2019\n")?;
    writeln!(output, "{comparison}")?;
    write_figures(output, &compared)?;
    let Some(path) = json else {
        return Ok(());
    };
    let mut report = report(&comparison, &parameters)?;
    report["claims"] = figures_json(&compared);
    write(path, &format!("{report:#}\n"))
}

pub(super) fn report(comparison: &Comparison, parameters: &Parameters) -> Result<Value, Failure> {
    to_json(comparison, parameters).map_err(|error| Failure::Failed(error.to_string()))
}

impl From<NeverEnds> for Failure {
    fn from(error: NeverEnds) -> Self {
        Failure::Failed(error.to_string())
    }
}

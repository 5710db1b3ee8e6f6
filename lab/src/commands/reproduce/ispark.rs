//! `elastane-lab reproduce ispark`: iterative applications that give up executors.

use std::io::Write;

use elastane_cli::failure::Failure;
use elastane_cli::run_options::RunOptions;
use elastane_lab::ispark::{Comparison, Parameters, compare, to_json};
use serde_json::Value;

use super::super::failed;
use super::figures::{figures_json, write_figures};
use super::refuse_changes;

pub(super) fn run(run: &RunOptions, seeds: u32, output: &mut impl Write) -> Result<Value, Failure> {
    refuse_changes(
        run,
        "ispark is simulated iteration by iteration, by a model of its own",
    )?;
    let parameters = Parameters::default();
    let comparison = compare(&parameters, &run.seeds(seeds)).map_err(failed)?;
    let compared = comparison.compared();
    writeln!(output, "iSpark, IEEE BigData 2019\n")?;
    writeln!(output, "{comparison}")?;
    write_figures(output, &compared)?;
    let mut report = report(&comparison, &parameters)?;
    report["claims"] = figures_json(&compared);
    Ok(report)
}

pub(super) fn report(comparison: &Comparison, parameters: &Parameters) -> Result<Value, Failure> {
    to_json(comparison, parameters).map_err(failed)
}

//! `elastane-lab reproduce ursa`: Ursa's monotasks.

use std::io::Write;

use elastane_cli::bar::bar;
use elastane_cli::failure::Failure;
use elastane_cli::run_options::RunOptions;
use elastane_lab::monotasks::{Parameters, Reproduction, reproduce};
use serde_json::{Value, json};

use super::super::failed;
use super::refuse_changes;

/// The paper's main comparison, which comes first in the JSON.
const MAIN_TABLE: &str = "table-4";

pub(super) fn run(run: &RunOptions, seeds: u32, output: &mut impl Write) -> Result<Value, Failure> {
    refuse_changes(run, "ursa is simulated at the grain of its monotasks, by a model of its own")?;
    let seeds = run.seeds(seeds);
    let bar = bar("runs");
    let progress = |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    };
    let compared = reproduce(&Parameters::default(), &seeds, run.threads(), &progress);
    bar.finish_and_clear();
    let compared = compared.map_err(failed)?;
    write!(output, "{compared}")?;
    to_json(&compared)
}

/// The main table, with the others under `others`.
fn to_json(compared: &Reproduction) -> Result<Value, Failure> {
    let tables = compared.tables.iter();
    let (main, others): (Vec<_>, Vec<_>) = tables.partition(|table| table.name == MAIN_TABLE);
    let mut report = serde_json::to_value(main.first())?;
    report["seeds"] = json!(compared.seeds);
    report["others"] = serde_json::to_value(others)?;
    Ok(report)
}

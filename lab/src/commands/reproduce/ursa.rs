//! `elastane-lab reproduce ursa`: Ursa's monotasks.

use std::io::Write;

use elastane_cli::bar::bar;
use elastane_cli::failure::Failure;
use elastane_cli::run_options::RunOptions;
use elastane_lab::monotasks::{Parameters, Reproduction, reproduce};
use serde_json::Value;

use super::super::failed;
use super::refuse_changes;

/// The paper's main comparison, which comes first in the JSON.
const MAIN_TABLE: &str = "table-4";

pub(super) fn run(run: &RunOptions, seeds: u32, output: &mut impl Write) -> Result<Value, Failure> {
    refuse_changes(
        run,
        "ursa is simulated at the grain of its monotasks, by a model of its own",
    )?;
    let seeds = run.seeds(seeds);
    let bar = bar("runs");
    let compared = reproduce(
        &Parameters::default(),
        &seeds,
        run.threads(),
        &|done, all| {
            bar.set_length(all);
            bar.set_position(done);
        },
    );
    bar.finish_and_clear();
    let compared = compared.map_err(failed)?;
    write!(output, "{compared}")?;
    to_json(&compared)
}

/// The main table, with the others under `others`.
fn to_json(compared: &Reproduction) -> Result<Value, Failure> {
    let is_main = |table: &&elastane_lab::monotasks::Table| table.name == MAIN_TABLE;
    let main = compared.tables.iter().find(is_main);
    let mut report = serde_json::to_value(main).map_err(failed)?;
    let others: Vec<_> = compared
        .tables
        .iter()
        .filter(|table| table.name != MAIN_TABLE)
        .collect();
    report["seeds"] = serde_json::to_value(&compared.seeds).map_err(failed)?;
    report["others"] = serde_json::to_value(others).map_err(failed)?;
    Ok(report)
}

//! `elastane reproduce ursa`: at the grain of Ursa's monotasks.

use std::io::Write;
use std::path::Path;

use elastane_sim::monotasks::{MonotaskError, Parameters, Reproduction, reproduce};
use serde_json::Value;

use crate::failure::Failure;
use crate::simulation::{RunOptions, bar, write};

/// The table whose systems and workload are the paper's main comparison; it comes first in the JSON.
const MAIN_TABLE: &str = "table-4";

pub(crate) fn run(
    run: &RunOptions,
    seeds: u32,
    json: Option<&Path>,
    output: &mut impl Write,
) -> Result<(), Failure> {
    run.refuse_changes("ursa is simulated at the grain of its monotasks, by a model of its own")?;
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
    let compared = compared?;
    write!(output, "{compared}")?;
    match json {
        Some(path) => write(path, &format!("{:#}\n", to_json(&compared)?)),
        None => Ok(()),
    }
}

/// The main table, with the others beside it.
fn to_json(compared: &Reproduction) -> Result<Value, Failure> {
    let failed = |error: serde_json::Error| Failure::Failed(error.to_string());
    let is_main = |table: &&elastane_sim::monotasks::Table| table.name == MAIN_TABLE;
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

impl From<MonotaskError> for Failure {
    fn from(error: MonotaskError) -> Self {
        Failure::Failed(error.to_string())
    }
}

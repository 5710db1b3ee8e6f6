//! `elastane-lab reproduce ispark`: iterative applications that give up executors.

use std::io::Write;

use elastane_cli::failure::Failure;
use elastane_cli::run_options::RunOptions;
use elastane_lab::ispark::{IsparkComparison, IsparkOutcome, IsparkParameters, compare};
use elastane_sim::summary::{deviation, mean};
use serde_json::{Map, Value, json};

use super::super::failed;
use super::figures::{figures_json, write_figures};
use super::refuse_changes;

/// A column of means: heading, width, decimals and the value of a run.
type Column = (&'static str, usize, usize, fn(&IsparkOutcome) -> f64);

const COLUMNS: [Column; 8] = [
    ("mean s", 9, 0, IsparkOutcome::mean_completion_s),
    ("median s", 9, 0, IsparkOutcome::median_completion_s),
    ("cluster", 8, 1, |one| 100.0 * one.cluster_utilization()),
    ("cpu", 7, 1, |one| 100.0 * one.utilization.cpu_cores),
    ("memory", 6, 1, |one| 100.0 * one.utilization.memory_bytes),
    ("executors", 9, 1, |one| 100.0 * one.executor_utilization),
    ("handed over", 12, 0, |one| one.counts.handed_over as f64),
    ("given back", 10, 0, |one| one.counts.given_back as f64),
];

pub(super) fn run(run: &RunOptions, seeds: u32, output: &mut impl Write) -> Result<Value, Failure> {
    refuse_changes(run, "ispark is simulated iteration by iteration, by a model of its own")?;
    let parameters = IsparkParameters::default();
    let comparison = compare(&parameters, &run.seeds(seeds)).map_err(failed)?;
    let compared = comparison.compared();
    writeln!(output, "iSpark, IEEE BigData 2019\n")?;
    write_table(output, &comparison)?;
    writeln!(output)?;
    write_figures(output, &compared)?;
    let mut report = to_json(&comparison, &parameters);
    report["claims"] = figures_json(&compared);
    Ok(report)
}

fn write_table(output: &mut impl Write, comparison: &IsparkComparison) -> Result<(), Failure> {
    let bound_s = mean(&comparison.lower_bound_s);
    let seeds = comparison.seeds.len();
    writeln!(output, "iterative: lower bound {bound_s:.0} s, means over {seeds} seeds\n")?;
    write!(output, "{:<10} {:>10} {:>8}", "allocation", "makespan s", "± s")?;
    for (heading, width, ..) in COLUMNS {
        write!(output, " {heading:>width$}")?;
    }
    writeln!(output)?;
    for (allocation, outcomes) in &comparison.outcomes {
        let each =
            |value: fn(&IsparkOutcome) -> f64| outcomes.iter().map(value).collect::<Vec<_>>();
        let makespans_s = each(|one| one.makespan_s);
        let (makespan_s, deviation_s) = (mean(&makespans_s), deviation(&makespans_s));
        let name = allocation.name();
        write!(output, "{name:<10} {makespan_s:>10.0} {deviation_s:>8.0}")?;
        for (_, width, decimals, value) in COLUMNS {
            write!(output, " {:>width$.decimals$}", mean(&each(value)))?;
        }
        writeln!(output)?;
    }
    Ok(())
}

/// The format of the other comparisons' reports, with the utilization of executors beside the
/// cluster's.
pub(super) fn to_json(comparison: &IsparkComparison, parameters: &IsparkParameters) -> Value {
    let policies = comparison.outcomes.iter().map(|(allocation, outcomes)| {
        let each =
            |value: fn(&IsparkOutcome) -> f64| outcomes.iter().map(value).collect::<Vec<_>>();
        let policy = json!({
            "makespan_s": each(|one| one.makespan_s),
            "mean_completion_s": each(IsparkOutcome::mean_completion_s),
            "median_completion_s": each(IsparkOutcome::median_completion_s),
            "utilization": {
                "cpu": each(|one| one.utilization.cpu_cores),
                "memory": each(|one| one.utilization.memory_bytes),
            },
            "executor_utilization": each(|one| one.executor_utilization),
            "counts": outcomes.iter().map(|one| one.counts).collect::<Vec<_>>(),
        });
        (allocation.name().to_owned(), policy)
    });
    json!({
        "workload": "iterative",
        "seeds": comparison.seeds,
        "parameters": parameters,
        "policies": policies.collect::<Map<_, _>>(),
        "lower_bound_s": comparison.lower_bound_s,
    })
}

//! As JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use super::comparison::Comparison;
use super::outcome::{Counts, Outcome};
use super::parameters::Parameters;

#[derive(Serialize)]
struct Report<'a> {
    workload: &'static str,
    seeds: &'a [u64],
    parameters: &'a Parameters,
    policies: BTreeMap<&'static str, Policy>,
    lower_bound_s: &'a [f64],
}

#[derive(Serialize)]
struct Policy {
    makespan_s: Vec<f64>,
    mean_completion_s: Vec<f64>,
    median_completion_s: Vec<f64>,
    utilization: BTreeMap<&'static str, Vec<f64>>,
    executor_utilization: Vec<f64>,
    counts: Vec<Counts>,
}

/// The format of the other comparisons' reports, with the utilization of executors beside the
/// cluster's.
///
/// # Errors
/// A figure is not a number.
pub fn to_json(
    comparison: &Comparison,
    parameters: &Parameters,
) -> Result<serde_json::Value, serde_json::Error> {
    let policies = comparison.outcomes.iter();
    serde_json::to_value(Report {
        workload: "iterative",
        seeds: &comparison.seeds,
        parameters,
        policies: policies
            .map(|(allocation, outcomes)| (allocation.name(), policy(outcomes)))
            .collect(),
        lower_bound_s: &comparison.lower_bound_s,
    })
}

fn policy(outcomes: &[Outcome]) -> Policy {
    let each = |value: fn(&Outcome) -> f64| outcomes.iter().map(value).collect::<Vec<_>>();
    Policy {
        makespan_s: each(|one| one.makespan_s),
        mean_completion_s: each(Outcome::mean_completion_s),
        median_completion_s: each(Outcome::median_completion_s),
        utilization: BTreeMap::from([
            ("cpu", each(|one| one.utilization.cpu_cores)),
            ("memory", each(|one| one.utilization.memory_bytes)),
        ]),
        executor_utilization: each(|one| one.executor_utilization),
        counts: outcomes.iter().map(|one| one.counts).collect(),
    }
}

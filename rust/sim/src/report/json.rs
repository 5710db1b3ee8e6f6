//! As JSON.

use std::collections::BTreeMap;

use elastane_core::{Resource, Resources};
use serde::Serialize;

use crate::experiment::{Comparison, PolicyOutcomes};
use crate::simulator::{Contention, Corrections, Counts, LEVELS, LowerBound, Outcome};

#[derive(Serialize)]
struct Report<'a> {
    workload: &'a str,
    seeds: &'a [u64],
    contention: Contention,
    policies: BTreeMap<&'a str, Policy>,
    lower_bound_s: Vec<f64>,
    lower_bound: &'a [LowerBound],
}

#[derive(Serialize)]
struct Policy {
    makespan_s: Vec<f64>,
    mean_completion_s: Vec<f64>,
    median_completion_s: Vec<f64>,
    utilization: PerResource<Vec<f64>>,
    time_above: BTreeMap<String, PerResource<Vec<f64>>>,
    over_lower_bound: Vec<f64>,
    counts: Vec<Counts>,
    corrections: Vec<Corrections>,
}

type PerResource<T> = BTreeMap<&'static str, T>;

/// The JSON that `docs/simulator.md` describes.
///
/// # Errors
/// A figure is not a number.
pub fn to_json(
    comparison: &Comparison,
    contention: Contention,
) -> Result<serde_json::Value, serde_json::Error> {
    let policies = comparison.policies.iter();
    let bounds = comparison.bounds.iter();
    let lower_bound_s: Vec<f64> = bounds.map(LowerBound::seconds).collect();
    serde_json::to_value(Report {
        workload: &comparison.workload,
        seeds: &comparison.seeds,
        contention,
        policies: policies
            .map(|policy| (policy.policy.as_str(), summary(policy, &lower_bound_s)))
            .collect(),
        lower_bound: &comparison.bounds,
        lower_bound_s,
    })
}

fn summary(policy: &PolicyOutcomes, lower_bound_s: &[f64]) -> Policy {
    let each = |value: fn(&Outcome) -> f64| policy.outcomes.iter().map(value).collect();
    let utilization = |outcome: &Outcome| outcome.utilization;
    let above = LEVELS.iter().enumerate().map(|(level, part)| {
        let at_level = move |outcome: &Outcome| {
            Resources::from_array(outcome.time_above.map(|levels| levels[level]))
        };
        (format!("{part}"), per_resource(policy, at_level))
    });
    let outcomes = policy.outcomes.iter();
    Policy {
        makespan_s: each(|outcome| outcome.makespan_s),
        mean_completion_s: each(Outcome::mean_completion_s),
        median_completion_s: each(Outcome::median_completion_s),
        utilization: per_resource(policy, utilization),
        time_above: above.collect(),
        over_lower_bound: outcomes
            .zip(lower_bound_s)
            .map(|(outcome, bound_s)| outcome.makespan_s / bound_s)
            .collect(),
        counts: policy.outcomes.iter().map(|one| one.counts).collect(),
        corrections: policy.outcomes.iter().map(|one| one.corrections).collect(),
    }
}

fn per_resource(
    policy: &PolicyOutcomes,
    value: impl Fn(&Outcome) -> Resources,
) -> PerResource<Vec<f64>> {
    let of = |resource| {
        let outcomes = policy.outcomes.iter();
        outcomes.map(|outcome| value(outcome).get(resource)).collect()
    };
    Resource::ALL.into_iter().map(|resource| (resource.name(), of(resource))).collect()
}

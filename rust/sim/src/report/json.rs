//! As JSON.

use std::collections::BTreeMap;

use elastane_core::{Resource, Resources};
use serde_json::{Value, json};

use crate::experiment::{Comparison, PolicyOutcomes};
use crate::simulator::{Contention, LEVELS, LowerBound, SimulatedRun};

/// The JSON that `docs/simulator.md` describes.
pub fn to_json(comparison: &Comparison, contention: Contention) -> Value {
    let bounds = comparison.bounds.iter();
    let lower_bound_s: Vec<f64> = bounds.map(LowerBound::seconds).collect();
    let policies = comparison.policies.iter();
    let policies: BTreeMap<&str, Value> =
        policies.map(|policy| (policy.policy.as_str(), summary(policy, &lower_bound_s))).collect();
    json!({
        "workload": comparison.workload,
        "seeds": comparison.seeds,
        "contention": contention,
        "policies": policies,
        "lower_bound_s": lower_bound_s,
        "lower_bound": comparison.bounds,
    })
}

fn summary(policy: &PolicyOutcomes, lower_bound_s: &[f64]) -> Value {
    let each = |value: fn(&SimulatedRun) -> f64| -> Vec<f64> {
        policy.outcomes.iter().map(value).collect()
    };
    let above = LEVELS.iter().enumerate().map(|(level, part)| {
        let at_level = |outcome: &SimulatedRun| {
            Resources::from_array(outcome.time_above.map(|levels| levels[level]))
        };
        (part.to_string(), per_resource(policy, at_level))
    });
    let over_lower_bound = policy.outcomes.iter().zip(lower_bound_s);
    let over_lower_bound: Vec<f64> =
        over_lower_bound.map(|(outcome, bound_s)| outcome.makespan_s / bound_s).collect();
    json!({
        "makespan_s": each(|outcome| outcome.makespan_s),
        "mean_completion_s": each(SimulatedRun::mean_completion_s),
        "median_completion_s": each(SimulatedRun::median_completion_s),
        "p95_completion_s": each(SimulatedRun::p95_completion_s),
        "utilization": per_resource(policy, |outcome| outcome.utilization),
        "time_above": above.collect::<BTreeMap<_, _>>(),
        "over_lower_bound": over_lower_bound,
        "missed_deadlines": policy.outcomes.iter().map(SimulatedRun::missed_deadlines).collect::<Vec<_>>(),
        "counts": policy.outcomes.iter().map(|one| one.counts).collect::<Vec<_>>(),
        "applications": policy.outcomes.iter().map(|one| &one.applications).collect::<Vec<_>>(),
    })
}

fn per_resource(
    policy: &PolicyOutcomes,
    value: impl Fn(&SimulatedRun) -> Resources,
) -> BTreeMap<&'static str, Vec<f64>> {
    let of = |resource| {
        let outcomes = policy.outcomes.iter();
        outcomes.map(|outcome| value(outcome).get(resource)).collect()
    };
    Resource::ALL.into_iter().map(|resource| (resource.name(), of(resource))).collect()
}

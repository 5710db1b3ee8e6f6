//! The placements that a policy would make, heartbeat by heartbeat, and their reasons.

mod applications;
mod on_node;
mod planned_starts;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use elastane_core::fit::Excess;
use elastane_core::policy::{self, Place, Policy};
use serde::Serialize;

use self::applications::ScenarioApplications;
use self::on_node::OnNode;
use self::planned_starts::PlannedStarts;
use crate::scenario::{Pending, Scenario};

/// Scores that differ by less than this fraction are a tie.
const TIE: f64 = 1e-9;

/// Options of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Options {
    /// Safety margin that the fit adds to each demand, as a fraction. Scores ignore it.
    pub margin: f64,
    /// Place until nothing fits, instead of one executor per node.
    pub all: bool,
}

/// The policy's decisions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// The policy's name.
    pub policy: &'static str,
    /// In the order of the decisions.
    pub heartbeats: Vec<Heartbeat>,
}

/// One decision on one node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Heartbeat {
    /// The node.
    pub node: String,
    /// The moment, in milliseconds.
    pub now_ms: i64,
    /// The placed executor; None if none fits.
    pub placed: Option<String>,
    /// The waiting executors, in the order of the scenario.
    pub candidates: Vec<WhatIfCandidate>,
}

/// A waiting executor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WhatIfCandidate {
    /// The executor.
    pub executor: String,
    /// Whether the executor fits the node by the policy.
    pub fits: bool,
    /// The policy's score, if the executor fits. The policy defines whether the smallest or the largest
    /// wins.
    pub score: Option<f64>,
    /// The terms of the score, if the executor fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<WhatIfDetail>,
    /// The application whose planned start it would delay, if the executor fits but waits for that reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<String>,
    /// The reason if the executor does not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The terms of a score; docs/policies.md describes them for each policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WhatIfDetail {
    /// Milliseconds.
    #[serde(flatten)]
    pub times_ms: BTreeMap<&'static str, i64>,
    /// Single numbers.
    #[serde(flatten)]
    pub numbers: BTreeMap<&'static str, f64>,
    /// One number per resource; resources of capacity 0 are left out.
    #[serde(flatten)]
    pub per_resource: BTreeMap<&'static str, BTreeMap<&'static str, f64>>,
}

/// Answers a scenario: each node in turn has one heartbeat, or with [`Options::all`] heartbeats until
/// nothing fits or nothing waits.
pub fn what_if(scenario: &Scenario, policy: &dyn Policy, options: Options) -> Answer {
    let mut applications = ScenarioApplications::new(scenario);
    let mut waiting: Vec<&Pending> = scenario.pending.iter().collect();
    let mut heartbeats = Vec::new();
    let mut nodes: Vec<_> = scenario.nodes.iter().map(|on| OnNode::new(on, scenario)).collect();
    for (index, on) in scenario.nodes.iter().enumerate() {
        loop {
            let node = &nodes[index];
            let rates = node.rates();
            let place = Place {
                node: &node.node,
                available: &node.node.available(scenario.now_ms),
                booked: node.booked,
                now_ms: scenario.now_ms,
                rates: rates.as_ref(),
            };
            let judged: Vec<FitAndScore> = waiting
                .iter()
                .map(|executor| {
                    let waiting = applications.waiting(executor);
                    judge(&place, executor, waiting, policy, options.margin)
                })
                .collect();
            let planned = policy.by_plan().filter(|by| by.plans_starts()).map(|by| {
                let all = nodes.iter().map(|node| &node.node);
                PlannedStarts::new(by, all, index, &waiting, options.margin, scenario.now_ms)
            });
            let allows = |executor: &Pending| {
                let planned = planned.as_ref();
                planned.is_none_or(|planned| planned.allows(&executor.application))
            };
            let placed = best(&waiting, &judged, allows).map(|best| waiting[best]);
            let candidates = waiting.iter().zip(judged);
            heartbeats.push(Heartbeat {
                node: on.id.clone(),
                now_ms: scenario.now_ms,
                placed: placed.map(|executor| executor.id.clone()),
                candidates: candidates
                    .map(|(executor, judged)| {
                        let candidate = candidate(executor, judged, policy);
                        let planned = planned.as_ref().filter(|_| candidate.fits);
                        let behind = planned.and_then(|it| it.behind(&executor.application));
                        WhatIfCandidate { behind: behind.map(str::to_owned), ..candidate }
                    })
                    .collect(),
            });
            let Some(placed) = placed else { break };
            waiting.retain(|executor| executor.id != placed.id);
            nodes[index].place(placed);
            applications.placed(placed);
            if !options.all || waiting.is_empty() {
                break;
            }
        }
    }
    Answer { policy: policy.name(), heartbeats }
}

type FitAndScore = Result<(f64, policy::Detail), Excess>;

fn judge(
    place: &Place<'_>,
    executor: &Pending,
    waiting: policy::Waiting,
    policy: &dyn Policy,
    margin: f64,
) -> FitAndScore {
    let candidate = policy::Candidate {
        demand: &executor.demand,
        needed: &executor.demand.with_margin(margin),
        request: executor.request,
        waiting,
    };
    policy.fits(place, &candidate)?;
    let score = policy.score(place, &candidate);
    Ok((score, policy.detail(place, &candidate)))
}

fn candidate(executor: &Pending, judged: FitAndScore, policy: &dyn Policy) -> WhatIfCandidate {
    let shown = |score: f64| if policy.highest_wins() { 0.0 - score } else { score };
    WhatIfCandidate {
        executor: executor.id.clone(),
        fits: judged.is_ok(),
        score: judged.as_ref().ok().map(|(score, _)| shown(*score)),
        behind: None,
        reason: judged.as_ref().err().map(Excess::to_string),
        detail: judged.ok().map(|(_, detail)| WhatIfDetail {
            times_ms: detail.times_ms,
            numbers: detail.numbers,
            per_resource: detail.per_resource,
        }),
    }
}

/// The allowed executor with the smallest score; ties go to the longest queued, then to the smaller id.
fn best(
    waiting: &[&Pending],
    judged: &[FitAndScore],
    allows: impl Fn(&Pending) -> bool,
) -> Option<usize> {
    let scores = || {
        let judged = judged.iter().enumerate();
        let judged = judged.filter(|(at, _)| allows(waiting[*at]));
        judged.filter_map(|(at, judged)| Some((at, judged.as_ref().ok()?.0)))
    };
    let (_, smallest) = scores().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let ties = scores().filter(|(_, score)| score - smallest <= TIE * score.abs());
    let queued_then_id =
        |a: &Pending, b: &Pending| -> Ordering { (a.queued_ms, &a.id).cmp(&(b.queued_ms, &b.id)) };
    ties.map(|(at, _)| at).min_by(|a, b| queued_then_id(waiting[*a], waiting[*b]))
}

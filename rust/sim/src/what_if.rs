//! What a policy would place, heartbeat by heartbeat, and why.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use elastane_core::fit::{Excess, fit};
use elastane_core::node::{ExecutorId, Node};
use elastane_core::policy::{Policy, Score};
use elastane_core::{Available, Resource, Running};
use serde::Serialize;

use crate::scenario::{Pending, Scenario, ScenarioNode};

/// Scores that differ by less than this fraction are a tie.
const TIE: f64 = 1e-9;

/// How a scenario is answered.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Options {
    /// What the fit adds to a demand, as a fraction. Scores know no margin.
    pub margin: f64,
    /// Until nothing fits, instead of one decision for each node.
    pub all: bool,
}

/// What the policy did.
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
    /// The executor that was placed; none when none fits.
    pub placed: Option<String>,
    /// Every executor that waited, in the order of the scenario.
    pub candidates: Vec<Candidate>,
}

/// One executor that waited.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// The executor.
    pub executor: String,
    /// Whether it fits the node for all of its life.
    pub fits: bool,
    /// The policy's score where it fits.
    pub score: Option<f64>,
    /// What the score was made from, where it fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// Why it does not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What MinFrag's score was made from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Detail {
    /// Up to when it looked, in milliseconds from now.
    pub horizon_ms: i64,
    /// What remains up to then over the capacity; a resource of capacity 0 is left out.
    pub remaining_share: BTreeMap<&'static str, f64>,
}

/// Answers a scenario: each node in turn gets one heartbeat, or with [`Options::all`] heartbeats
/// until nothing fits it or nothing waits.
#[must_use]
pub fn what_if(scenario: &Scenario, policy: &dyn Policy, options: Options) -> Answer {
    let mut waiting: Vec<&Pending> = scenario.pending.iter().collect();
    let mut heartbeats = Vec::new();
    for place in &scenario.nodes {
        let mut node = node(place);
        loop {
            let available = node.available(scenario.now_ms);
            let (candidates, best) = decide(&available, &waiting, policy, options.margin);
            let placed = best.map(|best| waiting.remove(best));
            heartbeats.push(Heartbeat {
                node: place.id.clone(),
                now_ms: scenario.now_ms,
                placed: placed.map(|executor| executor.id.clone()),
                candidates,
            });
            let Some(executor) = placed else { break };
            let running = Running::new(scenario.now_ms, executor.demand.clone());
            node.insert(ExecutorId(node.running_count() as u64), running);
            if !options.all || waiting.is_empty() {
                break;
            }
        }
    }
    Answer {
        policy: policy.name(),
        heartbeats,
    }
}

fn node(place: &ScenarioNode) -> Node {
    let mut node = Node::new(place.capacity);
    for (number, (start_ms, demand)) in place.running.iter().enumerate() {
        let running = Running::new(*start_ms, demand.clone());
        node.insert(ExecutorId(number as u64), running);
    }
    node
}

/// Each candidate judged, and which one is placed.
fn decide(
    available: &Available,
    waiting: &[&Pending],
    policy: &dyn Policy,
    margin: f64,
) -> (Vec<Candidate>, Option<usize>) {
    let judged: Vec<Result<Score, Excess>> = waiting
        .iter()
        .map(|executor| {
            fit(available, &executor.demand, margin)?;
            Ok(policy.score(available, &executor.demand))
        })
        .collect();
    let candidates = waiting
        .iter()
        .zip(&judged)
        .map(|(executor, judged)| Candidate {
            executor: executor.id.clone(),
            fits: judged.is_ok(),
            score: judged.as_ref().ok().map(|score| score.value),
            detail: judged.as_ref().ok().map(|score| detail(score, available)),
            reason: judged.as_ref().err().map(Excess::to_string),
        });
    (candidates.collect(), best(waiting, &judged))
}

/// The smallest score; among those that tie with it, the one queued longest, then the smaller id.
fn best(waiting: &[&Pending], judged: &[Result<Score, Excess>]) -> Option<usize> {
    let scores = || {
        let judged = judged.iter().enumerate();
        judged.filter_map(|(at, judged)| Some((at, judged.as_ref().ok()?.value)))
    };
    let (_, smallest) = scores().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let ties = scores().filter(|(_, score)| score - smallest <= TIE * score.abs());
    let queued_then_id =
        |a: &Pending, b: &Pending| -> Ordering { (a.queued_ms, &a.id).cmp(&(b.queued_ms, &b.id)) };
    ties.map(|(at, _)| at)
        .min_by(|a, b| queued_then_id(waiting[*a], waiting[*b]))
}

fn detail(score: &Score, available: &Available) -> Detail {
    let capacity = available.capacity();
    Detail {
        horizon_ms: score.horizon_ms,
        remaining_share: Resource::ALL
            .into_iter()
            .zip(score.remaining_share)
            .filter(|(resource, _)| capacity.get(*resource) > 0.0)
            .map(|(resource, share)| (resource.name(), share))
            .collect(),
    }
}

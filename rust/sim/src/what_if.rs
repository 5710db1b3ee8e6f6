//! What a policy would place, heartbeat by heartbeat, and why.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use elastane_core::fit::Excess;
use elastane_core::node::{ExecutorId, Node};
use elastane_core::policy::{self, Place, Policy, Waiting};
use elastane_core::{Resources, Running};
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

/// What a score was made from; docs/command.md has each policy's parts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Detail {
    /// Milliseconds.
    #[serde(flatten)]
    pub times_ms: BTreeMap<&'static str, i64>,
    /// Single numbers.
    #[serde(flatten)]
    pub numbers: BTreeMap<&'static str, f64>,
    /// One number a resource; a resource of capacity 0 is left out.
    #[serde(flatten)]
    pub per_resource: BTreeMap<&'static str, BTreeMap<&'static str, f64>>,
}

/// Answers a scenario: each node in turn gets one heartbeat, or with [`Options::all`] heartbeats
/// until nothing fits it or nothing waits.
#[must_use]
pub fn what_if(scenario: &Scenario, policy: &dyn Policy, options: Options) -> Answer {
    let mut waiting: Vec<&Pending> = scenario.pending.iter().collect();
    let mut heartbeats = Vec::new();
    for on in &scenario.nodes {
        let mut node = node(on);
        let mut booked = on
            .running
            .iter()
            .fold(Resources::ZERO, |sum, running| sum + running.request);
        loop {
            let place = Place {
                node: &node,
                available: &node.available(scenario.now_ms),
                booked,
                now_ms: scenario.now_ms,
                rates: None,
            };
            let (candidates, best) = decide(&place, &waiting, policy, options.margin);
            let placed = best.map(|best| waiting.remove(best));
            heartbeats.push(Heartbeat {
                node: on.id.clone(),
                now_ms: scenario.now_ms,
                placed: placed.map(|executor| executor.id.clone()),
                candidates,
            });
            let Some(executor) = placed else { break };
            let running = Running::new(scenario.now_ms, executor.demand.clone());
            node.insert(ExecutorId(node.running_count() as u64), running);
            booked += executor.request;
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

fn node(on: &ScenarioNode) -> Node {
    let mut node = Node::new(on.capacity);
    for (number, running) in on.running.iter().enumerate() {
        let running = Running::new(running.start_ms, running.demand.clone());
        node.insert(ExecutorId(number as u64), running);
    }
    node
}

/// Each candidate judged, and which one is placed.
fn decide(
    place: &Place<'_>,
    waiting: &[&Pending],
    policy: &dyn Policy,
    margin: f64,
) -> (Vec<Candidate>, Option<usize>) {
    let judged: Vec<Result<Judged, Excess>> = waiting
        .iter()
        .map(|executor| {
            let candidate = policy::Candidate {
                demand: &executor.demand,
                needed: &executor.demand.with_margin(margin),
                request: executor.request,
                waiting: Waiting {
                    submitted_ms: executor.queued_ms,
                    queued_ms: executor.queued_ms,
                    executors: 1,
                    whole: true,
                    ..Waiting::default()
                },
            };
            policy.fits(place, &candidate)?;
            let policy::Detail {
                times_ms,
                numbers,
                per_resource,
            } = policy.detail(place, &candidate);
            Ok(Judged {
                score: policy.score(place, &candidate),
                detail: Detail {
                    times_ms,
                    numbers,
                    per_resource,
                },
            })
        })
        .collect();
    let best = best(waiting, &judged);
    let candidates = waiting
        .iter()
        .zip(judged)
        .map(|(executor, judged)| {
            let executor = executor.id.clone();
            match judged {
                Ok(judged) => Candidate {
                    executor,
                    fits: true,
                    score: Some(judged.score),
                    detail: Some(judged.detail),
                    reason: None,
                },
                Err(excess) => Candidate {
                    executor,
                    fits: false,
                    score: None,
                    detail: None,
                    reason: Some(excess.to_string()),
                },
            }
        })
        .collect();
    (candidates, best)
}

struct Judged {
    score: f64,
    detail: Detail,
}

/// The smallest score; among those that tie with it, the one queued longest, then the smaller id.
fn best(waiting: &[&Pending], judged: &[Result<Judged, Excess>]) -> Option<usize> {
    let scores = || {
        let judged = judged.iter().enumerate();
        judged.filter_map(|(at, judged)| Some((at, judged.as_ref().ok()?.score)))
    };
    let (_, smallest) = scores().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let ties = scores().filter(|(_, score)| score - smallest <= TIE * score.abs());
    let queued_then_id =
        |a: &Pending, b: &Pending| -> Ordering { (a.queued_ms, &a.id).cmp(&(b.queued_ms, &b.id)) };
    ties.map(|(at, _)| at)
        .min_by(|a, b| queued_then_id(waiting[*a], waiting[*b]))
}

//! Scenarios in JSON.

mod ursa;

use std::collections::HashSet;

use elastane_core::{Demand, Resources};
use serde::Deserialize;

pub use self::ursa::{Assigned, UrsaBlock};
use self::ursa::{UrsaText, read_ursa};
use crate::input::{InputError, amounts, from_json, per_resource, series, wrong};

/// Nodes, running executors and waiting executors at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The time, in milliseconds.
    pub now_ms: i64,
    /// In the order of the file.
    pub nodes: Vec<ScenarioNode>,
    /// In the order of the file.
    pub pending: Vec<Pending>,
    /// Measurements for Ursa; other policies ignore them.
    pub ursa: Option<UrsaBlock>,
}

/// A node.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenarioNode {
    /// Its name.
    pub id: String,
    /// The physical size; resources of capacity 0 are ignored.
    pub capacity: Resources,
    /// The running executors.
    pub running: Vec<RunningExecutor>,
}

/// A running executor.
#[derive(Debug, Clone, PartialEq)]
pub struct RunningExecutor {
    /// The application.
    pub application: String,
    /// The start, in milliseconds.
    pub start_ms: i64,
    /// The request: CPU and memory.
    pub request: Resources,
    /// The demand from the start on.
    pub demand: Demand,
}

/// A waiting executor.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    /// Its name.
    pub id: String,
    /// The application.
    pub application: String,
    /// The start of the wait, in milliseconds.
    pub queued_ms: i64,
    /// The request: CPU and memory.
    pub request: Resources,
    /// The demand from the start on.
    pub demand: Demand,
}

#[derive(Deserialize)]
struct ScenarioText {
    now_ms: i64,
    slot_ms: u32,
    nodes: Vec<NodeText>,
    pending: Vec<PendingText>,
    ursa: Option<UrsaText>,
}

#[derive(Deserialize)]
struct NodeText {
    id: String,
    capacity: PerResource<f64>,
    running: Vec<RunningText>,
}

#[derive(Deserialize)]
struct RunningText {
    #[serde(rename = "id")]
    _id: String,
    application: String,
    start_ms: i64,
    request: RequestText,
    demand: PerResource<Vec<f64>>,
}

#[derive(Deserialize)]
struct PendingText {
    id: String,
    application: String,
    queued_ms: i64,
    request: RequestText,
    demand: PerResource<Vec<f64>>,
}

#[derive(Deserialize)]
struct RequestText {
    cpu_cores: f64,
    memory_bytes: f64,
}

per_resource!();

impl Scenario {
    /// Reads a scenario. Unknown keys are ignored.
    ///
    /// # Errors
    /// The first error, with its place.
    pub fn from_json(json: &str) -> Result<Self, InputError> {
        let text: ScenarioText = from_json(json)?;
        if text.slot_ms == 0 {
            return Err(wrong("slot_ms", "0, at least 1 is allowed"));
        }
        distinct("nodes", text.nodes.iter().map(|node| &node.id))?;
        distinct("pending", text.pending.iter().map(|pending| &pending.id))?;
        let nodes = text.nodes.iter().enumerate();
        let pending = text.pending.iter().enumerate();
        Ok(Self {
            now_ms: text.now_ms,
            nodes: nodes
                .map(|(at, node)| read_node(&format!("nodes[{at}]"), node, &text))
                .collect::<Result<_, _>>()?,
            pending: pending
                .map(|(at, pending)| read_pending(&format!("pending[{at}]"), pending, &text))
                .collect::<Result<_, _>>()?,
            ursa: match &text.ursa {
                Some(ursa) => Some(read_ursa(ursa, &text.nodes)?),
                None => None,
            },
        })
    }
}

fn read_node(
    place: &str,
    node: &NodeText,
    scenario: &ScenarioText,
) -> Result<ScenarioNode, InputError> {
    let capacity = Resources::from_array(node.capacity.to_array().map(|amount| *amount));
    let capacity = amounts(&format!("{place}.capacity"), capacity)?;
    let running = node.running.iter().enumerate();
    Ok(ScenarioNode {
        id: node.id.clone(),
        capacity,
        running: running
            .map(|(at, running)| read_running(&format!("{place}.running[{at}]"), running, scenario))
            .collect::<Result<_, _>>()?,
    })
}

fn read_running(
    place: &str,
    running: &RunningText,
    scenario: &ScenarioText,
) -> Result<RunningExecutor, InputError> {
    let (now_ms, slot_ms) = (scenario.now_ms, scenario.slot_ms);
    let elapsed_ms = now_ms.checked_sub(running.start_ms);
    let is_allowed = elapsed_ms.is_some_and(|ms| ms >= 0 && ms % i64::from(slot_ms) == 0);
    if !is_allowed {
        let problem = format!(
            "{}, now_ms ({now_ms}) or whole slots of {slot_ms} ms before it are allowed",
            running.start_ms
        );
        return Err(wrong(format!("{place}.start_ms"), problem));
    }
    Ok(RunningExecutor {
        application: running.application.clone(),
        start_ms: running.start_ms,
        request: read_request(place, &running.request)?,
        demand: series(&format!("{place}.demand"), running.demand.to_array(), slot_ms)?,
    })
}

fn read_pending(
    place: &str,
    pending: &PendingText,
    scenario: &ScenarioText,
) -> Result<Pending, InputError> {
    Ok(Pending {
        id: pending.id.clone(),
        application: pending.application.clone(),
        queued_ms: pending.queued_ms,
        request: read_request(place, &pending.request)?,
        demand: series(&format!("{place}.demand"), pending.demand.to_array(), scenario.slot_ms)?,
    })
}

fn read_request(place: &str, request: &RequestText) -> Result<Resources, InputError> {
    let request = Resources {
        cpu_cores: request.cpu_cores,
        memory_bytes: request.memory_bytes,
        ..Resources::ZERO
    };
    amounts(&format!("{place}.request"), request)
}

/// Answers refer to ids, so each must be unique.
fn distinct<'a>(place: &str, ids: impl Iterator<Item = &'a String>) -> Result<(), InputError> {
    let mut seen = HashSet::new();
    for (at, id) in ids.enumerate() {
        if !seen.insert(id) {
            let problem = format!("{id:?} is there twice, each id once is allowed");
            return Err(wrong(format!("{place}[{at}].id"), problem));
        }
    }
    Ok(())
}

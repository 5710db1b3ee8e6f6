//! A workload in JSON, as `docs/simulator.md` describes it.

use elastane_core::cluster::Request;
use elastane_core::{Demand, Resources, SLOT_MS};
use serde::Deserialize;

use super::Workload;
use super::application::{ApplicationSpec, Errors};
use super::queue::QueueSpec;
use crate::input::{InputError, amounts, from_json, not_an_amount, per_resource, series, wrong};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    #[serde(default = "default_name")]
    name: String,
    #[serde(default = "default_heartbeat_ms")]
    heartbeat_ms: i64,
    #[serde(default)]
    queues: Vec<QueueText>,
    machines: Vec<MachinesText>,
    applications: Vec<ApplicationText>,
}

fn default_name() -> String {
    "scenario".to_owned()
}

fn default_heartbeat_ms() -> i64 {
    1_000
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueueText {
    path: String,
    capacity: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MachinesText {
    #[serde(default = "one")]
    count: u32,
    capacity: PerResource<f64>,
}

fn one() -> u32 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ApplicationText {
    name: String,
    queue: Option<String>,
    #[serde(default)]
    submitted_ms: i64,
    deadline_ms: Option<i64>,
    #[serde(default = "one")]
    executors: u32,
    request: VcoresText,
    actual: PerResource<Vec<f64>>,
    predicted: Option<PerResource<Vec<f64>>>,
    #[serde(default = "yes")]
    known: bool,
    #[serde(default)]
    slot_error: f64,
    #[serde(default)]
    length_error: f64,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VcoresText {
    vcores: u32,
    memory_bytes: u64,
}

per_resource!(#[serde(deny_unknown_fields)]);

/// Larger numbers are taken for typing errors.
const MOST_MACHINES: usize = 100_000;
const MOST_EXECUTORS: u32 = 1_000_000;

impl Workload {
    /// Reads a workload.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place.
    pub fn from_json(json: &str) -> Result<Self, InputError> {
        let text: FileText = from_json(json)?;
        if text.heartbeat_ms < 1 {
            let problem = format!("{}, at least 1 is allowed", text.heartbeat_ms);
            return Err(wrong("heartbeat_ms", problem));
        }
        let queues = read_queues(&text.queues)?;
        let applications = text.applications.iter().enumerate();
        let workload = Self {
            name: text.name.clone(),
            machines: read_machines(&text.machines)?,
            heartbeat_ms: text.heartbeat_ms,
            applications: applications
                .map(|(at, one)| read_application(&format!("applications[{at}]"), one, &queues))
                .collect::<Result<_, _>>()?,
            queues,
            masters: Vec::new(),
        };
        Ok(workload.sorted())
    }
}

fn read_queues(queues: &[QueueText]) -> Result<Vec<QueueSpec>, InputError> {
    let mut all: Vec<QueueSpec> = Vec::new();
    for (at, QueueText { path, capacity }) in queues.iter().enumerate() {
        if !path.starts_with("root.") || all.iter().any(|queue| queue.path == *path) {
            let problem = format!("{path:?}, a path below root that occurs once is allowed");
            return Err(wrong(format!("queues[{at}].path"), problem));
        }
        if !(*capacity > 0.0 && *capacity <= 1.0) {
            let problem = format!("{capacity}, above 0 up to 1 is allowed");
            return Err(wrong(format!("queues[{at}].capacity"), problem));
        }
        all.push(QueueSpec::new(path, *capacity));
    }
    let total: f64 = all.iter().map(|queue| queue.capacity.memory).sum();
    if total > 1.0 + 1e-9 {
        return Err(wrong(
            "queues",
            format!("the capacities add up to {total}, at most 1 is allowed"),
        ));
    }
    Ok(all)
}

/// The place of an application's queue.
fn read_queue(place: &str, text: Option<&str>, queues: &[QueueSpec]) -> Result<usize, InputError> {
    let found = match text {
        None if queues.is_empty() => Some(0),
        None => None,
        Some(path) => queues.iter().position(|queue| queue.path == path),
    };
    found.ok_or_else(|| {
        let problem = match text {
            None => "none, one of `queues` is needed".to_owned(),
            Some(path) => format!("{path:?}, one of `queues` is allowed"),
        };
        wrong(format!("{place}.queue"), problem)
    })
}

fn read_machines(machines: &[MachinesText]) -> Result<Vec<Resources>, InputError> {
    let mut all = Vec::new();
    for (at, text) in machines.iter().enumerate() {
        let capacity = Resources::from_array(text.capacity.to_array().map(|amount| *amount));
        let capacity = amounts(&format!("machines[{at}].capacity"), capacity)?;
        if all.len() + text.count as usize > MOST_MACHINES {
            let problem = format!("{}, {MOST_MACHINES} in all are allowed", text.count);
            return Err(wrong(format!("machines[{at}].count"), problem));
        }
        all.extend(std::iter::repeat_n(capacity, text.count as usize));
    }
    if all.is_empty() {
        return Err(wrong("machines", "none, at least one is needed"));
    }
    Ok(all)
}

fn read_application(
    place: &str,
    text: &ApplicationText,
    queues: &[QueueSpec],
) -> Result<ApplicationSpec, InputError> {
    if text.submitted_ms < 0 {
        let problem = format!("{}, at least 0 is allowed", text.submitted_ms);
        return Err(wrong(format!("{place}.submitted_ms"), problem));
    }
    if let Some(deadline_ms) = text.deadline_ms
        && deadline_ms < 1
    {
        let problem = format!("{deadline_ms}, at least 1 is allowed");
        return Err(wrong(format!("{place}.deadline_ms"), problem));
    }
    if text.executors > MOST_EXECUTORS {
        let problem = format!("{}, at most {MOST_EXECUTORS} are allowed", text.executors);
        return Err(wrong(format!("{place}.executors"), problem));
    }
    for (key, error) in [("slot_error", text.slot_error), ("length_error", text.length_error)] {
        if !(error.is_finite() && error >= 0.0) {
            return Err(not_an_amount(format!("{place}.{key}"), error));
        }
    }
    let actual = read_series(&format!("{place}.actual"), &text.actual)?;
    let predicted = match &text.predicted {
        Some(predicted) => Some(read_series(&format!("{place}.predicted"), predicted)?),
        None => text.known.then(|| actual.clone()),
    };
    Ok(ApplicationSpec {
        name: text.name.clone(),
        queue: read_queue(place, text.queue.as_deref(), queues)?,
        user: String::new(),
        submitted_ms: text.submitted_ms,
        deadline_ms: text.deadline_ms.map(|after_ms| text.submitted_ms.saturating_add(after_ms)),
        executors: text.executors,
        request: Request { memory_bytes: text.request.memory_bytes, vcores: text.request.vcores },
        predicted,
        actual,
        lengths: None,
        errors: Errors::uniform(text.slot_error, text.length_error),
    })
}

fn read_series(place: &str, text: &PerResource<Vec<f64>>) -> Result<Demand, InputError> {
    series(place, text.to_array(), SLOT_MS)
}

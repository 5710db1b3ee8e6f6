//! An Elastane on real files, an agent's reports, and what became of them.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(dead_code, reason = "each test file uses some of them")]

pub mod one_container;
pub mod rounds;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use elastane_core::cluster::{ApplicationId, Ask, CommitRequest, NodeId, Request};
use elastane_predict::{ContainerKind, Submission};
use elastane_protocol::{
    CanLimit, Capacity, ContainerSamples, Reply, Report, Sample, Usage, VERSION, decode, encode,
};
use elastane_runtime::{Elastane, RuntimeSettings};

pub const GB: u64 = 1 << 30;
pub const NODE: &str = "node-1:1";
pub const START_MS: i64 = 1_000_000;

/// An agent numbers its samples through all runs.
static NEXT_SEQUENCE: AtomicU64 = AtomicU64::new(1);

pub fn open(folder: &Path, mode: &str) -> Elastane {
    open_with(folder, mode, &[])
}

/// With these settings on top; keys without the prefix.
pub fn open_with(folder: &Path, mode: &str, more: &[(&str, &str)]) -> Elastane {
    Elastane::open(settings(folder, mode, more)).unwrap()
}

pub fn settings(folder: &Path, mode: &str, more: &[(&str, &str)]) -> RuntimeSettings {
    let path = |name: &str| folder.join(name).display().to_string();
    let configuration: BTreeMap<String, String> = [
        ("mode", mode.to_owned()),
        ("depository.file", path("depository.sqlite")),
        ("journal.file", path("decisions.jsonl")),
        ("journal.usage", "true".to_owned()),
        ("profile.margin", "0".to_owned()),
        // One run is enough.
        ("profile.least-confidence", "0".to_owned()),
    ]
    .into_iter()
    .chain(more.iter().map(|(key, value)| (*key, (*value).to_owned())))
    .map(|(key, value)| (format!("yarn.scheduler.elastane.{key}"), value))
    .collect();
    RuntimeSettings::from_configuration(&configuration, true).unwrap()
}

pub fn submission(id: &str) -> Submission {
    named_submission(id, "nightly report 2026-11-20")
}

pub fn named_submission(id: &str, name: &str) -> Submission {
    Submission {
        id: id.to_owned(),
        name: name.to_owned(),
        user: "alice".to_owned(),
        queue: "root.default".to_owned(),
        application_type: "SPARK".to_owned(),
        ..Submission::default()
    }
}

pub fn request(memory_gb: u64) -> Request {
    Request { memory_bytes: memory_gb * GB, vcores: 1 }
}

pub fn report(sequence: u64, containers: &[(&str, f32, u64)]) -> Vec<u8> {
    encode(&unencoded_report(sequence, containers)).unwrap()
}

/// Each container used so many cores and so much memory.
pub fn unencoded_report(sequence: u64, containers: &[(&str, f32, u64)]) -> Report {
    let sample = |cpu_cores, memory_bytes| Sample {
        sequence,
        age_ms: 0,
        length_ms: 3_000,
        usage: Usage { cpu_cores, memory_bytes, ..Usage::default() },
    };
    Report {
        agent_run: 1,
        sequence,
        can_limit: CanLimit {
            cpu: true,
            memory: true,
            disk: true,
            network_sent: true,
            network_received: true,
        },
        capacity: Capacity { cpu_cores: 4.0, memory_bytes: 8 * GB, ..Capacity::default() },
        containers_usage: Usage::default(),
        node_usage: Usage::default(),
        pressure: None,
        memory_victims: Vec::new(),
        decommissioned: Vec::new(),
        containers: containers
            .iter()
            .map(|(container, cpu, memory)| ContainerSamples {
                container: (*container).to_owned(),
                limits: None,
                stages: None,
                samples: vec![sample(*cpu, *memory)],
            })
            .collect(),
    }
}

pub fn commit(
    elastane: &Elastane,
    container: &str,
    application: ApplicationId,
    node: NodeId,
    now_ms: i64,
) -> bool {
    elastane.commit(
        CommitRequest {
            container,
            application,
            node,
            kind: ContainerKind::DEFAULT_EXECUTOR,
            request: request(3),
            may_refuse: true,
            start_ms: now_ms,
        },
        now_ms,
    )
}

pub fn register(elastane: &Elastane) -> NodeId {
    elastane.node_added(NODE, Request { memory_bytes: 8 * GB, vcores: 8 })
}

/// The records, of which each that is about a running application has the application's queue.
pub fn journal(folder: &Path) -> Vec<serde_json::Value> {
    let lines = std::fs::read_to_string(folder.join("decisions.jsonl")).unwrap();
    let records: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (number, record) in records.iter().enumerate() {
        let kind = record["kind"].as_str().unwrap();
        let has_ended = records[..number].iter().any(|earlier| {
            earlier["kind"] == "finished" && earlier["container"] == record["container"]
        });
        // The cluster no longer knows the queue of an application that ended.
        let may_lack_queue = match kind {
            "bookable" | "node" | "learned" => true,
            "migration" | "reprovision" => has_ended,
            _ => false,
        };
        assert!(may_lack_queue || record["queue"].is_string(), "{record}");
    }
    records
}

/// The answer to a report in which each container used one core and so much memory.
pub fn reply(elastane: &Elastane, sequence: u64, now_ms: i64, memory: &[(&str, u64)]) -> Reply {
    let containers: Vec<_> = memory.iter().map(|(id, bytes)| (*id, 1.0, *bytes)).collect();
    let body = report(sequence, &containers);
    let reply = elastane.report(NODE, VERSION, &body, now_ms).unwrap();
    decode(VERSION, &reply).unwrap()
}

/// One container of 9 s that holds 1 GB, and uses `cores` and then a quarter of that.
pub fn run_of(
    elastane: &Elastane,
    node: NodeId,
    id: &str,
    start_ms: i64,
    cores: f32,
    succeeded: bool,
) {
    let submission = submission(id);
    let cores = [cores, cores / 4.0, cores / 4.0];
    run(elastane, node, &submission, start_ms, &cores, succeeded);
}

/// One container that holds 1 GB and uses so many cores in each 3 s.
pub fn run(
    elastane: &Elastane,
    node: NodeId,
    submission: &Submission,
    start_ms: i64,
    cores: &[f32],
    succeeded: bool,
) {
    let application = elastane.application_added(submission, start_ms);
    let container = format!("container_{}", submission.id);
    assert!(commit(elastane, &container, application, node, start_ms));
    let mut now_ms = start_ms;
    for cores in cores {
        now_ms += 3_000;
        let sequence = NEXT_SEQUENCE.fetch_add(1, Relaxed);
        let body = report(sequence, &[(&container, *cores, GB)]);
        elastane.report(NODE, VERSION, &body, now_ms).unwrap();
    }
    elastane.finished(&container, now_ms);
    elastane.application_removed(application, succeeded, now_ms);
}

/// Lets each application of these names run once, with so many cores in each 3 s.
pub fn learn_named(folder: &Path, applications: &[(&str, &[f32])]) {
    let observing = open(folder, "observe");
    let node = register(&observing);
    for (number, (name, cores)) in applications.iter().enumerate() {
        let submission = named_submission(&format!("application_1_{number:04}"), name);
        let start_ms = START_MS + number as i64 * 600_000;
        run(&observing, node, &submission, start_ms, cores, true);
    }
    observing.close();
}

/// Plans the starts, and waits for the thread that does: until an application that waits has one.
pub fn plan_starts(elastane: &Elastane, id: &str, now_ms: i64) {
    elastane.bookable_changes(1, now_ms);
    let deadline = Instant::now() + Duration::from_secs(10);
    let is_planned = || {
        let status: serde_json::Value = serde_json::from_str(&elastane.status(now_ms)).unwrap();
        let waiting = status["waiting"].as_array().unwrap();
        waiting.iter().any(|one| one["application"] == id && !one["planned_start"].is_null())
    };
    while !is_planned() {
        assert!(Instant::now() < deadline, "{id} has no planned start");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// An application that waits for so many containers of so much memory.
pub fn waiting(
    elastane: &Elastane,
    id: &str,
    name: &str,
    count: u32,
    memory_gb: u64,
) -> ApplicationId {
    waiting_as(elastane, &named_submission(id, name), count, memory_gb)
}

/// The same for any submission.
pub fn waiting_as(
    elastane: &Elastane,
    submission: &Submission,
    count: u32,
    memory_gb: u64,
) -> ApplicationId {
    let application = elastane.application_added(submission, START_MS);
    let ask = Ask {
        kind: ContainerKind::DEFAULT_EXECUTOR,
        priority: 0,
        request: request(memory_gb),
        count,
    };
    elastane.pending(application, ask, START_MS);
    application
}

/// Everything that CapacityScheduler may hand out on a node of 8 GB.
pub fn free() -> Request {
    Request { memory_bytes: 16 * GB, vcores: 16 }
}

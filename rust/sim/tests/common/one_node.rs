//! Scenarios with one node, and the answers to them.
#![allow(dead_code, reason = "each test file uses its own part")]

use elastane_sim::{Answer, Options, Scenario, WhatIfCandidate, what_if};
use serde_json::{Value, json};

pub const ONE: Options = Options { margin: 0.0, all: false };
pub const ALL: Options = Options { margin: 0.0, all: true };

pub fn answer(policy: &str, scenario: &Value, options: Options) -> Answer {
    let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
    let policy = crate::policy(policy);
    what_if(&scenario, policy.as_ref(), options)
}

/// Who is placed, in order, until nothing fits.
pub fn placed(policy: &str, scenario: &Value, options: Options) -> Vec<String> {
    let heartbeats = answer(policy, scenario, options).heartbeats;
    heartbeats.into_iter().filter_map(|beat| beat.placed).collect()
}

/// What the first heartbeat says of one executor.
pub fn judged(policy: &str, scenario: &Value, executor: &str) -> WhatIfCandidate {
    let candidates = answer(policy, scenario, ONE).heartbeats.remove(0).candidates;
    let mut found = candidates.into_iter().filter(|one| one.executor == executor);
    found.next().unwrap()
}

/// An amount for each resource.
pub fn amounts([cpu, memory, network, disk]: [f64; 4]) -> Value {
    json!({
        "cpu_cores": cpu, "memory_bytes": memory,
        "network_bytes_per_s": network, "disk_bytes_per_s": disk,
    })
}

/// Slots of a second.
pub fn demand(slots: &[[f64; 4]]) -> Value {
    let column = |resource: usize| slots.iter().map(|slot| slot[resource]).collect::<Vec<_>>();
    json!({
        "cpu_cores": column(0), "memory_bytes": column(1),
        "network_bytes_per_s": column(2), "disk_bytes_per_s": column(3),
    })
}

pub fn request([cpu, memory]: [f64; 2]) -> Value {
    json!({"cpu_cores": cpu, "memory_bytes": memory})
}

pub fn pending(name: &str, queued_ms: i64, asked: [f64; 2], slots: &[[f64; 4]]) -> Value {
    let application = name.split('-').next();
    json!({
        "id": name, "application": application, "queued_ms": queued_ms,
        "request": request(asked), "demand": demand(slots),
    })
}

pub fn running(application: &str, start_ms: i64, asked: [f64; 2], slots: &[[f64; 4]]) -> Value {
    json!({
        "id": format!("{application}-r"), "application": application, "start_ms": start_ms,
        "request": request(asked), "demand": demand(slots),
    })
}

/// One node, at 60 s.
pub fn scenario(capacity: [f64; 4], running: &[Value], pending: &[Value]) -> Value {
    json!({
        "now_ms": 60_000, "slot_ms": 1_000, "pending": pending,
        "nodes": [{"id": "node-1", "capacity": amounts(capacity), "running": running}],
    })
}

pub fn assert_close(got: f64, expected: f64) {
    assert!((got - expected).abs() < 1e-12, "{got} is not {expected}");
}

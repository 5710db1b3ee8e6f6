//! Under the house policy `what-if` plans starts as the cluster does.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use elastane_core::policy::{ElastanePolicy, Favor};
use elastane_sim::{Answer, Options, Scenario, what_if};
use serde_json::{Value, json};

const GB: f64 = 1e9;

/// A demand of memory alone, in slots of 3 s.
fn demand(gigabytes: &[f64]) -> Value {
    let none = vec![0; gigabytes.len()];
    let memory: Vec<f64> = gigabytes.iter().map(|gigabytes| gigabytes * GB).collect();
    json!({
        "cpu_cores": none, "memory_bytes": memory,
        "network_bytes_per_s": none, "disk_bytes_per_s": none,
    })
}

fn pending(application: &str, gigabytes: &[f64]) -> Value {
    json!({
        "id": format!("{application}-1"), "application": application, "queued_ms": 0,
        "request": {"cpu_cores": 1, "memory_bytes": GB}, "demand": demand(gigabytes),
    })
}

/// On a node of 8 GB runs an executor that takes 5 of them for ten more slots.
fn answer(favor: Favor, pending: &[Value]) -> Answer {
    let scenario = json!({
        "now_ms": 30_000, "slot_ms": 3_000,
        "nodes": [{
            "id": "node-1",
            "capacity": {
                "cpu_cores": 8, "memory_bytes": 8.0 * GB,
                "network_bytes_per_s": 0, "disk_bytes_per_s": 0,
            },
            "running": [{
                "id": "r", "application": "runs", "start_ms": 0,
                "request": {"cpu_cores": 1, "memory_bytes": GB}, "demand": demand(&[5.0; 20]),
            }],
        }],
        "pending": pending,
    });
    let policy = ElastanePolicy { favor, ..ElastanePolicy::default() };
    let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
    what_if(&scenario, &policy, Options::default())
}

/// The first one does not fit before the ninth slot; the other one fits, and would be in its way if it
/// ran for so long.
fn first_and(slots_of_other: usize) -> [Value; 2] {
    [pending("first", &[0.5, 6.0, 0.5, 0.5]), pending("other", &vec![3.0; slots_of_other])]
}

#[test]
fn one_that_would_delay_a_planned_start_waits_and_says_whose() {
    let answer = answer(Favor::Balanced, &first_and(15));
    let heartbeat = &answer.heartbeats[0];
    assert_eq!(heartbeat.placed, None);
    let [first, other] = &heartbeat.candidates[..] else {
        panic!("two wait: {heartbeat:?}");
    };
    assert!(!first.fits && first.behind.is_none(), "{first:?}");
    assert!(other.fits && other.score.is_some(), "{other:?}");
    assert_eq!(other.behind.as_deref(), Some("first"));
    let text = serde_json::to_value(other).unwrap();
    assert_eq!(text["behind"], "first");
}

#[test]
fn one_that_ends_before_goes() {
    let answer = answer(Favor::Balanced, &first_and(9));
    let heartbeat = &answer.heartbeats[0];
    assert_eq!(heartbeat.placed.as_deref(), Some("other-1"));
    assert_eq!(heartbeat.candidates[1].behind, None);
    let text = serde_json::to_value(&heartbeat.candidates[1]).unwrap();
    assert_eq!(text.get("behind"), None, "it is left out");
}

#[test]
fn the_dial_decides_whether_starts_are_planned() {
    let answer = answer(Favor::Makespan, &first_and(15));
    assert_eq!(answer.heartbeats[0].placed.as_deref(), Some("other-1"));
}

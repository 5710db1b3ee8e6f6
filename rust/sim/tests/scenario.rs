//! What is wrong with a scenario is named, with its place.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use elastane_sim::Scenario;
use proptest::prelude::*;
use serde_json::{Value, json};

const FIGURE_6: &str = include_str!("data/minfrag-figure6.scenario.json");

/// Figure 6 with the value at `pointer` replaced, or removed when it is null.
fn error_with(pointer: &str, value: Value) -> String {
    let mut scenario: Value = serde_json::from_str(FIGURE_6).unwrap();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = scenario.pointer_mut(parent).unwrap();
    match (parent, value) {
        (Value::Object(parent), Value::Null) => drop(parent.remove(key).unwrap()),
        (Value::Object(parent), value) => drop(parent.insert(key.to_owned(), value)),
        (Value::Array(parent), value) => parent[key.parse::<usize>().unwrap()] = value,
        (parent, _) => unreachable!("{parent}"),
    }
    let error = Scenario::from_json(&scenario.to_string()).unwrap_err();
    error.to_string()
}

#[test]
fn each_error_names_its_place_the_value_and_what_is_allowed() {
    for (pointer, value, expected) in [
        (
            "/nodes/0/running/0/demand/cpu_cores/3",
            json!(-1),
            "nodes[0].running[0].demand.cpu_cores[3]: -1, finite and at least 0 is allowed",
        ),
        (
            "/pending/1/demand/disk_bytes_per_s/0",
            json!(-0.5),
            "pending[1].demand.disk_bytes_per_s[0]: -0.5, finite and at least 0 is allowed",
        ),
        (
            "/nodes/0/capacity/memory_bytes",
            json!(-4),
            "nodes[0].capacity.memory_bytes: -4, finite and at least 0 is allowed",
        ),
        (
            "/pending/0/request/cpu_cores",
            json!(-4),
            "pending[0].request.cpu_cores: -4, finite and at least 0 is allowed",
        ),
        (
            "/pending/0/demand/memory_bytes",
            json!([1, 2]),
            "pending[0].demand.memory_bytes: 2 values, 7 as in cpu_cores are allowed",
        ),
        (
            "/nodes/0/running/0/start_ms",
            json!(3000),
            "nodes[0].running[0].start_ms: 3000, now_ms (0) or whole slots of 3000 ms before it",
        ),
        (
            "/nodes/0/running/0/start_ms",
            json!(-2999),
            "nodes[0].running[0].start_ms: -2999, now_ms (0)",
        ),
        ("/slot_ms", json!(0), "slot_ms: 0, at least 1 is allowed"),
        ("/slot_ms", json!(-1), "slot_ms: invalid value: integer `-1`"),
        (
            "/pending/1/id",
            json!("1"),
            "pending[1].id: \"1\" is there twice, each id once is allowed",
        ),
        (
            "/nodes/0/capacity/cpu_cores",
            json!("many"),
            "nodes[0].capacity.cpu_cores: invalid type: string \"many\", expected f64",
        ),
        (
            "/pending/0/demand/cpu_cores/2",
            json!("x"),
            "pending[0].demand.cpu_cores[2]: invalid type: string \"x\", expected f64",
        ),
        (
            "/pending/0/demand/cpu_cores",
            Value::Null,
            "pending[0].demand: missing field `cpu_cores`",
        ),
        ("/now_ms", Value::Null, "scenario: missing field `now_ms`"),
    ] {
        let error = error_with(pointer, value);
        assert!(error.starts_with(expected), "{error}\nis not\n{expected}");
        assert_eq!(error.lines().count(), 1);
    }
}

#[test]
fn what_is_wrong_in_the_block_for_ursa_is_named_too() {
    let block = |ept_s: Value, node: &str, rate: Value, work: Value| {
        json!({"ept_s": ept_s, "nodes": {node: {
            "rates": {"cpu_cores": rate, "network_bytes_per_s": 0, "disk_bytes_per_s": 0},
            "assigned": {"cpu_core_s": 0, "network_bytes": work, "disk_bytes": 0},
        }}})
    };
    let mut scenario: Value = serde_json::from_str(FIGURE_6).unwrap();
    scenario["ursa"] = block(json!(1), "node-1", json!(1), json!(1));
    Scenario::from_json(&scenario.to_string()).unwrap();
    for (block, expected) in [
        (
            block(json!(0), "node-1", json!(1), json!(1)),
            "ursa.ept_s: 0, finite and above 0 is allowed",
        ),
        (
            block(json!(1), "node-9", json!(1), json!(1)),
            "ursa.nodes.node-9: there is no such node, the ids in nodes are allowed",
        ),
        (
            block(json!(1), "node-1", json!(-2), json!(1)),
            "ursa.nodes.node-1.rates.cpu_cores: -2, finite and at least 0 is allowed",
        ),
        (
            block(json!(1), "node-1", json!(1), json!(-3)),
            "ursa.nodes.node-1.assigned.network_bytes: -3, finite and at least 0 is allowed",
        ),
        (json!({"nodes": {}}), "ursa: missing field `ept_s`"),
        (
            block(json!(1), "node-1", json!("fast"), json!(1)),
            "ursa.nodes.node-1.rates.cpu_cores: invalid type: string \"fast\", expected f64",
        ),
    ] {
        scenario["ursa"] = block;
        let error = Scenario::from_json(&scenario.to_string()).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}\nis not\n{expected}");
    }
}

#[test]
fn an_empty_demand_is_refused() {
    let error = error_with(
        "/pending/0/demand",
        json!({"cpu_cores": [], "memory_bytes": [], "network_bytes_per_s": [], "disk_bytes_per_s": []}),
    );
    assert!(error.starts_with("pending[0].demand: the series is empty"), "{error}");
}

#[test]
fn unknown_keys_are_ignored() {
    let mut scenario: Value = serde_json::from_str(FIGURE_6).unwrap();
    scenario["nodes"][0]["rack"] = json!("r1");
    scenario["pending"][0]["demand"]["gpu"] = json!("two");
    Scenario::from_json(&scenario.to_string()).unwrap();
}

#[test]
fn what_is_not_a_scenario_is_refused() {
    for text in ["", "[]", "{", "nothing", "{} {}"] {
        let error = Scenario::from_json(text).unwrap_err();
        assert_eq!(error.place, "scenario", "{text:?}");
    }
    let twice = format!("{FIGURE_6} {FIGURE_6}");
    assert!(Scenario::from_json(&twice).is_err());
}

proptest! {
    #[test]
    fn a_scenario_that_is_cut_or_changed_anywhere_is_read_or_refused(
        at in 0..FIGURE_6.trim_end().len(), byte in b' '..b'~',
    ) {
        let mut text = FIGURE_6.as_bytes().to_vec();
        text[at] = byte;
        // Read or refused: the test is that neither panics.
        let _ = Scenario::from_json(&String::from_utf8_lossy(&text));
        prop_assert!(Scenario::from_json(&FIGURE_6[..at]).is_err());
    }
}

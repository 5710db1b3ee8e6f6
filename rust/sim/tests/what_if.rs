//! Scenarios and their answers.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use elastane_core::policy::{PolicyOptions, named};
use elastane_sim::{Answer, Options, Scenario, what_if};
use serde_json::{Value, json};

const FIGURE_6: &str = include_str!("data/minfrag-figure6.scenario.json");

fn answer(scenario: &Value, options: Options) -> Answer {
    let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
    what_if(&scenario, named("minfrag", PolicyOptions::default()).unwrap().as_ref(), options)
}

fn figure_6() -> Value {
    serde_json::from_str(FIGURE_6).unwrap()
}

const ALL: Options = Options { margin: 0.0, all: true };

/// A demand of CPU alone, in slots of a second.
fn demand(cores: &[f64]) -> Value {
    let none = vec![0; cores.len()];
    json!({
        "cpu_cores": cores, "memory_bytes": none,
        "network_bytes_per_s": none, "disk_bytes_per_s": none,
    })
}

fn pending(id: &str, queued_ms: i64, cores: &[f64]) -> Value {
    json!({
        "id": id, "application": "a", "queued_ms": queued_ms,
        "request": {"cpu_cores": 1, "memory_bytes": 0}, "demand": demand(cores),
    })
}

/// Nodes of this many cores on which nothing runs.
fn scenario(nodes: &[f64], pending: &[Value]) -> Value {
    let nodes = nodes.iter().enumerate().map(|(number, cores)| {
        json!({
            "id": format!("node-{number}"), "running": [],
            "capacity": {
                "cpu_cores": cores, "memory_bytes": 0,
                "network_bytes_per_s": 0, "disk_bytes_per_s": 0,
            },
        })
    });
    json!({
        "now_ms": 0, "slot_ms": 1000,
        "nodes": nodes.collect::<Vec<_>>(), "pending": pending,
    })
}

fn placed(answer: &Answer) -> Vec<(&str, Option<&str>)> {
    answer.heartbeats.iter().map(|beat| (beat.node.as_str(), beat.placed.as_deref())).collect()
}

fn assert_close(got: f64, expected: f64) {
    assert!((got - expected).abs() < 1e-12, "{got} is not {expected}");
}

#[test]
fn figure_6_gives_the_papers_fractions_and_choice() {
    let answer = answer(&figure_6(), Options::default());
    assert_eq!(placed(&answer), [("node-1", Some("2"))]);
    let candidates = &answer.heartbeats[0].candidates;
    assert_close(candidates[0].score.unwrap(), 53. / 112.);
    assert_close(candidates[1].score.unwrap(), 13. / 32.);
    let detail = candidates[0].detail.as_ref().unwrap();
    assert_eq!(detail.times_ms["horizon_ms"], 21_000);
    for (resource, share) in
        [("cpu", 53. / 112.), ("memory", 165. / 448.), ("network", 3. / 70.), ("disk", 6. / 35.)]
    {
        assert_close(detail.per_resource["remaining_share"][resource], share);
    }
}

#[test]
fn in_figure_6_nothing_fits_after_the_choice() {
    let answer = answer(&figure_6(), ALL);
    assert_eq!(placed(&answer), [("node-1", Some("2")), ("node-1", None)]);
    let left = serde_json::to_value(&answer.heartbeats[1].candidates).unwrap();
    assert_eq!(
        left,
        json!([{
            "executor": "1", "fits": false, "score": null,
            "reason": "network demand exceeds what is available by 250.0 MB/s",
        }])
    );
}

#[test]
fn the_margin_is_in_the_fit_and_not_in_the_score() {
    let plain = answer(&figure_6(), Options::default());
    let with_margin = |margin| {
        let options = Options { margin, all: false };
        answer(&figure_6(), options)
    };
    assert_eq!(with_margin(0.1).heartbeats[0].placed, None);
    let scenario = scenario(&[10.0], &[pending("a", 0, &[4.0])]);
    let (plain_score, margin_score) = (
        answer(&scenario, Options::default()).heartbeats[0].candidates[0].score,
        answer(&scenario, Options { margin: 0.5, all: false }).heartbeats[0].candidates[0].score,
    );
    assert_eq!(plain_score, margin_score);
    assert_eq!(plain.heartbeats[0].placed.as_deref(), Some("2"));
}

#[test]
fn one_decision_for_each_node_or_all_that_fit() {
    let waiting: Vec<Value> =
        ["a", "b", "c", "d"].iter().map(|id| pending(id, 0, &[2.0])).collect();
    let scenario = scenario(&[4.0, 4.0], &waiting);
    assert_eq!(
        placed(&answer(&scenario, Options::default())),
        [("node-0", Some("a")), ("node-1", Some("b"))]
    );
    assert_eq!(
        placed(&answer(&scenario, ALL)),
        [
            ("node-0", Some("a")),
            ("node-0", Some("b")),
            ("node-0", None),
            ("node-1", Some("c")),
            ("node-1", Some("d"))
        ]
    );
}

#[test]
fn a_tie_goes_to_the_one_queued_longest_then_to_the_smaller_id() {
    let near = 2.0 + 1e-11;
    for (waiting, winner) in [
        (vec![pending("a", 5, &[2.0]), pending("b", 1, &[2.0])], "b"),
        (vec![pending("b", 1, &[near]), pending("a", 1, &[2.0])], "a"),
        (vec![pending("b", 0, &[2.0]), pending("a", 1, &[near])], "b"),
        (vec![pending("a", 0, &[2.0]), pending("b", 1, &[2.1])], "b"),
    ] {
        let answer = answer(&scenario(&[4.0], &waiting), Options::default());
        assert_eq!(answer.heartbeats[0].placed.as_deref(), Some(winner));
    }
}

#[test]
fn what_is_larger_than_the_node_does_not_fit_it() {
    let scenario = scenario(&[4.0], &[pending("a", 0, &[1.0, 5.0])]);
    let answer = answer(&scenario, Options::default());
    assert_eq!(
        answer.heartbeats[0].candidates[0].reason.as_deref(),
        Some("cpu demand exceeds what is available by 1.00 cores from 1 s on")
    );
}

#[test]
fn a_resource_of_capacity_0_takes_no_part() {
    let mut scenario = scenario(&[4.0], &[pending("a", 0, &[1.0])]);
    scenario["pending"][0]["demand"]["disk_bytes_per_s"] = json!([1e9]);
    let answer = answer(&scenario, Options::default());
    let detail = answer.heartbeats[0].candidates[0].detail.as_ref().unwrap();
    assert_eq!(detail.per_resource["remaining_share"].keys().collect::<Vec<_>>(), [&"cpu"]);
}

#[test]
fn an_executor_that_started_earlier_is_taken_from_where_it_is() {
    let mut scenario = scenario(&[4.0], &[pending("a", 0, &[3.0])]);
    scenario["now_ms"] = json!(5_000);
    scenario["nodes"][0]["running"] = json!([{
        "id": "r", "application": "a", "start_ms": 4_000,
        "request": {"cpu_cores": 1, "memory_bytes": 0}, "demand": demand(&[4.0, 1.0, 4.0]),
    }]);
    let answer = answer(&scenario, Options::default());
    assert_eq!(placed(&answer), [("node-0", Some("a"))]);
}

#[test]
fn a_policy_that_is_not_there_is_named_with_those_that_are() {
    let error = named("fairest", PolicyOptions::default()).err().unwrap().to_string();
    assert_eq!(
        error,
        "policy fairest is unknown; the policies are elastane, minfrag, trc, prophet, ursa, \
         ursa-srjf"
    );
}

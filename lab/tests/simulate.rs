//! `elastane-lab simulate`
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
#[path = "../../rust/cli/tests/common/two_machines.rs"]
mod two_machines;

use std::fs;

use common::{lab, text};
use serde_json::{Value, json};
use two_machines::{scenario, written};

#[test]
fn packing_by_demand_ends_sooner_than_by_request() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), &scenario());
    let report = folder.path().join("report.json");
    let policies = ["--policy", "static,minfrag", "--json", text(&report)];
    let arguments = [&["simulate", "--scenario", text(&file)], &policies[..]].concat();
    let table = lab(&arguments).printed();
    assert!(table.starts_with("scenario: 2 applications, lower bound 30 s\n"), "{table}");
    let report: Value = serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap();
    let makespan_s = |policy: &str| report["policies"][policy]["makespan_s"][0].as_f64().unwrap();
    assert!(makespan_s("minfrag") < 0.8 * makespan_s("static"), "{report}");
    assert_eq!(report["lower_bound_s"], json!([30.0]));
    let cpu = &report["policies"]["minfrag"]["utilization"]["cpu"];
    let used = cpu[0].as_f64().unwrap() * 8.0 * makespan_s("minfrag");
    assert!((used - 4.0 * 30.0 * 1.7).abs() < 1e-6, "core-seconds: {used}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_whatever_the_threads() {
    let folder = tempfile::tempdir().unwrap();
    let mut noisy = scenario();
    noisy["applications"][0]["slot_error"] = json!(0.3);
    noisy["applications"][1]["length_error"] = json!(0.2);
    let file = written(folder.path(), &noisy);
    let reports = ["1", "2"].map(|threads| {
        let [json, html] =
            ["json", "html"].map(|kind| folder.path().join(format!("{threads}.{kind}")));
        lab(&[
            "simulate",
            "--scenario",
            text(&file),
            "--policy",
            "minfrag,static",
            "--seeds",
            "3",
            "--threads",
            threads,
            "--json",
            text(&json),
            "--html",
            text(&html),
        ])
        .printed();
        [json, html].map(|file| fs::read_to_string(file).unwrap())
    });
    assert_eq!(reports[0], reports[1]);
    let makespans = serde_json::from_str::<Value>(&reports[0][0]).unwrap();
    let makespans = makespans["policies"]["minfrag"]["makespan_s"].as_array().unwrap().clone();
    assert_eq!(makespans.len(), 3);
    assert_ne!(makespans[0], makespans[1], "another seed, another run");
}

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    let refused = lab(&["simulate", "--workload", "spark"]).refused();
    assert!(
        refused.starts_with("elastane-lab: workload spark: not known, one of elasecutor, "),
        "{refused}"
    );
    let refused = lab(&["simulate", "--workload", "lockstep", "--policy", "best"]).refused();
    assert!(
        refused.starts_with("elastane-lab: policy best is unknown; the policies are "),
        "{refused}"
    );
}

#[test]
fn without_an_input_the_usage_is_wrong() {
    let ended = lab(&["simulate"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("--workload"), "{}", ended.stderr);
    let ended = lab(&["simulate", "--workload", "lockstep", "--disk-loss", "1"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("a number from 0 to below 1"), "{}", ended.stderr);
}

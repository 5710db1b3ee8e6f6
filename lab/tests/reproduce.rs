//! `elastane-lab reproduce`
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;

use common::{lab, text};
use serde_json::Value;

/// Runs a comparison; returns its output and its JSON.
fn reproduced(arguments: &[&str]) -> (String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    let arguments = [&["reproduce"], arguments, &["--json", text(&file)]].concat();
    let printed = lab(&arguments).printed();
    (printed, serde_json::from_slice(&fs::read(&file).unwrap()).unwrap())
}

/// Every comparison's JSON has these keys, whatever its model.
fn assert_shape(report: &Value, policies: &[&str], seeds: usize) {
    let numbers = |value: &Value, what: &str| {
        let values = value.as_array().map_or(&[][..], Vec::as_slice);
        assert_eq!(values.len(), seeds, "{what}: {value}");
        assert!(values.iter().all(Value::is_number), "{what}: {value}");
    };
    numbers(&report["lower_bound_s"], "lower_bound_s");
    let reported = report["policies"].as_object().unwrap();
    for name in policies {
        let policy = &report["policies"][name];
        numbers(&policy["makespan_s"], name);
        numbers(&policy["mean_completion_s"], name);
        numbers(&policy["utilization"]["cpu"], name);
    }
    assert_eq!(reported.len(), policies.len());
}

#[test]
fn iterative_applications_are_run_iteration_by_iteration() {
    let (printed, report) = reproduced(&["ispark", "--seeds", "2"]);
    assert!(printed.contains("executors used by ispark above static, %"), "{printed}");
    assert_shape(&report, &["static", "dynamic", "ispark"], 2);
    assert_eq!(report["seeds"], serde_json::json!([1, 2]));
    let claim = &report["claims"][0];
    assert_eq!(claim["published"], 35.2);
    assert_eq!(claim["ours"].as_array().unwrap().len(), 2);
    assert!(claim["differs"].is_string(), "{claim}");
}

#[test]
fn ursas_tables_are_run_at_its_own_grain() {
    let (printed, report) = reproduced(&["ursa", "--seeds", "1"]);
    assert!(printed.contains("YARN+Spark"));
    let policies = report["policies"].as_object().unwrap();
    let names: Vec<&str> = policies.keys().map(String::as_str).collect();
    assert_shape(&report, &names, 1);
    assert!(report["others"].as_array().unwrap().len() > 4);
}

#[test]
fn sensitivity_can_be_limited_to_one_paper() {
    let (printed, report) = reproduced(&["sensitivity", "--of", "ispark", "--seeds", "1"]);
    assert!(printed.contains("serial part"), "{printed}");
    assert!(!printed.contains("minfrag"), "{printed}");
    assert!(report["sensitivity"].as_array().unwrap().len() > 4);
    assert_eq!(report["others"], serde_json::json!([]));
}

#[test]
fn sensitivity_of_an_unknown_paper_is_refused() {
    let refused = lab(&["reproduce", "sensitivity", "--of", "house"]).refused();
    let names = "elasecutor, prophet, ispark, ursa";
    assert_eq!(
        refused,
        format!("elastane-lab: sensitivity of house: not known, one of {names} is allowed\n")
    );
    let refused = lab(&["reproduce", "ursa", "--of", "ursa"]).refused();
    assert_eq!(refused, "elastane-lab: --of: goes with sensitivity only\n");
}

#[test]
fn an_unknown_paper_is_refused_with_the_known_ones() {
    let refused = lab(&["reproduce", "spark"]).refused();
    assert_eq!(
        refused,
        "elastane-lab: paper spark: not known, one of elasecutor, prophet, ispark, ursa, sensitivity, reprovision, \
         house is allowed\n"
    );
}

#[test]
fn options_that_a_model_lacks_are_refused() {
    for (paper, why) in [
        ("ursa", "ursa is simulated at the grain of its monotasks, by a model of its own"),
        ("ispark", "ispark is simulated iteration by iteration, by a model of its own"),
        ("sensitivity", "a sensitivity run changes the parameters itself"),
    ] {
        for change in [["--disk-loss", "0.5"], ["--starvation-wait-ms", "60000"]] {
            let refused = lab(&["reproduce", paper, change[0], change[1]]).refused();
            let allowed = "--seeds, --seed, --threads and --json are allowed";
            assert_eq!(refused, format!("elastane-lab: {why}: {allowed}\n"));
        }
    }
}

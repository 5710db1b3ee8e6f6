//! `elastane simulate`
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{elastane, text};
use serde_json::{Value, json};

/// Two machines of 4 cores, and two applications of four executors each.
fn scenario() -> Value {
    let constant = |cpu: f64, disk: f64| {
        json!({
            "cpu_cores": vec![cpu; 10], "memory_bytes": vec![1e9; 10],
            "network_bytes_per_s": vec![0; 10], "disk_bytes_per_s": vec![disk; 10],
        })
    };
    let application = |name: &str, cpu, disk| {
        json!({
            "name": name, "executors": 4,
            "request": {"vcores": 2, "memory_bytes": 2_000_000_000_u64},
            "actual": constant(cpu, disk),
        })
    };
    json!({
        "machines": [{"count": 2, "capacity": {
            "cpu_cores": 4, "memory_bytes": 16e9,
            "network_bytes_per_s": 1e8, "disk_bytes_per_s": 1e8,
        }}],
        "applications": [application("cpu", 1.5, 0.0), application("disk", 0.2, 4e7)],
    })
}

fn written(folder: &Path, scenario: &Value) -> PathBuf {
    let file = folder.join("cluster.json");
    fs::write(&file, scenario.to_string()).unwrap();
    file
}

#[test]
fn packing_by_demand_ends_sooner_than_by_request() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), &scenario());
    let report = folder.path().join("report.json");
    let policies = ["--policy", "static,minfrag", "--json", text(&report)];
    let arguments = [&["simulate", "--scenario", text(&file)], &policies[..]].concat();
    let table = elastane(&arguments).printed();
    assert!(
        table.starts_with("scenario: 2 applications, lower bound 30 s\n"),
        "{table}"
    );
    let report: Value = serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap();
    let makespan_s = |policy: &str| {
        report["policies"][policy]["makespan_s"][0]
            .as_f64()
            .unwrap()
    };
    assert!(
        makespan_s("minfrag") < 0.8 * makespan_s("static"),
        "{report}"
    );
    assert_eq!(report["lower_bound_s"], json!([30.0]));
    let cpu = &report["policies"]["minfrag"]["utilization"]["cpu"];
    let used = cpu[0].as_f64().unwrap() * 8.0 * makespan_s("minfrag");
    assert!(
        (used - 4.0 * 30.0 * 1.7).abs() < 1e-6,
        "core-seconds: {used}"
    );
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
        elastane(&[
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
    let makespans = makespans["policies"]["minfrag"]["makespan_s"]
        .as_array()
        .unwrap()
        .clone();
    assert_eq!(makespans.len(), 3);
    assert_ne!(makespans[0], makespans[1], "another seed, another run");
}

#[test]
fn the_html_report_needs_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), &scenario());
    let html = folder.path().join("report.html");
    elastane(&["simulate", "--scenario", text(&file), "--html", text(&html)]).printed();
    let page = fs::read_to_string(&html).unwrap();
    assert_eq!(
        page.matches("<svg").count(),
        4 + 1 + 4,
        "use, completions, one node"
    );
    assert!(!page.contains("src=") && !page.contains("href="));
}

#[test]
fn what_is_wrong_with_a_scenario_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = scenario();
    wrong["applications"][1]["actual"]["cpu_cores"][3] = json!(-1);
    let file = written(folder.path(), &wrong);
    assert_eq!(
        elastane(&["simulate", "--scenario", text(&file)]).refused(),
        format!(
            "elastane: {}: applications[1].actual.cpu_cores[3]: -1, finite and at least 0 is \
             allowed\n",
            file.display()
        )
    );
    let mut large = scenario();
    large["applications"][0]["request"]["vcores"] = json!(5);
    let file = written(folder.path(), &large);
    let refused = elastane(&["simulate", "--scenario", text(&file)]).refused();
    assert!(
        refused.contains("application cpu: an executor asks for 5 cores"),
        "{refused}"
    );
}

#[test]
fn names_that_are_not_there_are_refused_with_those_that_are() {
    let refused = elastane(&["simulate", "--workload", "spark"]).refused();
    assert!(
        refused.starts_with("elastane: workload spark: not known, elasecutor, "),
        "{refused}"
    );
    let refused = elastane(&["simulate", "--workload", "lockstep", "--policy", "best"]).refused();
    assert!(
        refused.starts_with("elastane: policy best: not known, "),
        "{refused}"
    );
}

#[test]
fn without_an_input_the_usage_is_wrong() {
    let ended = elastane(&["simulate"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("--workload"), "{}", ended.stderr);
    let ended = elastane(&["simulate", "--workload", "lockstep", "--disk-loss", "1"]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("a number from 0 to below 1"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_favor_that_is_not_there_is_refused_with_those_that_are() {
    let ended = elastane(&["simulate", "--workload", "lockstep", "--favor", "speed"]);
    assert_eq!(ended.code, Some(2));
    assert_eq!(ended.stdout, "");
    // The line after it names the help, as for any option.
    assert_eq!(
        ended.stderr.lines().next(),
        Some(
            "error: invalid value 'speed' for '--favor <WHAT>': speed is not known, makespan, \
             balanced, completion are there"
        )
    );
}

#[test]
fn favor_and_peaks_change_what_the_house_policy_does() {
    let application = |name: &str, executors, cpu: f64, slots: usize| {
        json!({
            "name": name, "executors": executors,
            "request": {"vcores": 1, "memory_bytes": 2_000_000_000_u64},
            "actual": {
                "cpu_cores": vec![cpu; slots], "memory_bytes": vec![1e9; slots],
                "network_bytes_per_s": vec![0; slots], "disk_bytes_per_s": vec![0; slots],
            },
        })
    };
    let mut mixed = scenario();
    mixed["machines"][0]["count"] = json!(1);
    mixed["applications"] = json!([
        application("short", 1, 2.0, 4),
        application("longer", 1, 2.0, 10),
        application("long", 2, 3.0, 30),
        application("many", 4, 1.5, 4),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), &mixed);
    let report = folder.path().join("report.json");
    let completion = |more: &[&str]| {
        let run = [
            "simulate",
            "--scenario",
            text(&file),
            "--policy",
            "elastane",
        ];
        elastane(&[&run[..], &["--json", text(&report)], more].concat()).printed();
        let report: Value = serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap();
        report["policies"]["elastane"]["mean_completion_s"].clone()
    };
    let own = completion(&[]);
    assert_eq!(completion(&["--favor", "balanced", "--peaks", "soft"]), own);
    for other in [
        ["--favor", "makespan"],
        ["--favor", "completion"],
        ["--peaks", "strict"],
        ["--peaks", "stretch"],
    ] {
        assert_ne!(completion(&other), own, "{other:?}");
    }
}

#[test]
fn a_trace_runs_on_as_many_machines_as_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("jobs.tsv");
    fs::write(&file, "job0\t0\t0\t4e9\t0\t0\njob1\t5\t5\t8e9\t1e9\t1e9\n").unwrap();
    let swim = ["simulate", "--swim", text(&file), "--machines", "2"];
    let table = elastane(&swim).printed();
    assert!(table.starts_with("swim: 2 applications, "), "{table}");
}

//! `elastane simulate`
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
#[path = "common/two_machines.rs"]
mod two_machines;

use std::fs;

use common::{elastane, text};
use serde_json::{Value, json};
use two_machines::{scenario, written};

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
            "minfrag,trc",
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
fn the_html_report_needs_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), &scenario());
    let html = folder.path().join("report.html");
    elastane(&["simulate", "--scenario", text(&file), "--html", text(&html)]).printed();
    let page = fs::read_to_string(&html).unwrap();
    assert_eq!(page.matches("<svg").count(), 4 + 1 + 4, "use, completions, one node");
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
    assert!(refused.contains("application cpu: an executor asks for 5 cores"), "{refused}");
}

#[test]
fn queues_have_capacities_and_each_application_one_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let with = |queues: Value, of_second: Value| {
        let mut scenario = scenario();
        scenario["queues"] = queues;
        scenario["applications"][0]["queue"] = json!("root.a");
        scenario["applications"][1]["queue"] = of_second;
        let file = written(folder.path(), &scenario);
        let place = format!("elastane: {}: ", file.display());
        let ended = elastane(&["simulate", "--scenario", text(&file)]);
        if ended.code == Some(0) {
            return String::new();
        }
        ended.refused().trim_end().strip_prefix(&place).unwrap().to_owned()
    };
    let queue = |path: &str, capacity: f64| json!({ "path": path, "capacity": capacity });
    let both = || json!([queue("root.a", 0.5), queue("root.b", 0.5)]);
    assert_eq!(with(both(), json!("root.b")), "");
    for (queues, of_second, refused) in [
        (both(), json!("b"), "applications[1].queue: \"b\", one of `queues` is allowed"),
        (both(), Value::Null, "applications[1].queue: none, one of `queues` is needed"),
        (
            json!([queue("root.a", 1.5)]),
            json!("root.a"),
            "queues[0].capacity: 1.5, above 0 up to 1 is allowed",
        ),
        (
            json!([queue("root.a", 0.5), queue("root.a", 0.5)]),
            json!("root.a"),
            "queues[1].path: \"root.a\", a path below root that occurs once is allowed",
        ),
        (
            json!([queue("root.a", 0.75), queue("root.b", 0.5)]),
            json!("root.b"),
            "queues: the capacities add up to 1.25, at most 1 is allowed",
        ),
    ] {
        assert_eq!(with(queues, of_second), refused);
    }
}

#[test]
fn a_policy_that_is_not_the_products_is_refused_with_those_that_are() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), &scenario());
    for policy in ["best", "static"] {
        let arguments = ["simulate", "--scenario", text(&file), "--policy", policy];
        let known = "elastane, minfrag, trc, prophet, ursa, ursa-srjf";
        assert_eq!(
            elastane(&arguments).refused(),
            format!("elastane: policy {policy} is unknown; the policies are {known}\n")
        );
    }
}

#[test]
fn without_an_input_the_usage_is_wrong() {
    let ended = elastane(&["simulate"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("--scenario"), "{}", ended.stderr);
    let ended = elastane(&["simulate", "--scenario", "none.json", "--disk-loss", "1"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("a number from 0 to below 1"), "{}", ended.stderr);
}

#[test]
fn a_favor_that_is_not_there_is_refused_with_those_that_are() {
    let ended = elastane(&["simulate", "--scenario", "none.json", "--favor", "speed"]);
    assert_eq!(ended.code, Some(2));
    assert_eq!(ended.stdout, "");
    // The line after it names the help, as for any option.
    assert_eq!(
        ended.stderr.lines().next(),
        Some(
            "error: invalid value 'speed' for '--favor <WHAT>': speed is unknown; the values are \
             makespan, balanced, completion"
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
            "--json",
            text(&report),
        ];
        // With production's margin so little fits that the order decides nothing here.
        let all_that_fits = ["--margin", "0", "--max-ratio", "100"];
        elastane(&[&run[..], &all_that_fits, more].concat()).printed();
        let report: Value = serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap();
        report["policies"]["elastane"]["mean_completion_s"].clone()
    };
    let own = completion(&[]);
    assert_eq!(completion(&["--favor", "balanced", "--peaks", "soft"]), own);
    for other in [["--favor", "makespan"], ["--favor", "completion"], ["--peaks", "strict"]] {
        assert_ne!(completion(&other), own, "{other:?}");
    }
}

#[test]
fn each_application_is_in_the_json() {
    let folder = tempfile::tempdir().unwrap();
    let file = written(folder.path(), &scenario());
    let report = folder.path().join("report.json");
    elastane(&["simulate", "--scenario", text(&file), "--json", text(&report)]).printed();
    let report: Value = serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap();
    let outcome = &report["policies"]["elastane"];
    let applications = outcome["applications"][0].as_array().unwrap();
    let names: Vec<&Value> = applications.iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["cpu", "disk"]);
    let seconds = |key: &str| applications.iter().map(|one| one[key].as_f64().unwrap()).collect();
    let [submitted_s, started_s, ended_s]: [Vec<f64>; 3] =
        ["submitted_s", "started_s", "ended_s"].map(seconds);
    assert_eq!(submitted_s, [0.0, 0.0]);
    for (started_s, ended_s) in started_s.iter().zip(&ended_s) {
        assert!(started_s < ended_s, "{started_s} {ended_s}");
    }
    let last_s = ended_s.iter().copied().fold(0.0, f64::max);
    assert_eq!(Some(last_s), outcome["makespan_s"][0].as_f64());
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

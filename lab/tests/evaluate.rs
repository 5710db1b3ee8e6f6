//! `elastane-lab evaluate`
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{evaluate, lab, recorded, text};
use serde_json::Value;

const HEADER: &str = "t_s,cpu_cores,memory_bytes,network_bytes_per_s,disk_bytes_per_s";

/// A run that computes in its first half and writes in its second.
fn csv(slots: usize) -> String {
    let rows = (0..slots).map(|slot| {
        let used = if slot * 2 < slots { "3,2e9,0,1e6" } else { "1,1e9,0,80e6" };
        format!("{},{used}\n", slot * 3)
    });
    format!("{HEADER}\n{}", rows.collect::<String>())
}

fn application(folder: &Path, runs: &[(&str, usize)]) -> PathBuf {
    let application = folder.join("nightly");
    fs::create_dir(&application).unwrap();
    for (name, slots) in runs {
        fs::write(application.join(format!("{name}.csv")), csv(*slots)).unwrap();
    }
    application
}

/// The output for a folder, and the paths of its JSON and its predictions.
fn evaluated(folder: &Path) -> (String, PathBuf, PathBuf) {
    let (json, out) = (folder.join("figures.json"), folder.join("out"));
    let arguments = ["evaluate", text(folder), "--json", text(&json), "--predictions", text(&out)];
    (lab(&arguments).printed(), json, out)
}

#[test]
fn every_run_is_predicted_from_earlier_runs() {
    let folder = tempfile::tempdir().unwrap();
    application(folder.path(), &[("1", 40), ("2", 42), ("3", 41), ("4", 40)]);
    let (printed, json, out) = evaluated(folder.path());
    assert!(printed.starts_with("2 runs predicted, each from those before it\n"), "{printed}");
    assert!(printed.contains("window maximum 30 s + 10 %"), "{printed}");
    assert!(printed.contains("\nerror of progress: 0.0"), "{printed}");
    // The runs use no network, so its waste is undefined.
    let network = printed.split("\nnetwork").nth(1).unwrap();
    assert!(
        network.contains("envelope                     100.0 %      -        -      -"),
        "{network}"
    );

    let figures: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    let run = &figures["runs"][3];
    assert_eq!(run["predicted_from"], serde_json::json!(["3", "2", "1"]));
    assert_eq!(run["length_ms"], 123_000);
    // Both trackers follow a run that is like the earlier ones.
    for tracker in ["runs", "demand"] {
        let missed = run["progress_missed"][tracker].as_f64().unwrap();
        assert!(missed < 0.08, "{tracker}: {missed}");
    }
    let planned = run["tracked"]["demand"]["disk"]["total"].as_f64().unwrap();
    assert!((planned - 1.0).abs() < 0.2, "{planned}");
    assert!(run["at_submission"]["envelope"]["cpu"]["coverage"].as_f64().unwrap() > 0.95);
    let disk = |method: &str| figures["at_submission"][method]["disk"]["waste"].as_f64().unwrap();
    assert!(disk("envelope") < disk("constant peak"));
    assert_eq!(
        figures["runs"][1]["not_predicted"],
        "earlier runs that can be used: 1, at least 2 are needed"
    );

    // The envelopes of the predicted runs are written as series, which can be evaluated in turn.
    let predicted = out.join("nightly");
    assert!(!predicted.join("2.csv").exists() && predicted.join("4.csv").exists());
    lab(&["evaluate", text(&out)]).printed();
}

#[test]
fn a_run_that_failed_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let application = application(folder.path(), &[("1", 40), ("2", 9), ("3", 41), ("4", 40)]);
    let settings = r#"{"runs": {"2": {"outcome": "failed"}}}"#;
    fs::write(application.join("settings.json"), settings).unwrap();
    let (_, figures) = evaluate(folder.path());
    assert_eq!(figures["predicted"], 1);
    let left_out = &figures["runs"][2]["left_out"][0];
    assert_eq!((&left_out["run"], &left_out["reason"]), (&"2".into(), &"it failed".into()));
}

/// docs/new-settings.md, "Which prediction is used".
#[test]
fn runs_are_predicted_from_the_same_settings_and_others_are_counted_by_request() {
    let folder = tempfile::tempdir().unwrap();
    let slots = |run: usize| if run % 2 == 1 { 20 } else { 60 };
    let names: Vec<String> = (1..=8).map(|run| run.to_string()).collect();
    let runs: Vec<(&str, usize)> =
        (1..).zip(&names).map(|(run, name)| (name.as_str(), slots(run))).collect();
    let nightly = application(folder.path(), &runs);
    let given =
        runs.iter().map(|(name, slots)| (name.to_string(), serde_json::json!({ "rounds": slots })));
    let given = Value::Object(given.collect());
    fs::write(nightly.join("settings.json"), given.to_string()).unwrap();
    let (printed, json, out) = evaluated(folder.path());
    for line in [
        "4 runs predicted, each from those before it",
        "  same           4 runs   earlier runs had the same settings",
        "  request        4 runs   nothing is predicted, the request stands",
    ] {
        assert!(printed.lines().any(|it| it == line), "{printed}");
    }
    let figures: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(
        figures["ways"],
        serde_json::json!({ "same": 4, "indifferent": 0, "model": 0, "alike": 0, "request": 4 })
    );
    let run = &figures["runs"][7];
    assert_eq!(run["way"], "same");
    assert_eq!(run["predicted_from"], serde_json::json!(["6", "4", "2"]));
    // The written envelope is that of the same settings: the other runs have a third or three times the length.
    let rows = |run: &str| {
        let written = fs::read_to_string(out.join("nightly").join(run)).unwrap();
        written.lines().count() - 1
    };
    assert!((20..30).contains(&rows("7.csv")), "{}", rows("7.csv"));
    assert!((60..90).contains(&rows("8.csv")), "{}", rows("8.csv"));
    assert!(!out.join("nightly/4.csv").exists());
}

#[test]
fn bad_input_is_one_line_with_the_place_and_the_allowed_values() {
    let folder = tempfile::tempdir().unwrap();
    let refused = || lab(&["evaluate", text(folder.path())]).refused();
    assert!(refused().contains("no run in it, APPLICATION/RUN.csv is needed"));
    let application = application(folder.path(), &[("1", 40)]);
    let settings = application.join("settings.json");
    fs::write(&settings, r#"{"runs": {"9": {"outcome": "failed"}}}"#).unwrap();
    assert!(refused().contains("settings.json: runs.9: there is no 9.csv beside it"));
    fs::write(&settings, r#"{"runs": {"1": {"outcome": "lost"}}}"#).unwrap();
    assert!(refused().contains("unknown variant `lost`, expected one of `succeeded`"));
    fs::remove_file(&settings).unwrap();
    let run = application.join("1.csv");
    fs::write(&run, csv(40).replacen("6,3,", "6,-3,", 1)).unwrap();
    assert_eq!(
        refused(),
        format!(
            "elastane-lab: {}: line 4: cpu_cores \"-3\", a number from 0 to 1e18 is allowed\n",
            run.display()
        )
    );
}

#[test]
fn runs_with_other_settings_are_predicted_from_fifteen_and_thirty() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..34).map(|run| format!("run-{run:02}")).collect();
    let slots = |run: usize| 20 + run * 7 % 23;
    let runs: Vec<(&str, usize)> =
        (0..).zip(&names).map(|(run, name)| (name.as_str(), slots(run))).collect();
    let nightly = application(folder.path(), &runs);
    let given = runs
        .iter()
        .map(|(name, slots)| (name.to_string(), serde_json::json!({ "input_bytes": slots })));
    let settings = Value::Object(given.collect());
    fs::write(nightly.join("settings.json"), settings.to_string()).unwrap();
    let (printed, figures) = evaluate(folder.path());
    for line in [
        "new settings, after 15 runs: 10 runs predicted, 100.0 % within 15 % of the total, 100.0 % within 20 %",
        "new settings, after 30 runs: 4 runs predicted, 100.0 % within 15 % of the total, 100.0 % within 20 %",
    ] {
        assert!(printed.lines().any(|it| it == line), "{printed}");
    }
    assert_eq!(figures["new_settings"][1]["trained_on"], 30);
    // There are 23 settings, so the last 11 runs have the settings of the first 11.
    for (at, unseen) in [(0, 8), (1, 0)] {
        assert_eq!(figures["new_settings"][at]["unseen"]["predicted"], unseen);
    }
    // With settings held out, each run is predicted once, unless its settings are outside of the others.
    let held_out = &figures["new_settings"][0]["held_out"];
    assert!(held_out["predicted"].as_u64().unwrap() >= 26, "{held_out}");
    assert_eq!(held_out["within_20_percent"], 1.0);
    // Runs with the same settings are equal here, so chance leaves no error.
    let repeats = &figures["repeats"]["by_others"];
    assert_eq!((&repeats["predicted"], &repeats["within_15_percent"]), (&22.into(), &1.0.into()));
    // Runs with equal settings have no figures for new settings.
    fs::write(nightly.join("settings.json"), r#"{"input_bytes": 1}"#).unwrap();
    let printed = lab(&["evaluate", text(folder.path())]).printed();
    assert!(!printed.contains("new settings"), "{printed}");
}

fn part(of: &Value, within: &str) -> f64 {
    of[within].as_f64().unwrap()
}

/// Forty runs of one report, no two with the same settings, as `python -m recording settings` measured
/// them. docs/measurements/new-settings.md has the figures.
#[test]
fn new_settings_of_a_real_application_are_predicted_as_well_as_elasecutors() {
    let (_, figures) = evaluate(&recorded("recorded-settings"));
    for (at, trained_on, within, wanted) in
        [(0, 15, "within_20_percent", 0.8), (1, 30, "within_15_percent", 0.9)]
    {
        let after = &figures["new_settings"][at];
        assert_eq!(after["trained_on"], trained_on);
        assert_eq!(after["held_out"]["predicted"], 40);
        assert!(part(&after["held_out"], within) >= wanted, "{after}");
        // Ten runs: each is a tenth of the figure.
        assert_eq!(after["unseen"]["predicted"], 10);
        assert!(part(&after["unseen"], within) >= 0.8, "{after}");
    }
}

/// The same report, two runs at a time.
#[test]
fn new_settings_beside_another_run_are_predicted_as_well_as_chance_leaves() {
    let (_, figures) = evaluate(&recorded("recorded-settings-beside"));
    for (at, within, unseen) in [(0, "within_20_percent", 9), (1, "within_15_percent", 0)] {
        let after = &figures["new_settings"][at];
        assert_eq!(after["predicted"], 10);
        assert!(part(after, within) >= 0.8, "{after}");
        assert_eq!(after["unseen"]["predicted"], unseen);
        assert_eq!(after["held_out"]["predicted"], 40);
        assert!(part(&after["held_out"], within) >= 0.8, "{after}");
    }
    assert_eq!(figures["repeats"]["by_others"]["predicted"], 32);
}

#[test]
fn errors_are_listed_for_quarters_of_the_runs_by_confidence() {
    let (printed, figures) = evaluate(&recorded("recorded"));
    let parts = figures["by_confidence"].as_array().unwrap();
    let runs: Vec<u64> = parts.iter().map(|it| it["runs"].as_u64().unwrap()).collect();
    assert_eq!(runs, [7, 8, 7, 8]);
    let bounds: Vec<f64> = parts
        .iter()
        .flat_map(|part| [&part["from"], &part["to"]])
        .map(|bound| bound.as_f64().unwrap())
        .collect();
    assert!(bounds.is_sorted(), "{bounds:?}");
    // The quarters hold each run once: their mean is that of the table.
    let coverage: f64 = parts
        .iter()
        .map(|part| part["coverage"]["cpu"].as_f64().unwrap() * part["runs"].as_f64().unwrap())
        .sum();
    let all = &figures["at_submission"]["demand"]["cpu"]["coverage"];
    let all = all.as_f64().unwrap();
    assert!((coverage / 30.0 - all).abs() < 1e-9, "{coverage}");
    let lines = printed.lines().skip_while(|it| !it.starts_with("by confidence"));
    assert_eq!(lines.take_while(|it| !it.is_empty()).count(), 5, "{printed}");
}

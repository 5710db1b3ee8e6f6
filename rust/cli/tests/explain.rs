//! `elastane profiles explain`
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeMap;

use common::{SALES, assert_contains, depository, elastane, run, run_of_two_kinds, text};
use elastane_predict::Outcome::{Failed, Succeeded};
use elastane_predict::{ContainerKind, Feature, SignaturePart};
use elastane_store::{
    Depository, LeftOutRun, ModelUsed, PredictionMade, PredictionRecord, SubmissionRecord,
};

/// What was said of an application's executors, of which nothing is known since.
fn executors_prediction(id: &str, made: PredictionMade) -> PredictionRecord {
    PredictionRecord {
        application_id: id.into(),
        application_key: SALES.into(),
        kind: ContainerKind::DEFAULT_EXECUTOR,
        made_ms: 5,
        made,
        bound: None,
        outcome: None,
    }
}

#[test]
fn a_run_is_explained_by_the_runs_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    let mut runs: Vec<_> = (1..=5).map(|number| run(SALES, number, Succeeded)).collect();
    runs[1].outcome = Failed;
    depository(&path, &runs);
    let id = "application_1763736000000_0005";
    let explain = ["profiles", "explain", id, "--depository", text(&path)];
    let printed = elastane(&explain).printed();
    let expected = [
        "key      app|SPARK|alice|root.etl|Nightly sales #|sales.py|--day #",
        "its submission was not kept",
        "run      succeeded: began 2025-11-21T14:45:00.000Z, took 30 s",
        "executor, made again from the runs before it",
        "    recurring: confidence ",
        "    from     application_1763736000000_0004",
        "    left out application_1763736000000_0002: it failed",
        "    turned out: length 30 s\n      cpu      covered ",
        "      network  covered 100.0 %, none was used",
    ];
    assert_contains(&printed, &expected);
    let json = elastane(&["profiles", "explain", id, "--json", "--depository", text(&path)]).json();
    assert_eq!(json["predictions"][1]["made"]["runs"].as_array().unwrap().len(), 3);
    assert_eq!(json["predictions"][1]["outcome"]["length_ms"], 30_000);
    let unknown = ["profiles", "explain", "application_1_1", "--depository", text(&path)];
    assert!(elastane(&unknown).refused().contains("no application \"application_1_1\""));
}

#[test]
fn executors_that_no_run_had_before_are_explained_by_their_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    depository(&path, &[run(SALES, 1, Succeeded), run_of_two_kinds(2)]);
    let id = "application_1763736000000_0002";
    let prediction = executors_prediction(
        id,
        PredictionMade {
            method: "recurring".into(),
            confidence: Some(0.9),
            ..PredictionMade::default()
        },
    );
    let mut depository = Depository::open(&path).unwrap().depository;
    depository.save_prediction(&prediction).unwrap();
    drop(depository);
    let explain = ["profiles", "explain", id, "--depository", text(&path)];
    let printed = elastane(&explain).printed();
    let expected = [
        "\nexecutor of priority 0\n    recurring: confidence 0.90",
        "\nexecutor of priority 2\n    not predicted, by request: earlier runs that can be used: 0",
    ];
    assert_contains(&printed, &expected);
}

#[test]
fn of_many_runs_that_are_left_out_for_one_reason_the_first_and_the_last_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    depository(&path, &[run(SALES, 1, Succeeded)]);
    let id = "application_1763736000000_0001";
    let left_out = |number: usize, reason: &str| LeftOutRun {
        application_id: format!("application_9_{number:04}"),
        reason: reason.into(),
    };
    let changed = (1..=14).rev();
    let changed = changed.map(|number| left_out(number, "the application changed after it"));
    let prediction = executors_prediction(
        id,
        PredictionMade {
            method: "settings".into(),
            confidence: Some(0.9),
            left_out: std::iter::once(left_out(20, "it is wild")).chain(changed).collect(),
            ..PredictionMade::default()
        },
    );
    let mut depository = Depository::open(&path).unwrap().depository;
    depository.save_prediction(&prediction).unwrap();
    drop(depository);
    let explain = ["profiles", "explain", id, "--depository", text(&path)];
    let printed = elastane(&explain).printed();
    let expected = "    left out application_9_0020: it is wild\n    left out 14 runs, \
                    application_9_0001 to application_9_0014: the application changed after it\n";
    assert!(printed.contains(expected), "{printed}");
}

#[test]
fn a_submission_and_its_prediction_are_explained_as_they_were_made() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    let mut depository = Depository::open(&path).unwrap().depository;
    let id = "application_1763736000000_0009";
    let part = |part: &str, submitted: Option<&str>, in_key: &str| SignaturePart {
        part: part.into(),
        submitted: submitted.map(str::to_owned),
        in_key: in_key.into(),
    };
    depository
        .save_submission(&SubmissionRecord {
            application_id: id.into(),
            application_key: SALES.into(),
            application_name: "Nightly sales 9".into(),
            submitted_ms: 5,
            signature: vec![
                part("user", Some("alice"), "alice"),
                part("name", Some("Nightly sales 9"), "Nightly sales #"),
                part("argument", None, "*"),
            ],
            settings: Default::default(),
        })
        .unwrap();
    depository
        .save_prediction(&executors_prediction(
            id,
            PredictionMade {
                not_predicted: Some("the confidence is 0.41, at least 0.6 is needed".into()),
                ..PredictionMade::default()
            },
        ))
        .unwrap();
    drop(depository);
    let printed = elastane(&["profiles", "explain", id, "--depository", text(&path)]).printed();
    let expected = [
        "    user      alice\n",
        "    name      Nightly sales #  made equal, was Nightly sales 9\n",
        "    argument  *  made equal, not kept\n",
        "run      not saved",
        "executor\n    not predicted, by request: the confidence is 0.41",
    ];
    assert_contains(&printed, &expected);
}

#[test]
fn a_prediction_by_settings_is_explained_with_its_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    let mut depository = Depository::open(&path).unwrap().depository;
    let id = "application_1763736000000_0099";
    let settings = BTreeMap::from([("--rounds".to_owned(), 15.0)]);
    depository
        .save_submission(&SubmissionRecord {
            application_id: id.into(),
            application_key: SALES.into(),
            application_name: "Sales".into(),
            submitted_ms: 5,
            signature: Vec::new(),
            settings: settings.clone(),
        })
        .unwrap();
    let feature = |name: &str, least, most| Feature { name: name.into(), least, most };
    let kernels = [("cpu", "linear"), ("length", "rbf")];
    let model = ModelUsed {
        features: vec![feature("--rounds", 4.0, 25.0), feature("executors", 1.0, 8.0)],
        regressions: kernels.map(|(target, kernel)| (target.to_owned(), kernel.to_owned())).into(),
        runs: 30,
        held_out_error: 0.074,
        error_without_settings: 0.51,
        confidence: 0.81,
    };
    depository
        .save_prediction(&executors_prediction(
            id,
            PredictionMade {
                method: "settings".into(),
                reason: Some("the settings are new".into()),
                settings,
                model: Some(model),
                confidence: Some(0.81),
                expected_length_ms: Some(90_000),
                runs: (0..30).rev().map(|run| format!("run-{run}")).collect(),
                ..PredictionMade::default()
            },
        ))
        .unwrap();
    drop(depository);
    let explain = ["profiles", "explain", id, "--depository", text(&path)];
    let printed = elastane(&explain).printed();
    let expected = "
executor
    settings: confidence 0.81, length 1 min 30 s
    since    the settings are new
    model    of 30 runs: held-out error 0.07, 0.51 without settings, confidence 0.81
      --rounds is 15, from 4 to 25 can be predicted
      executors was not known, from 1 to 8 can be predicted
      cpu linear, length rbf
    from     30 runs, run-0 to run-29
";
    assert!(printed.contains("    setting   --rounds 15\n"), "{printed}");
    assert!(printed.contains(expected), "{printed}");
    let json = elastane(&[&explain[..], &["--json"]].concat()).json();
    assert_eq!(json["settings"]["--rounds"], 15.0);
    let made = &json["predictions"][0]["made"];
    assert_eq!(made["model"]["regressions"]["length"], "rbf");
}

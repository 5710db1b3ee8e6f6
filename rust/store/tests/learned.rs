//! Submissions, predictions and models.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::records::{fresh, model, open, prediction, submission};
use common::{run, run_with};
use elastane_runs::{ContainerKind, Outcome, RunSettings};
use elastane_store::{
    Depository, ModelRecord, PredictionOutcome, PredictionRecord, StoreErrorKind,
};
use rusqlite::Connection;

fn outcome() -> PredictionOutcome {
    PredictionOutcome {
        length_ms: 15_000,
        coverage: [1.0, 0.9, 1.0, 0.5],
        waste: [Some(1.5), Some(1.1), None, Some(2.0)],
    }
}

#[test]
fn a_prediction_comes_back_with_how_it_turned_out() {
    let (_folder, path) = fresh();
    let mut depository = open(&path);
    let (first, second) = (prediction("application_1_3", 1), prediction("application_1_4", 2));
    depository.save_prediction(&first).unwrap();
    depository.save_prediction(&second).unwrap();
    let completed = |depository: &mut Depository, id, kind| {
        depository.complete_prediction(id, kind, &outcome()).unwrap()
    };
    assert!(completed(&mut depository, "application_1_3", ContainerKind::DEFAULT_EXECUTOR));
    assert!(!completed(&mut depository, "application_1_9", ContainerKind::DEFAULT_EXECUTOR));
    assert!(!completed(&mut depository, "application_1_3", ContainerKind::ApplicationMaster));
    let first = PredictionRecord { outcome: Some(outcome()), ..first };
    drop(depository);
    let depository = open(&path);
    for (id, prediction) in [("application_1_3", first), ("application_1_4", second)] {
        assert_eq!(depository.predictions_of_run(id).unwrap(), [prediction]);
    }
}

#[test]
fn a_request_that_stood_is_kept_with_its_reason() {
    let (_folder, path) = fresh();
    let mut depository = open(&path);
    let mut stood = prediction("application_1_3", 1);
    stood.bound = None;
    stood.made.not_predicted = Some("the confidence is 0.41".into());
    depository.save_prediction(&stood).unwrap();
    assert_eq!(depository.predictions_of_run("application_1_3").unwrap(), [stood]);
}

#[test]
fn a_model_replaces_the_one_of_its_name() {
    let (_folder, path) = fresh();
    let mut depository = open(&path);
    depository.save_model(&model("rbf", 1)).unwrap();
    depository.save_model(&model("linear", 1)).unwrap();
    depository.save_model(&model("rbf", 2)).unwrap();
    let kept = [model("linear", 1), model("rbf", 2)];
    assert_eq!(depository.models("sales").unwrap(), kept);
    let large = ModelRecord { bytes: vec![0; 17 << 20], ..model("rbf", 3) };
    let error = depository.save_model(&large).unwrap_err().to_string();
    assert!(error.contains("the model rbf of sales: 17825792 bytes, at most"), "{error}");
}

#[test]
fn a_model_whose_bytes_changed_is_an_error_that_names_it() {
    let (_folder, path) = fresh();
    open(&path).save_model(&model("rbf", 1)).unwrap();
    let statement =
        "UPDATE model SET model = CAST(substr(model, 1, 12) || x'55' || substr(model, 14) AS BLOB)";
    Connection::open(&path).unwrap().execute(statement, []).unwrap();
    let error = open(&path).models("sales").unwrap_err();
    assert!(matches!(error.kind, StoreErrorKind::Record(..)), "{error}");
}

#[test]
fn a_submission_comes_back_and_all_is_forgotten_together() {
    let (_folder, path) = fresh();
    let mut depository = open(&path);
    depository.save(&run("sales", 1)).unwrap();
    depository.save_submission(&submission("application_1_1")).unwrap();
    depository.save_prediction(&prediction("application_1_1", 1)).unwrap();
    depository.save_model(&model("rbf", 1)).unwrap();
    let found = depository.submission("application_1_1").unwrap();
    assert_eq!(found, Some(submission("application_1_1")));
    assert_eq!(depository.forget("sales").unwrap(), 1);
    assert_eq!(depository.submission("application_1_1").unwrap(), None);
    assert_eq!(depository.predictions_of_run("application_1_3").unwrap(), []);
    assert_eq!(depository.models("sales").unwrap(), []);
}

#[test]
fn the_settings_of_the_latest_runs_that_succeeded_are_those_of_their_submissions() {
    let (_folder, path) = fresh();
    let mut depository = open(&path);
    for number in 1..=4 {
        let outcome = if number == 3 { Outcome::Failed } else { Outcome::Succeeded };
        depository.save(&run_with("sales", number, outcome)).unwrap();
    }
    depository.save(&run("stock", 5)).unwrap();
    let of = |number: i64| run("sales", number).application_id;
    depository.save_submission(&submission(&of(2))).unwrap();
    let given = RunSettings(submission("any").settings);
    let none = RunSettings::default();
    assert_eq!(
        depository.latest_settings("sales", 2).unwrap(),
        [(of(4), none.clone()), (of(2), given.clone())]
    );
    assert_eq!(depository.latest_settings("sales", 9).unwrap().len(), 3);
    assert_eq!(depository.latest_settings("none", 9).unwrap(), []);
}

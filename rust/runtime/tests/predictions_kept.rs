//! What was predicted of a run is kept before it, and how that turned out after it.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::Path;

use common::{START_MS, open, register, run_of};
use elastane_predict::ContainerKind;
use elastane_store::{Access, Depository, PredictionRecord};

const HOUR_MS: i64 = 3_600_000;

/// Runs one after the other, of so many cores each.
fn run_all(folder: &Path, runs: &[(f32, bool)]) {
    for (number, (cores, succeeded)) in runs.iter().enumerate() {
        let elastane = open(folder, "observe");
        let node = register(&elastane);
        let id = format!("application_1_{number:04}");
        let start_ms = START_MS + number as i64 * HOUR_MS;
        run_of(&elastane, node, &id, start_ms, *cores, *succeeded);
        elastane.close();
    }
}

fn predicted(folder: &Path, number: usize) -> Vec<PredictionRecord> {
    let file = folder.join("depository.sqlite");
    let depository = Depository::open_existing(&file, Access::Read).unwrap();
    let id = format!("application_1_{number:04}");
    depository.predictions_of_run(&id).unwrap()
}

#[test]
fn a_prediction_is_kept_with_its_runs_and_scored_when_the_run_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    run_all(folder.path(), &[(1.0, true), (1.0, true), (3.0, true)]);
    assert_eq!(predicted(folder.path(), 0), [], "nothing was known");
    let [third] = &predicted(folder.path(), 2)[..] else { panic!("one kind of container") };
    assert_eq!(third.kind, ContainerKind::DEFAULT_EXECUTOR);
    assert_eq!(third.made.runs, ["application_1_0001", "application_1_0000"]);
    assert!(third.made.confidence.is_some());
    let outcome = third.outcome.unwrap();
    assert!(outcome.coverage[0] < 0.5, "three times as many cores as ever");
    assert_eq!(outcome.coverage[1], 1.0, "the same memory");
}

#[test]
fn a_run_that_failed_says_nothing_of_its_prediction() {
    let folder = tempfile::tempdir().unwrap();
    run_all(folder.path(), &[(1.0, true), (1.0, true), (1.0, false)]);
    let predictions = predicted(folder.path(), 2);
    assert_eq!(predictions.len(), 1);
    assert_eq!(predictions[0].outcome, None);
}

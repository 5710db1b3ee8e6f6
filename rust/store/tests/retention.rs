//! What is removed, and what stays.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::PathBuf;

use common::{prune, run, run_with};
use elastane_core::{Demand, Resources};
use elastane_runs::{ContainerKind, Outcome, Run};
use elastane_store::{
    Depository, ModelRecord, OpenRun, PredictionMade, PredictionRecord, Pruned, Retention,
    RunEvent, SubmissionRecord,
};
use tempfile::TempDir;

fn fresh() -> (TempDir, PathBuf, Depository) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    let depository = Depository::open(&path).unwrap().depository;
    (folder, path, depository)
}

/// Run N ends at N s + 500 ms.
const NOW_MS: i64 = 100_500;

fn retention(keep_s: i64, most_bytes: u64) -> Retention {
    Retention { keep_ms: keep_s * 1_000, most_bytes, profile_runs: 3 }
}

fn numbers(depository: &Depository, key: &str) -> Vec<i64> {
    let runs = depository.latest_runs(key, 1_000).unwrap();
    runs.iter().map(|run| run.started_ms / 1_000).collect()
}

/// A run that does not compress.
fn large(key: &str, number: i64) -> Run {
    let mut run = run(key, number);
    let mut state = number as u64 + 1;
    for series in &mut run.series {
        series.slots = large_slots(&mut state);
    }
    run
}

fn large_slots(state: &mut u64) -> Vec<Resources> {
    let mut next = || {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (*state >> 33) as f64
    };
    let slots = (0..1_000).map(|_| Resources::from_array([next(), next(), next(), next()]));
    slots.collect()
}

fn id(number: i64) -> String {
    run("", number).application_id
}

/// What is kept of an application before its run is: a submission, and a prediction that does not
/// compress.
fn save_belongings(depository: &mut Depository, number: i64) {
    let submission = SubmissionRecord {
        application_id: id(number),
        application_key: "sales".into(),
        application_name: "Sales".into(),
        submitted_ms: number * 1_000,
        signature: Vec::new(),
        settings: [].into(),
    };
    depository.save_submission(&submission).unwrap();
    let bound = Demand::series(3_000, &large_slots(&mut (number as u64 + 1))).unwrap();
    let prediction = PredictionRecord {
        application_id: id(number),
        application_key: "sales".into(),
        kind: ContainerKind::DEFAULT_EXECUTOR,
        made_ms: number * 1_000,
        made: PredictionMade::default(),
        bound: Some(bound),
        outcome: None,
    };
    depository.save_prediction(&prediction).unwrap();
}

/// Whether all that belongs to an application is there, or nothing.
fn has_belongings(depository: &Depository, number: i64) -> bool {
    let has_submission = depository.submission(&id(number)).unwrap().is_some();
    let predictions = depository.predictions_of_run(&id(number)).unwrap();
    assert_eq!(has_submission, !predictions.is_empty(), "{number}");
    has_submission
}

#[test]
fn old_runs_go_but_those_of_a_profile_while_the_application_runs() {
    let (_folder, _path, mut depository) = fresh();
    for number in [1, 2, 3, 4, 95] {
        depository.save(&run("alive", number)).unwrap();
    }
    depository.save(&run_with("alive", 5, Outcome::Failed)).unwrap();
    for number in [6, 7] {
        depository.save(&run("gone", number)).unwrap();
    }
    let pruned = prune(&mut depository, &retention(10, u64::MAX), NOW_MS).unwrap();
    assert_eq!(numbers(&depository, "alive"), [95, 4, 3]);
    assert_eq!(numbers(&depository, "gone"), [] as [i64; 0]);
    assert_eq!((pruned.old_runs, pruned.runs()), (5, 5));
    let again = prune(&mut depository, &retention(10, u64::MAX), NOW_MS).unwrap();
    assert_eq!(again, Pruned::default());
}

#[test]
fn for_want_of_room_runs_without_a_profile_go_first_and_the_file_shrinks() {
    let (_folder, path, mut depository) = fresh();
    for number in 0..40 {
        depository.save(&large("first", number)).unwrap();
    }
    for number in 40..43 {
        depository.save(&large("second", number)).unwrap();
    }
    let used = depository.used_bytes().unwrap();
    assert!(used > 1_000_000, "{used}");
    let pruned = prune(&mut depository, &retention(1_000, used - 1), NOW_MS).unwrap();
    assert_eq!((pruned.spare_runs, pruned.profile_runs), (37, 0));
    assert_eq!(numbers(&depository, "first"), [39, 38, 37]);
    assert_eq!(numbers(&depository, "second"), [42, 41, 40]);
    drop(depository);
    let length = std::fs::metadata(&path).unwrap().len();
    assert!(length < used / 4, "{length} of {used}");
}

#[test]
fn where_profiles_alone_pass_the_bound_the_oldest_go_and_are_counted() {
    let (_folder, _path, mut depository) = fresh();
    for number in 0..200 {
        depository.save(&large(&format!("application {number}"), number)).unwrap();
    }
    let used = depository.used_bytes().unwrap();
    let pruned = prune(&mut depository, &retention(1_000, used / 4 * 3), NOW_MS).unwrap();
    assert_eq!((pruned.spare_runs, pruned.profile_runs), (0, 100));
    assert_eq!(numbers(&depository, "application 99"), [] as [i64; 0]);
    assert_eq!(numbers(&depository, "application 100"), [100]);
    assert!(depository.used_bytes().unwrap() <= used / 4 * 3);
}

#[test]
fn predictions_that_pass_the_bound_go_with_the_oldest_runs_and_the_newest_stay() {
    let (_folder, path, mut depository) = fresh();
    for number in 0..300 {
        depository.save(&run("sales", number)).unwrap();
    }
    let runs_alone = depository.used_bytes().unwrap();
    for number in 0..300 {
        save_belongings(&mut depository, number);
    }
    let used = depository.used_bytes().unwrap();
    let most_bytes = used / 2;
    assert!(used - runs_alone > most_bytes, "{runs_alone} of {used}");
    let pruned = prune(&mut depository, &retention(1_000, most_bytes), NOW_MS).unwrap();
    assert_eq!((pruned.spare_runs, pruned.profile_runs), (200, 0));
    let newest: Vec<i64> = (200..300).rev().collect();
    assert_eq!(numbers(&depository, "sales"), newest);
    for number in 0..300 {
        assert_eq!(has_belongings(&depository, number), number >= 200);
    }
    drop(depository);
    let length = std::fs::metadata(&path).unwrap().len();
    assert!(length <= most_bytes, "{length} of {most_bytes}");
}

#[test]
fn what_belongs_to_no_run_goes_before_runs_but_not_that_of_an_application_that_runs() {
    let (_folder, _path, mut depository) = fresh();
    let (running, ended, begins) = (0, 200, 10_000);
    for number in [running].into_iter().chain(1..=150).chain([ended, begins]) {
        save_belongings(&mut depository, number);
    }
    let begun = RunEvent::Whole(Box::new(OpenRun {
        application_id: id(running),
        application_key: "sales".into(),
        application_name: "Sales".into(),
        ..OpenRun::begun(0)
    }));
    depository.checkpoint(&[begun], 0).unwrap();
    depository.save(&run("sales", ended)).unwrap();
    // What is recorded of the last one is not saved yet.
    let now_ms = begins * 1_000 + 2_000;
    let half = depository.used_bytes().unwrap() / 2;
    let pruned = prune(&mut depository, &retention(100_000, half), now_ms).unwrap();
    assert_eq!(pruned, Pruned::default());
    let left: Vec<i64> = (0..=150).filter(|number| has_belongings(&depository, *number)).collect();
    let latest: Vec<i64> = [running].into_iter().chain(101..=150).collect();
    assert_eq!(left, latest);
    assert!(depository.used_bytes().unwrap() <= half);

    let pruned = prune(&mut depository, &retention(100_000, 0), now_ms).unwrap();
    assert_eq!(pruned.runs(), 1);
    for (number, stays) in [(running, true), (150, false), (ended, false), (begins, true)] {
        assert_eq!(has_belongings(&depository, number), stays, "{number}");
    }
}

#[test]
fn models_go_with_the_last_run_of_their_application() {
    let (_folder, _path, mut depository) = fresh();
    for (key, numbers) in [("old", 0..1), ("new", 1..102)] {
        for number in numbers {
            depository.save(&large(key, number)).unwrap();
        }
        let model = ModelRecord {
            application_key: key.into(),
            kind: ContainerKind::DEFAULT_EXECUTOR,
            name: "settings".into(),
            version: 1,
            trained_ms: NOW_MS,
            held_out_error: 0.1,
            bytes: vec![7; 100],
        };
        depository.save_model(&model).unwrap();
    }
    let room =
        Retention { profile_runs: 1_000, ..retention(1_000, depository.used_bytes().unwrap() - 1) };
    let pruned = prune(&mut depository, &room, NOW_MS).unwrap();
    assert_eq!(pruned.profile_runs, 100);
    assert_eq!(depository.models("old").unwrap(), []);
    assert_eq!(depository.models("new").unwrap().len(), 1);
}

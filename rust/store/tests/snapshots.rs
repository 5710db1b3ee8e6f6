//! Snapshots, and their merge elsewhere.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;

use common::records::{fresh, model, open, prediction, submission};
use common::{run, run_with};
use elastane_runs::Outcome;
use elastane_store::MergeReport;

#[test]
fn a_snapshot_is_taken_while_it_is_written_and_adopted_elsewhere() {
    let (folder, path) = fresh();
    let (_other, here) = fresh();
    let snapshot = folder.path().join("published.db");
    let mut depository = open(&path);
    for number in 1..4 {
        depository.save(&run("sales", number)).unwrap();
    }
    let id = "application_1_000002";
    depository.save_submission(&submission(id)).unwrap();
    depository.save_prediction(&prediction(id, 1)).unwrap();
    depository.save_model(&model("rbf", 5)).unwrap();
    depository.snapshot(&snapshot).unwrap();
    depository.save(&run("sales", 9)).unwrap();
    depository.snapshot(&snapshot).unwrap();
    let files: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("published"))
        .collect();
    assert_eq!(files, ["published.db"], "nothing unfinished, no log");

    let mut standby = open(&here);
    standby.save(&run_with("sales", 1, Outcome::Failed)).unwrap();
    standby.save_model(&model("rbf", 6)).unwrap();
    let report = standby.merge(&snapshot).unwrap();
    let expected = MergeReport { added: 3, kept: 1, models: 0 };
    assert_eq!(report, expected);
    let runs = standby.latest_runs("sales", 9).unwrap();
    assert_eq!(
        runs,
        [run("sales", 9), run("sales", 3), run("sales", 2), run_with("sales", 1, Outcome::Failed)]
    );
    assert_eq!(standby.predictions_of_run(id).unwrap(), [prediction(id, 1)]);
    assert_eq!(standby.submission(id).unwrap(), Some(submission(id)));
    assert_eq!(standby.models("sales").unwrap(), [model("rbf", 6)]);
    let again = standby.merge(&snapshot).unwrap();
    assert_eq!((again.added, again.kept, again.models), (0, 4, 0));
}

#[test]
fn a_damaged_snapshot_is_refused_and_nothing_is_taken() {
    let (folder, path) = fresh();
    let snapshot = folder.path().join("published.db");
    let mut depository = open(&path);
    for number in 0..60 {
        depository.save(&run("sales", number)).unwrap();
    }
    depository.snapshot(&snapshot).unwrap();
    let mut bytes = fs::read(&snapshot).unwrap();
    let from = bytes.len() - 3 * 4096;
    bytes[from..].fill(0xAB);
    fs::write(&snapshot, &bytes).unwrap();
    let (_other, here) = fresh();
    let mut standby = open(&here);
    let error = standby.merge(&snapshot).unwrap_err();
    assert!(error.is_damage(), "{error}");
    assert_eq!(standby.applications().unwrap(), []);
}

#[test]
fn a_snapshot_that_cannot_be_written_leaves_the_older_one() {
    let (folder, path) = fresh();
    let depository = open(&path);
    let target = folder.path().join("gone/published.db");
    let error = depository.snapshot(&target).unwrap_err().to_string();
    assert!(error.contains("gone/published.db: cannot write a snapshot"), "{error}");
}

//! Submissions, predictions and models; older files; snapshots.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use common::{run, run_with};
use elastane_core::{Demand, Resources};
use elastane_runs::{ContainerKind, Feature, Outcome, RunSettings, SignaturePart};
use elastane_store::{
    Access, Depository, LeftOutRun, MergeReport, ModelRecord, ModelUsed, PredictionMade,
    PredictionOutcome, PredictionRecord, StoreError, SubmissionRecord,
};
use rusqlite::Connection;
use tempfile::TempDir;

fn fresh() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    (folder, path)
}

fn open(path: &Path) -> Depository {
    Depository::open(path).unwrap().depository
}

fn prediction(id: &str, made_ms: i64) -> PredictionRecord {
    let slots = [Resources::from_array([0.5, 1e6, 0.0, 3.0]); 4];
    PredictionRecord {
        application_id: id.into(),
        application_key: "sales".into(),
        kind: ContainerKind::DEFAULT_EXECUTOR,
        made_ms,
        made: PredictionMade {
            method: "recurring".into(),
            confidence: Some(0.8),
            runs: vec!["application_1_2".into(), "application_1_1".into()],
            left_out: vec![LeftOutRun {
                application_id: "application_1_0".into(),
                reason: "it failed".into(),
            }],
            expected_length_ms: Some(12_000),
            reason: Some("earlier runs had the same settings".into()),
            settings: BTreeMap::from([("executors".to_owned(), 4.0)]),
            model: Some(model_used()),
            ..PredictionMade::default()
        },
        bound: Some(Demand::series(3_000, &slots).unwrap()),
        outcome: None,
    }
}

fn model_used() -> ModelUsed {
    ModelUsed {
        features: vec![Feature {
            name: "executors".into(),
            least: 1.6,
            most: 15.0,
        }],
        regressions: BTreeMap::from([("cpu".to_owned(), "rbf".to_owned())]),
        runs: 30,
        held_out_error: 0.07,
        error_without_settings: 0.5,
        confidence: 0.8,
    }
}

fn outcome() -> PredictionOutcome {
    PredictionOutcome {
        length_ms: 15_000,
        coverage: [1.0, 0.9, 1.0, 0.5],
        waste: [Some(1.5), Some(1.1), None, Some(2.0)],
    }
}

fn model(name: &str, trained_ms: i64) -> ModelRecord {
    ModelRecord {
        application_key: "sales".into(),
        kind: ContainerKind::DEFAULT_EXECUTOR,
        name: name.into(),
        version: 1,
        trained_ms,
        held_out_error: 0.12,
        bytes: vec![7; 5_000],
    }
}

fn submission(id: &str) -> SubmissionRecord {
    SubmissionRecord {
        application_id: id.into(),
        application_key: "sales".into(),
        application_name: "Sales 1".into(),
        submitted_ms: 5,
        signature: vec![SignaturePart {
            part: "name".into(),
            submitted: Some("Sales 1".into()),
            in_key: "Sales #".into(),
        }],
        settings: BTreeMap::from([("executors".to_owned(), 4.0)]),
    }
}

#[test]
fn a_prediction_comes_back_with_how_it_turned_out() {
    let (_folder, path) = fresh();
    let mut depository = open(&path);
    let (first, second) = (
        prediction("application_1_3", 1),
        prediction("application_1_4", 2),
    );
    depository.save_prediction(&first).unwrap();
    depository.save_prediction(&second).unwrap();
    let completed = |depository: &mut Depository, id, kind| {
        depository
            .complete_prediction(id, kind, &outcome())
            .unwrap()
    };
    assert!(completed(
        &mut depository,
        "application_1_3",
        ContainerKind::DEFAULT_EXECUTOR
    ));
    assert!(!completed(
        &mut depository,
        "application_1_9",
        ContainerKind::DEFAULT_EXECUTOR
    ));
    assert!(!completed(
        &mut depository,
        "application_1_3",
        ContainerKind::ApplicationMaster
    ));
    let first = PredictionRecord {
        outcome: Some(outcome()),
        ..first
    };
    drop(depository);
    let depository = open(&path);
    assert_eq!(
        depository.predictions("sales", 9).unwrap(),
        [second.clone(), first.clone()]
    );
    assert_eq!(depository.predictions("sales", 1).unwrap(), [second]);
    assert_eq!(
        depository.predictions_of_run("application_1_3").unwrap(),
        [first]
    );
}

#[test]
fn a_request_that_stood_is_kept_with_its_reason() {
    let (_folder, path) = fresh();
    let mut depository = open(&path);
    let mut stood = prediction("application_1_3", 1);
    stood.bound = None;
    stood.made.not_predicted = Some("the confidence is 0.41".into());
    depository.save_prediction(&stood).unwrap();
    assert_eq!(depository.predictions("sales", 9).unwrap(), [stood]);
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
    let found = depository
        .model("sales", ContainerKind::DEFAULT_EXECUTOR, "rbf")
        .unwrap();
    assert_eq!(found, Some(model("rbf", 2)));
    let large = ModelRecord {
        bytes: vec![0; 17 << 20],
        ..model("rbf", 3)
    };
    let error = depository.save_model(&large).unwrap_err().to_string();
    assert!(
        error.contains("the model rbf of sales: 17825792 bytes, at most"),
        "{error}"
    );
}

#[test]
fn a_model_whose_bytes_changed_is_an_error_that_names_it() {
    let (_folder, path) = fresh();
    open(&path).save_model(&model("rbf", 1)).unwrap();
    let statement =
        "UPDATE model SET model = CAST(substr(model, 1, 12) || x'55' || substr(model, 14) AS BLOB)";
    Connection::open(&path)
        .unwrap()
        .execute(statement, [])
        .unwrap();
    let error = open(&path).models("sales").unwrap_err();
    assert!(matches!(error, StoreError::Record { .. }), "{error}");
}

#[test]
fn a_submission_comes_back_and_all_is_forgotten_together() {
    let (_folder, path) = fresh();
    let mut depository = open(&path);
    depository.save(&run("sales", 1)).unwrap();
    depository
        .save_submission(&submission("application_1_1"))
        .unwrap();
    depository
        .save_prediction(&prediction("application_1_1", 1))
        .unwrap();
    depository.save_model(&model("rbf", 1)).unwrap();
    let found = depository.submission("application_1_1").unwrap();
    assert_eq!(found, Some(submission("application_1_1")));
    assert_eq!(depository.submissions("sales").unwrap().len(), 1);
    assert_eq!(depository.forget("sales").unwrap(), 1);
    assert_eq!(depository.submissions("sales").unwrap(), []);
    assert_eq!(depository.predictions("sales", 9).unwrap(), []);
    assert_eq!(depository.models("sales").unwrap(), []);
}

/// A file as the first version wrote it, with one run of two slots.
#[test]
fn the_settings_of_the_latest_runs_that_succeeded_are_those_of_their_submissions() {
    let (_folder, path) = fresh();
    let mut depository = open(&path);
    for number in 1..=4 {
        let outcome = if number == 3 {
            Outcome::Failed
        } else {
            Outcome::Succeeded
        };
        depository
            .save(&run_with("sales", number, outcome))
            .unwrap();
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

#[test]
fn a_prediction_of_an_earlier_version_knows_no_settings() {
    let (_folder, path) = fresh();
    let mut depository = open(&path);
    depository
        .save_prediction(&prediction("application_1_3", 1))
        .unwrap();
    let earlier = r#"{"method":"recurring","confidence":0.8,"runs":[],"left_out":[],
        "not_predicted":null,"expected_length_ms":12000}"#;
    let connection = Connection::open(&path).unwrap();
    connection
        .execute("UPDATE prediction SET made = ?1", [earlier])
        .unwrap();
    let made = depository.predictions("sales", 1).unwrap().remove(0).made;
    assert_eq!(made.confidence, Some(0.8));
    assert_eq!((made.reason, made.model), (None, None));
}

fn first_version(path: &Path) {
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE run (
                 id               INTEGER PRIMARY KEY,
                 application_id   TEXT    NOT NULL UNIQUE,
                 application_key  TEXT    NOT NULL,
                 application_name TEXT    NOT NULL,
                 started_ms       INTEGER NOT NULL,
                 ended_ms         INTEGER NOT NULL,
                 outcome          INTEGER NOT NULL
             ) STRICT;
             CREATE INDEX run_by_key ON run (application_key, ended_ms, id);
             CREATE TABLE series (
                 run        INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
                 position   INTEGER NOT NULL,
                 kind       INTEGER NOT NULL,
                 containers INTEGER NOT NULL,
                 slots      BLOB    NOT NULL,
                 PRIMARY KEY (run, position)
             ) STRICT;
             INSERT INTO run VALUES (1, 'application_1_000001', 'sales', 'Sales', 1000, 7000, 0);
             INSERT INTO series VALUES (1, 0, 1, 4,
                 x'00020000803f00000040020000004000000040020000000000000000020000803f0000803f');
             PRAGMA application_id = 0x454c5354;
             PRAGMA user_version = 1;",
        )
        .unwrap();
}

#[test]
fn a_file_of_the_first_version_is_read_without_a_change_and_brought_up_to_date() {
    let (_folder, path) = fresh();
    first_version(&path);
    let before = fs::read(&path).unwrap();
    let check = |depository: &Depository| {
        let runs = depository.latest_runs("sales", 9).unwrap();
        assert_eq!(runs[0].series[0].slots[1].to_array(), [2.0, 2.0, 0.0, 1.0]);
        assert_eq!(runs[0].series[0].kind, ContainerKind::DEFAULT_EXECUTOR);
        assert_eq!(depository.predictions("sales", 9).unwrap(), []);
    };
    let mut reader = Depository::open_existing(&path, Access::Read).unwrap();
    check(&reader);
    reader.save(&run("sales", 2)).unwrap_err();
    drop(reader);
    assert_eq!(fs::read(&path).unwrap(), before);

    let mut depository = open(&path);
    check(&depository);
    depository.save_model(&model("rbf", 1)).unwrap();
    drop(depository);
    check(&open(&path));
}

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
    standby
        .save(&run_with("sales", 1, Outcome::Failed))
        .unwrap();
    standby.save_model(&model("rbf", 6)).unwrap();
    let report = standby.adopt(&snapshot).unwrap();
    let expected = MergeReport {
        added: 3,
        kept: 1,
        models: 0,
    };
    assert_eq!(report, expected);
    let runs = standby.latest_runs("sales", 9).unwrap();
    assert_eq!(
        runs,
        [
            run("sales", 9),
            run("sales", 3),
            run("sales", 2),
            run_with("sales", 1, Outcome::Failed)
        ]
    );
    assert_eq!(standby.predictions_of_run(id).unwrap(), [prediction(id, 1)]);
    assert_eq!(standby.submission(id).unwrap(), Some(submission(id)));
    assert_eq!(standby.models("sales").unwrap(), [model("rbf", 6)]);
    let again = standby.adopt(&snapshot).unwrap();
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
    let error = standby.adopt(&snapshot).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert_eq!(standby.applications().unwrap(), []);
}

#[test]
fn a_snapshot_that_cannot_be_written_leaves_the_older_one() {
    let (folder, path) = fresh();
    let depository = open(&path);
    let target = folder.path().join("gone/published.db");
    let error = depository.snapshot(&target).unwrap_err().to_string();
    assert!(
        error.contains("gone/published.db: cannot write a snapshot"),
        "{error}"
    );
}

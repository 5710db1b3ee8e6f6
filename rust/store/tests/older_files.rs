//! Files and records of earlier versions.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::path::Path;

use common::records::{fresh, model, open, prediction};
use common::run;
use elastane_runs::ContainerKind;
use elastane_store::{Access, Depository};
use rusqlite::Connection;

#[test]
fn a_prediction_of_an_earlier_version_knows_no_settings() {
    let (_folder, path) = fresh();
    let mut depository = open(&path);
    depository.save_prediction(&prediction("application_1_3", 1)).unwrap();
    let earlier = r#"{"method":"recurring","confidence":0.8,"runs":[],"left_out":[],
        "not_predicted":null,"expected_length_ms":12000}"#;
    let connection = Connection::open(&path).unwrap();
    connection.execute("UPDATE prediction SET made = ?1", [earlier]).unwrap();
    let made = depository.predictions_of_run("application_1_3").unwrap().remove(0).made;
    assert_eq!(made.confidence, Some(0.8));
    assert_eq!((made.reason, made.model), (None, None));
}

/// A file as the first version wrote it, with one run of two slots.
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
        assert_eq!(depository.predictions_of_run("application_1_3").unwrap(), []);
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

//! What goes in comes out, from real files.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::{Path, PathBuf};

use common::{run, run_with};
use elastane_runs::Outcome;
use elastane_store::{Access, ApplicationSummary, Depository, MergeReport, StoreErrorKind};
use rusqlite::Connection;
use tempfile::TempDir;

fn fresh() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/depository.db");
    (folder, path)
}

fn open(path: &Path) -> Depository {
    let opened = Depository::open(path).unwrap();
    assert_eq!(opened.moved_aside, None);
    opened.depository
}

fn with_runs(path: &Path, key: &str, numbers: std::ops::Range<i64>) -> Depository {
    let mut depository = open(path);
    for number in numbers {
        depository.save(&run(key, number)).unwrap();
    }
    depository
}

#[test]
fn runs_are_there_after_opening_again() {
    let (_folder, path) = fresh();
    drop(with_runs(&path, "sales", 0..3));
    let runs = open(&path).latest_runs("sales", 10).unwrap();
    assert_eq!(runs, [run("sales", 2), run("sales", 1), run("sales", 0)]);
}

#[test]
fn only_the_latest_runs_of_the_key_are_given() {
    let (_folder, path) = fresh();
    let mut depository = with_runs(&path, "sales", 0..5);
    depository.save(&run("stock", 9)).unwrap();
    let runs = depository.latest_runs("sales", 2).unwrap();
    assert_eq!(runs, [run("sales", 4), run("sales", 3)]);
    assert_eq!(depository.latest_runs("nothing", 2).unwrap(), []);
}

#[test]
fn failed_runs_do_not_hide_those_that_succeeded() {
    let (_folder, path) = fresh();
    let mut depository = with_runs(&path, "sales", 0..2);
    for number in 2..9 {
        let failed = run_with("sales", number, Outcome::Failed);
        depository.save(&failed).unwrap();
    }
    let runs = depository.latest_succeeded_runs("sales", 3).unwrap();
    assert_eq!(runs, [run("sales", 1), run("sales", 0)]);
}

#[test]
fn a_run_with_the_same_id_is_replaced() {
    let (_folder, path) = fresh();
    let mut depository = with_runs(&path, "sales", 0..1);
    let again = run_with("sales", 0, Outcome::CutOff);
    depository.save(&again).unwrap();
    assert_eq!(depository.latest_runs("sales", 9).unwrap(), [again]);
}

#[test]
fn applications_are_summed_up_by_key() {
    let (_folder, path) = fresh();
    let mut depository = with_runs(&path, "sales", 0..3);
    depository.save(&run("etl", 7)).unwrap();
    let summary = |key: &str, name: &str, runs, latest_ms| ApplicationSummary {
        key: key.into(),
        name: name.into(),
        runs,
        latest_ms,
    };
    assert_eq!(
        depository.applications().unwrap(),
        [summary("etl", "etl 7", 1, 7_500), summary("sales", "sales 2", 3, 2_500)]
    );
}

#[test]
fn what_is_forgotten_is_gone_with_its_series() {
    let (_folder, path) = fresh();
    let mut depository = with_runs(&path, "sales", 0..3);
    depository.save(&run("etl", 7)).unwrap();
    assert_eq!(depository.forget("sales").unwrap(), 3);
    assert_eq!(depository.forget("sales").unwrap(), 0);
    assert_eq!(depository.latest_runs("etl", 9).unwrap(), [run("etl", 7)]);
    drop(depository);
    let series: i64 = Connection::open(&path)
        .unwrap()
        .query_row("SELECT count(*) FROM series", [], |row| row.get(0))
        .unwrap();
    assert_eq!(series, 2);
}

#[test]
fn a_merge_adds_what_is_new_and_keeps_what_is_there() {
    let (_folder, into) = fresh();
    let (_other_folder, from) = fresh();
    drop(with_runs(&from, "sales", 1..4));
    let mut depository = open(&into);
    let here = run_with("sales", 1, Outcome::Failed);
    depository.save(&here).unwrap();
    let report = depository.merge(&from).unwrap();
    assert_eq!(report, MergeReport { added: 2, kept: 1, models: 0 });
    assert_eq!(
        depository.latest_runs("sales", 9).unwrap(),
        [run("sales", 3), run("sales", 2), here]
    );
    let again = depository.merge(&from).unwrap();
    assert_eq!(again, MergeReport { added: 0, kept: 3, models: 0 });
}

#[test]
fn a_merge_from_a_file_that_is_not_there_makes_none() {
    let (_folder, path) = fresh();
    let missing = path.with_file_name("missing.db");
    let error = open(&path).merge(&missing).unwrap_err();
    assert!(matches!(error.kind, StoreErrorKind::Missing), "{error}");
    assert!(!missing.exists());
}

#[test]
fn an_amount_that_is_none_is_refused_and_nothing_is_changed() {
    let (_folder, path) = fresh();
    let mut depository = with_runs(&path, "sales", 0..1);
    let mut bad = run("sales", 0);
    bad.series[1].slots[4].cpu_cores = f64::NAN;
    let error = depository.save(&bad).unwrap_err().to_string();
    assert!(error.contains("run application_1_000000 of sales: cpu in slot 4 is NaN"), "{error}");
    assert_eq!(depository.latest_runs("sales", 9).unwrap(), [run("sales", 0)]);
}

#[test]
fn a_broken_series_is_an_error_that_names_its_run() {
    let (_folder, path) = fresh();
    drop(with_runs(&path, "sales", 0..2));
    let changed = Connection::open(&path)
        .unwrap()
        .execute("UPDATE series SET slots = x'0003' WHERE run = 1", [])
        .unwrap();
    assert_eq!(changed, 2);
    let error = open(&path).latest_runs("sales", 9).unwrap_err();
    assert!(matches!(error.kind, StoreErrorKind::Record(..)), "{error}");
    assert!(error.to_string().contains("application_1_000000"), "{error}");
}

#[test]
fn reading_changes_nothing_and_needs_a_file() {
    let (_folder, path) = fresh();
    let error = Depository::open_existing(&path, Access::Read).unwrap_err();
    assert!(matches!(error.kind, StoreErrorKind::Missing), "{error}");
    drop(with_runs(&path, "sales", 0..1));
    let mut reader = Depository::open_existing(&path, Access::Read).unwrap();
    assert_eq!(reader.latest_runs("sales", 9).unwrap(), [run("sales", 0)]);
    reader.save(&run("sales", 1)).unwrap_err();
    reader.forget("sales").unwrap_err();
}

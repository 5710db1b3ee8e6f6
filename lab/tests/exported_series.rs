//! `elastane-lab export-series`, and `evaluate` of what it writes.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
#[allow(dead_code, reason = "another test's part")]
#[path = "../../rust/cli/tests/common/runs.rs"]
mod runs;

use std::fs;
use std::path::PathBuf;

use common::{lab, text};
use elastane_predict::Outcome::{Failed, Succeeded};
use elastane_predict::Run;
use runs::{SALES, depository, run, run_of_two_kinds};
use tempfile::TempDir;

const FOLDER: &str = "app_SPARK_alice_root.etl_Nightly_sales_sales.py_--day";

/// The folder of the series of these runs, and what was printed.
fn exported(runs: &[Run]) -> (TempDir, PathBuf, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    depository(&path, runs);
    let series = folder.path().join("series");
    let export = ["export-series", text(&series), "--depository", text(&path)];
    let printed = lab(&export).printed();
    assert!(lab(&export).refused().contains("it is not empty"));
    (folder, series, printed)
}

/// Five runs; one failed, and one has an application master alone: nothing of the executors to export.
fn five_runs() -> Vec<Run> {
    let mut runs: Vec<_> = (1..=5).map(|number| run(SALES, number, Succeeded)).collect();
    runs[3].outcome = Failed;
    runs[4].series.truncate(1);
    runs
}

#[test]
fn series_are_exported_as_a_folder_of_recorded_runs() {
    let (_folder, series, printed) = exported(&five_runs());
    assert_eq!(
        printed,
        format!(
            "{}: 1 application, 4 runs\n1 run left out: no executor lived for 6 s in it\n",
            series.display()
        )
    );
    let written = series.join(FOLDER);
    let csv = fs::read_to_string(written.join("00001-application_1763736000000_0001.csv")).unwrap();
    assert_eq!(csv.lines().nth(2).unwrap(), "3,0.2,367001600,0,20000000");
    let settings = fs::read_to_string(written.join("settings.json")).unwrap();
    assert!(settings.contains(SALES), "{settings}");
}

#[test]
fn exported_series_are_what_evaluate_reads() {
    let (_folder, series, _) = exported(&five_runs());
    let evaluated = lab(&["evaluate", text(&series)]).printed();
    // Two runs have too few earlier runs, and the failed run is not predicted.
    assert!(evaluated.starts_with("1 run predicted"), "{evaluated}");
}

#[test]
fn progress_by_the_stages_that_runs_told_is_scored() {
    let mut runs: Vec<_> = (1..=3).map(|number| run(SALES, number, Succeeded)).collect();
    for series in runs.iter_mut().flat_map(|run| &mut run.series) {
        let length_ms = 3_000 * series.slots.len() as u32;
        series.stage_ends_ms = vec![length_ms / 4, length_ms / 2];
    }
    let (_folder, series, _) = exported(&runs);
    let evaluated = lab(&["evaluate", text(&series)]).printed();
    // Runs that are alike are where their stages say, to the millisecond.
    assert!(evaluated.contains("\nof 1 that told their stages: 0.000 by these, 0."), "{evaluated}");
    let (_folder, series, _) = exported(&five_runs());
    let evaluated = lab(&["evaluate", text(&series)]).printed();
    assert!(!evaluated.contains("told their stages"), "{evaluated}");
}

#[test]
fn executors_of_two_priorities_are_exported_each_into_their_own_folder() {
    let runs: Vec<_> = (1..=3).map(run_of_two_kinds).collect();
    let (_folder, series, printed) = exported(&runs);
    assert!(printed.ends_with("series: 1 application, 3 runs\n"), "{printed}");
    let mut folders: Vec<_> = fs::read_dir(&series)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    folders.sort();
    assert_eq!(folders, [0, 2].map(|priority| format!("{FOLDER}-priority-{priority}")));
    let evaluated = lab(&["evaluate", text(&series)]);
    assert_eq!(evaluated.code, Some(0), "{}", evaluated.stderr);
}

//! `elastane-lab evaluate` reads the output of `elastane profiles export --series`.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
#[allow(dead_code, reason = "another test's part")]
#[path = "../../rust/cli/tests/common/runs.rs"]
mod runs;

use std::path::PathBuf;

use clap::Parser;
use common::{lab, text};
use elastane_cli::profiles::Profiles;
use elastane_predict::Outcome::{Failed, Succeeded};
use elastane_predict::Run;
use runs::{SALES, depository, run, run_of_two_kinds};
use tempfile::TempDir;

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    profiles: Profiles,
}

/// The exported series of these runs, and the temporary folder that holds them.
fn exported(runs: &[Run]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    depository(&path, runs);
    let series = folder.path().join("series");
    let arguments =
        ["profiles", "export", "--all", "--series", text(&series), "--depository", text(&path)];
    let command = Command::parse_from(arguments);
    command.profiles.run(&mut Vec::new()).unwrap();
    (folder, series)
}

#[test]
fn evaluate_reads_exported_series() {
    let mut runs: Vec<_> = (1..=5).map(|number| run(SALES, number, Succeeded)).collect();
    runs[3].outcome = Failed;
    // The application master only: there is no series of executors.
    runs[4].series.truncate(1);
    let (_folder, series) = exported(&runs);
    let evaluated = lab(&["evaluate", text(&series)]).printed();
    // Two runs have too few earlier runs, and the failed run is not predicted.
    assert!(evaluated.starts_with("1 run predicted"), "{evaluated}");
}

#[test]
fn exported_series_of_two_kinds_of_executors_are_read() {
    let runs: Vec<_> = (1..=3).map(run_of_two_kinds).collect();
    let (_folder, series) = exported(&runs);
    let evaluated = lab(&["evaluate", text(&series)]);
    assert_eq!(evaluated.code, Some(0), "{}", evaluated.stderr);
}

//! What is removed, and what stays.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::PathBuf;

use common::{run, run_with};
use elastane_core::Resources;
use elastane_predict::{Outcome, Run};
use elastane_store::{Depository, Pruned, Retention};
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
    Retention {
        keep_ms: keep_s * 1_000,
        most_bytes,
        profile_runs: 3,
    }
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
        series.slots = (0..1_000)
            .map(|_| {
                let mut next = || {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    (state >> 33) as f64
                };
                Resources::from_array([next(), next(), next(), next()])
            })
            .collect();
    }
    run
}

#[test]
fn old_runs_go_but_those_of_a_profile_while_the_application_runs() {
    let (_folder, _path, mut depository) = fresh();
    for number in [1, 2, 3, 4, 95] {
        depository.save(&run("alive", number)).unwrap();
    }
    depository
        .save(&run_with("alive", 5, Outcome::Failed))
        .unwrap();
    for number in [6, 7] {
        depository.save(&run("gone", number)).unwrap();
    }
    let pruned = depository.prune(&retention(10, u64::MAX), NOW_MS).unwrap();
    assert_eq!(numbers(&depository, "alive"), [95, 4, 3]);
    assert_eq!(numbers(&depository, "gone"), [] as [i64; 0]);
    assert_eq!((pruned.old_runs, pruned.runs()), (5, 5));
    let again = depository.prune(&retention(10, u64::MAX), NOW_MS).unwrap();
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
    let pruned = depository
        .prune(&retention(1_000, used - 1), NOW_MS)
        .unwrap();
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
        depository
            .save(&large(&format!("application {number}"), number))
            .unwrap();
    }
    let used = depository.used_bytes().unwrap();
    let pruned = depository
        .prune(&retention(1_000, used / 4 * 3), NOW_MS)
        .unwrap();
    assert_eq!((pruned.spare_runs, pruned.profile_runs), (0, 100));
    assert_eq!(numbers(&depository, "application 99"), [] as [i64; 0]);
    assert_eq!(numbers(&depository, "application 100"), [100]);
    assert!(depository.used_bytes().unwrap() <= used / 4 * 3);
}

//! The settings of what stays reach the depository.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use common::{START_MS, open_with, register, run};
use elastane_core::Resources;
use elastane_predict::{ContainerKind, Outcome, Run, RunSeries};
use elastane_runtime::Elastane;
use elastane_store::{Access, Depository};

const DAY_MS: i64 = 86_400_000;

fn open_existing(folder: &Path) -> Depository {
    Depository::open_existing(&folder.join("depository.sqlite"), Access::Read).unwrap()
}

/// Ticks until the depository is as it is wanted.
fn tick_until(elastane: &Elastane, folder: &Path, now_ms: i64, holds: fn(&Depository) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds(&open_existing(folder)) {
        assert!(Instant::now() < deadline, "nothing is removed");
        elastane.bookable_changes(9, now_ms);
        thread::sleep(Duration::from_millis(10));
    }
}

fn runs(depository: &Depository) -> usize {
    let applications = depository.applications().unwrap();
    applications.iter().map(|it| it.runs).sum()
}

#[test]
fn a_run_goes_once_it_is_older_than_the_days_that_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let keep = [("depository.keep-days", "2")];
    let elastane = open_with(folder.path(), "observe", &keep);
    let node = register(&elastane);
    let submission = common::submission("application_1_0001");
    run(&elastane, node, &submission, START_MS, &[1.0; 3], true);
    elastane.close();

    // Closing waits for what is being removed.
    let elastane = open_with(folder.path(), "observe", &keep);
    elastane.bookable_changes(9, START_MS + 2 * DAY_MS);
    elastane.close();
    assert_eq!(runs(&open_existing(folder.path())), 1, "two days are kept");
    let elastane = open_with(folder.path(), "observe", &keep);
    let later_ms = START_MS + 2 * DAY_MS + 60_000;
    tick_until(&elastane, folder.path(), later_ms, |it| runs(it) == 0);
    elastane.close();
}

/// Of 64 kB that do not compress, and that no profile is made of.
fn large(number: i64) -> Run {
    let mut state = number as u64 + 1;
    let mut amount = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as f64
    };
    Run {
        application_key: "large".to_owned(),
        application_id: format!("application_1_{number:04}"),
        application_name: "large".to_owned(),
        started_ms: START_MS,
        ended_ms: START_MS + number,
        outcome: Outcome::Failed,
        series: vec![RunSeries {
            stage_ends_ms: Vec::new(),
            kind: ContainerKind::DEFAULT_EXECUTOR,
            containers: 1,
            slots: (0..4_000)
                .map(|_| Resources::from_array([amount(), amount(), amount(), amount()]))
                .collect(),
        }],
    }
}

#[test]
fn the_oldest_runs_go_above_the_size_that_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.sqlite");
    let mut depository = Depository::open(&path).unwrap().depository;
    for number in 0..200 {
        depository.save(&large(number)).unwrap();
    }
    assert!(depository.used_bytes().unwrap() > 10_500_000);
    drop(depository);
    let elastane = open_with(folder.path(), "observe", &[("depository.max-mb", "10")]);
    tick_until(&elastane, folder.path(), START_MS + DAY_MS, |it| {
        it.used_bytes().unwrap() <= 10_000_000
    });
    elastane.close();
    let depository = open_existing(folder.path());
    assert!(depository.run("application_1_0199").unwrap().is_some());
    assert!(depository.run("application_1_0000").unwrap().is_none());
}

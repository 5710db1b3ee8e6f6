//! A depository that is damaged, at the start and while the scheduler works.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
#[path = "common/messages.rs"]
mod messages;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use common::{
    GB, NODE, START_MS, commit, free, open, register, report, run_of, submission, waiting,
};
use elastane_core::cluster::NodeId;
use elastane_protocol::VERSION;
use elastane_runtime::Elastane;
use elastane_store::{Access, Depository, OpenRun, SubmissionRecord};
use messages::{listen, messages};

const RUNNING: &str = "application_1_0007";
const CONTAINER: &str = "container_1_0007_01_000002";

/// How often it was said that the file of this folder went aside.
fn times_told(folder: &Path) -> usize {
    let wanted = format!(
        "the depository {} was damaged and is now {};",
        file(folder).display(),
        aside(folder, 1).display()
    );
    let messages = messages();
    let told = messages.iter().filter(|(_, it)| it.starts_with(&wanted));
    told.count()
}

fn file(folder: &Path) -> PathBuf {
    folder.join("depository.sqlite")
}

fn aside(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("depository.sqlite.damaged-{number}"))
}

/// Every page, those in the log too.
fn damage(folder: &Path) {
    for part in ["", "-wal"] {
        let path = folder.join(format!("depository.sqlite{part}"));
        let Ok(mut damaged) = fs::OpenOptions::new().write(true).open(&path) else {
            continue;
        };
        let length = damaged.metadata().unwrap().len() as usize;
        damaged.write_all(&vec![0xAB; length]).unwrap();
    }
}

/// Then nothing that a connection has read before is taken as true.
fn written_elsewhere(folder: &Path) {
    let mut depository = Depository::open_existing(&file(folder), Access::Write).unwrap();
    let submission = SubmissionRecord {
        application_id: "application_9_0001".to_owned(),
        application_key: "another".to_owned(),
        application_name: "another".to_owned(),
        submitted_ms: 0,
        signature: Vec::new(),
        settings: [].into(),
    };
    depository.save_submission(&submission).unwrap();
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        let messages = messages();
        assert!(Instant::now() < deadline, "{what}: {messages:#?}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A report of the running application in each slot.
fn reports(elastane: &Elastane, slots: std::ops::RangeInclusive<u64>) -> i64 {
    let mut now_ms = START_MS;
    for slot in slots {
        now_ms = START_MS + slot as i64 * 3_000;
        // Memory says which slot it was.
        let body = report(1_000_000 + slot, &[(CONTAINER, 1.0, slot * GB / 100)]);
        elastane.report(NODE, VERSION, &body, now_ms).unwrap();
        elastane.bookable_changes(9, now_ms);
    }
    now_ms
}

fn open_runs(folder: &Path) -> Vec<OpenRun> {
    let depository = Depository::open_existing(&file(folder), Access::Write);
    depository.map_or_else(|_| Vec::new(), |mut it| it.open_runs().unwrap().0)
}

/// The memory in each slot that the depository has of the running application.
fn recorded(folder: &Path) -> Vec<u64> {
    let runs = open_runs(folder);
    let Some(run) = runs.iter().find(|run| run.application_id == RUNNING) else {
        return Vec::new();
    };
    let series = run.recorder.series();
    let slots = series.iter().flat_map(|series| &series.slots);
    slots.map(|slot| slot.memory_bytes as u64).collect()
}

fn expected(slots: std::ops::RangeInclusive<u64>) -> Vec<u64> {
    slots.map(|slot| slot * GB / 100).collect()
}

/// Whether it is known what the application was given.
fn is_submitted(folder: &Path, id: &str) -> bool {
    let depository = Depository::open_existing(&file(folder), Access::Read).unwrap();
    depository.submission(id).unwrap().is_some()
}

fn status(elastane: &Elastane) -> serde_json::Value {
    serde_json::from_str(&elastane.status(START_MS)).unwrap()
}

fn runs(folder: &Path) -> usize {
    let depository = Depository::open_existing(&file(folder), Access::Read).unwrap();
    let applications = depository.applications().unwrap();
    applications.iter().map(|it| it.runs).sum()
}

/// A node with the application that runs, of which some slots are saved.
fn begin(folder: &Path) -> (Elastane, NodeId) {
    listen();
    let elastane = open(folder, "enforce");
    let node = register(&elastane);
    let application = elastane.application_added(&submission(RUNNING), START_MS);
    assert!(commit(&elastane, CONTAINER, application, node, START_MS));
    reports(&elastane, 1..=5);
    wait_until("nothing is recorded", || recorded(folder) == expected(1..=5));
    (elastane, node)
}

#[test]
fn a_file_that_is_damaged_at_the_start_is_moved_and_a_new_one_learns() {
    listen();
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "observe");
    let node = register(&elastane);
    run_of(&elastane, node, "application_1_0001", START_MS, 1.0, true);
    elastane.close();
    damage(folder.path());
    let damaged = fs::read(file(folder.path())).unwrap();

    let elastane = open(folder.path(), "observe");
    assert_eq!(times_told(folder.path()), 1);
    assert_eq!(fs::read(aside(folder.path(), 1)).unwrap(), damaged);
    assert_eq!(status(&elastane)["profiles"], 0);
    let node = register(&elastane);
    run_of(&elastane, node, "application_1_0002", START_MS, 1.0, true);
    elastane.close();
    assert_eq!(runs(folder.path()), 1);
    assert_eq!(times_told(folder.path()), 1);
    assert!(!aside(folder.path(), 2).exists());
}

#[test]
fn a_file_that_is_damaged_meanwhile_loses_nothing_of_what_runs() {
    let folder = tempfile::tempdir().unwrap();
    let (elastane, node) = begin(folder.path());
    damage(folder.path());
    // Whoever saves its run finds the damage.
    let start_ms = START_MS + 6_000;
    run_of(&elastane, node, "application_1_0008", start_ms, 1.0, true);
    reports(&elastane, 6..=20);
    wait_until("it is not moved", || aside(folder.path(), 1).exists());
    let now_ms = reports(&elastane, 21..=22);
    wait_until("what runs is not in the new file", || {
        elastane.bookable_changes(9, now_ms);
        recorded(folder.path()) == expected(1..=22)
    });
    assert_eq!(times_told(folder.path()), 1);
    // The run is saved by another thread than the records.
    wait_until("the run is not in the new file", || runs(folder.path()) == 1);
    let next = waiting(&elastane, "application_1_0009", "weekly", 1, 1);
    let order = elastane.round(node, free(), now_ms).unwrap();
    assert_eq!(order, [next]);
    assert!(commit(&elastane, "another", next, node, now_ms));

    for id in [RUNNING, "application_1_0008", "application_1_0009"] {
        wait_until(id, || is_submitted(folder.path(), id));
    }

    // The process ends here and says nothing.
    std::mem::forget(elastane);
    let elastane = open(folder.path(), "observe");
    let node = register(&elastane);
    let now_ms = START_MS + 66_000;
    let application = elastane.application_added(&submission(RUNNING), now_ms);
    assert!(commit(&elastane, CONTAINER, application, node, now_ms));
    assert_eq!(status(&elastane)["runs_resumed"], 1);
    elastane.close();
    assert!(!aside(folder.path(), 2).exists());
}

#[test]
fn damage_that_is_found_while_recording_waits_for_no_run_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let (elastane, _) = begin(folder.path());
    written_elsewhere(folder.path());
    damage(folder.path());
    reports(&elastane, 6..=6);
    wait_until("it is not moved", || aside(folder.path(), 1).exists());
    let now_ms = reports(&elastane, 7..=8);
    wait_until("what runs is not in the new file", || {
        elastane.bookable_changes(9, now_ms);
        recorded(folder.path()) == expected(1..=8)
    });
    assert_eq!(times_told(folder.path()), 1);
    elastane.close();
    assert!(!aside(folder.path(), 2).exists());
}

#[test]
fn damage_that_is_found_at_the_very_end_loses_nothing_either() {
    let folder = tempfile::tempdir().unwrap();
    let (elastane, _) = begin(folder.path());
    written_elsewhere(folder.path());
    damage(folder.path());
    reports(&elastane, 6..=6);
    elastane.close();
    assert!(aside(folder.path(), 1).exists());
    assert_eq!(recorded(folder.path()), expected(1..=6));
}

#[test]
fn what_has_not_come_back_yet_goes_over_to_the_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let (elastane, _) = begin(folder.path());
    elastane.close();
    let elastane = open(folder.path(), "enforce");
    let before = open_runs(folder.path());
    let node = register(&elastane);
    damage(folder.path());
    let start_ms = START_MS + 20_000;
    run_of(&elastane, node, "application_1_0008", start_ms, 1.0, true);
    let now_ms = start_ms + 60_000;
    elastane.bookable_changes(9, now_ms);
    wait_until("it is not moved", || aside(folder.path(), 1).exists());
    let next = elastane.application_added(&submission("application_1_0009"), now_ms);
    assert!(commit(&elastane, "another", next, node, now_ms));
    wait_until("what has not come back is not in the new file", || {
        elastane.bookable_changes(9, now_ms + 3_000);
        open_runs(folder.path()).first() == before.first()
    });
    elastane.close();
}

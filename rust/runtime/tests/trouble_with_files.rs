//! Depositories and journals that cannot be used at the start, and can later: nothing stops for them.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
#[path = "common/messages.rs"]
mod messages;

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use common::{START_MS, commit, free, journal, open, register, run_of, waiting};
use elastane_runtime::Elastane;
use elastane_store::{Access, Depository};
use messages::{listen, messages};
use rusqlite::Connection;

const HOUR_MS: i64 = 3_600_000;
const SOMEBODY: u32 = 12_345;

fn file(folder: &Path) -> PathBuf {
    folder.join("depository.sqlite")
}

fn status(elastane: &Elastane) -> serde_json::Value {
    serde_json::from_str(&elastane.status(START_MS)).unwrap()
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}: {:#?}", messages());
        thread::sleep(Duration::from_millis(5));
    }
}

fn wait_for(elastane: &Elastane, part: &str) {
    wait_until(part, || status(elastane)[format!("{part}_in_service")] == true);
}

fn times_told(words: &[&str]) -> usize {
    let messages = messages();
    let told = messages.iter().filter(|(_, it)| words.iter().all(|word| it.contains(word)));
    told.count()
}

/// A run is learned from, and the depository is closed.
fn learn_one(folder: &Path) {
    listen();
    let elastane = open(folder, "observe");
    let node = register(&elastane);
    run_of(&elastane, node, "application_1_0001", START_MS, 1.0, true);
    elastane.close();
}

fn has_run(folder: &Path, number: u8) -> bool {
    let depository = Depository::open_existing(&file(folder), Access::Read).unwrap();
    depository.run(&format!("application_1_{number:04}")).unwrap().is_some()
}

/// Everything but what was learned is as it should be.
fn schedules(elastane: &Elastane) {
    let node = register(elastane);
    let application = waiting(elastane, "application_1_0005", "weekly", 1, 1);
    elastane
        .report(common::NODE, elastane_protocol::VERSION, &common::report(1, &[]), START_MS)
        .unwrap();
    assert_eq!(elastane.round(node, free(), START_MS).unwrap(), [application]);
    assert!(commit(elastane, "container", application, node, START_MS));
    elastane.finished("container", START_MS);
    elastane.application_removed(application, false, START_MS);
}

/// Is replaced from the start, and its runs are learned from once it can be used.
fn is_replaced_until(folder: &Path, trouble: &str, repair: impl FnOnce()) {
    let path = file(folder).display().to_string();
    let elastane = open(folder, "enforce");
    assert_eq!(status(&elastane)["depository_in_service"], false);
    assert!(status(&elastane)["depository_failures"].as_u64() > Some(0));
    schedules(&elastane);
    let node = register(&elastane);
    run_of(&elastane, node, "application_1_0002", START_MS + HOUR_MS, 1.0, true);
    let later_ms = START_MS + 2 * HOUR_MS;
    elastane.bookable_changes(9, later_ms);
    wait_until("it is learned from", || status(&elastane)["profiles"] != 0);
    assert_eq!(times_told(&[&path, trouble]), 1, "{:#?}", messages());

    repair();
    wait_for(&elastane, "depository");
    wait_until("what was learned meanwhile is there", || has_run(folder, 2));
    assert_eq!(times_told(&[&path, "is used again"]), 1);
    run_of(&elastane, node, "application_1_0003", later_ms, 1.0, true);
    elastane.close();
    assert!((1..=3).all(|number| has_run(folder, number)));
    assert_eq!(times_told(&[&path, trouble]), 1, "{:#?}", messages());
}

#[test]
fn a_depository_that_another_process_locks_is_used_once_it_is_free() {
    let folder = tempfile::tempdir().unwrap();
    learn_one(folder.path());
    let other = Connection::open(file(folder.path())).unwrap();
    other.pragma_update(None, "locking_mode", "EXCLUSIVE").unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    is_replaced_until(folder.path(), "another process locks it", || drop(other));
}

#[test]
fn a_depository_of_a_newer_schema_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    learn_one(folder.path());
    let open = || Connection::open(file(folder.path())).unwrap();
    let ours: i32 = open().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    let version = |version: i32| {
        open().pragma_update(None, "user_version", version).unwrap();
        open().execute("UPDATE schema SET readable_from = ?1", [version]).unwrap();
    };
    version(99);
    is_replaced_until(folder.path(), "schema version 99", || version(ours));
}

#[test]
fn a_link_is_not_used_before_it_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    learn_one(folder.path());
    let (path, elsewhere) = (file(folder.path()), folder.path().join("elsewhere"));
    fs::rename(&path, &elsewhere).unwrap();
    symlink(&elsewhere, &path).unwrap();
    is_replaced_until(folder.path(), "is a symbolic link", || {
        fs::rename(&elsewhere, &path).unwrap();
    });
}

#[test]
fn somebody_elses_depository_is_not_used() {
    let folder = tempfile::tempdir().unwrap();
    learn_one(folder.path());
    let path = file(folder.path());
    if chown(&path, Some(SOMEBODY), None).is_err() {
        // Only root can give a file away.
        return;
    }
    is_replaced_until(folder.path(), "belongs to user 12345", || {
        chown(&path, Some(0), None).unwrap();
    });
}

#[test]
fn a_journal_that_cannot_be_opened_is_tried_again() {
    listen();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decisions.jsonl");
    fs::create_dir(&path).unwrap();
    let elastane = open(folder.path(), "enforce");
    let name = path.display().to_string();
    schedules(&elastane);
    wait_until("a record is lost", || status(&elastane)["journal_dropped"].as_u64() > Some(0));
    assert_eq!(status(&elastane)["journal_in_service"], false);
    assert!(status(&elastane)["journal_failures"].as_u64() > Some(0));
    assert_eq!(times_told(&[&name, "cannot be written"]), 1, "{:#?}", messages());

    fs::remove_dir(&path).unwrap();
    wait_for(&elastane, "journal");
    schedules(&elastane);
    elastane.close();
    assert!(!journal(folder.path()).is_empty());
    assert_eq!(times_told(&[&name, "is written again"]), 1);
}

#[test]
#[ignore = "mounts a file system, which needs root"]
fn a_disk_that_can_only_be_read_stops_nothing_and_what_is_known_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let mount = |options: &str| {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(folder.path());
        assert!(mount.status().unwrap().success());
    };
    mount("size=8m");
    learn_one(folder.path());
    mount("remount,ro");
    is_replaced_until(folder.path(), "cannot open it", || mount("remount,rw"));
    let unmounted = Command::new("umount").arg("-l").arg(folder.path()).status();
    assert!(unmounted.unwrap().success());
}

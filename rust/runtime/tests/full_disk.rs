//! A disk without room, and with room again.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
#[path = "common/messages.rs"]
mod messages;

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use common::{NODE, START_MS, commit, open, open_with, register, report, run_of, submission};
use elastane_core::cluster::{ApplicationId, NodeId};
use elastane_protocol::VERSION;
use elastane_runtime::Elastane;
use elastane_store::{Access, Depository};
use messages::{listen, messages};

const NOT_SAVED: &str = "records of running applications are not saved, scheduling goes on and saving \
    is tried again: ";
const SAVED_AGAIN: &str = "records of running applications are saved again";

/// What was said about saving what runs, in the order in which it was said.
fn told_of_running(disk: &Mounted) -> Vec<String> {
    let full = format!(
        "{NOT_SAVED}depository {}: cannot save records of running applications, the disk is full",
        disk.depository()
    );
    let messages = messages();
    let saver = messages.iter().find(|(_, message)| *message == full);
    assert!(saver.is_some(), "{full} in {messages:#?}");
    // Closing may save the rest itself.
    let threads = [saver.unwrap().0, thread::current().id()];
    let told = messages
        .iter()
        .filter(|(thread, message)| threads.contains(thread) && message.contains("running app"));
    told.map(|(_, message)| message.replace(&full, NOT_SAVED)).collect()
}

/// How often it was said of the depository on this disk.
fn times_told(disk: &Mounted, before: &str, after: &str) -> usize {
    let before = format!("{before}depository {}: cannot ", disk.depository());
    let messages = messages();
    let told = messages
        .iter()
        .filter(|(_, message)| message.starts_with(&before) && message.ends_with(after));
    told.count()
}

/// A file system of its own, as large as it was asked for.
struct Mounted(tempfile::TempDir);

impl Mounted {
    fn new(size: &str) -> Self {
        listen();
        let folder = tempfile::tempdir().unwrap();
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(folder.path())
            .status();
        assert!(done.unwrap().success());
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn depository(&self) -> String {
        self.path().join("depository.sqlite").display().to_string()
    }

    /// Takes all room that is left.
    fn fill(&self) {
        std::fs::write(self.path().join("filler"), vec![1; 4 << 20]).unwrap_err();
    }

    fn make_room(&self) {
        std::fs::remove_file(self.path().join("filler")).unwrap();
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.path()).status();
    }
}

fn status(elastane: &Elastane) -> serde_json::Value {
    serde_json::from_str(&elastane.status(START_MS)).unwrap()
}

/// Takes a report every 3 s of the test's time until something holds.
fn report_until(elastane: &Elastane, number: &mut u64, holds: impl Fn(&Elastane) -> bool) {
    report_together_until(elastane, number, 1, holds);
}

/// So many reports go to the disk at once.
fn report_together_until(
    elastane: &Elastane,
    number: &mut u64,
    together: u64,
    holds: impl Fn(&Elastane) -> bool,
) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds(elastane) {
        assert!(Instant::now() < deadline, "{}", status(elastane));
        *number += 1;
        let now_ms = START_MS + *number as i64 * 3_000;
        let names: Vec<_> = (0..100).map(|number| format!("container-{number}")).collect();
        let samples: Vec<_> = names.iter().map(|name| (name.as_str(), 1.0, *number)).collect();
        let body = report(*number, &samples);
        elastane.report(NODE, VERSION, &body, now_ms).unwrap();
        if !number.is_multiple_of(together) {
            continue;
        }
        elastane.bookable_changes(9, now_ms);
        thread::sleep(Duration::from_millis(1));
    }
}

/// An application of a hundred containers is being recorded when its disk becomes full. Gives the
/// node, the application and how many reports there were.
fn until_full(elastane: &Elastane, disk: &Mounted) -> (NodeId, ApplicationId, u64) {
    let node = register(elastane);
    let application = elastane.application_added(&submission("application_1_0001"), START_MS);
    for number in 0..100 {
        let container = format!("container-{number}");
        assert!(commit(elastane, &container, application, node, START_MS));
    }
    let mut number = 0;
    report_until(elastane, &mut number, |_| number_of_slots(disk.path()) > 3);
    disk.fill();
    (node, application, number)
}

/// There is room again, and the slots that could not be saved are.
fn until_made_up_for(elastane: &Elastane, disk: &Mounted, number: &mut u64) {
    disk.make_room();
    let missing = *number as usize;
    report_until(elastane, number, |_| number_of_slots(disk.path()) > missing);
}

#[test]
#[ignore = "mounts a file system, which needs root"]
fn a_full_disk_stops_no_scheduling_and_is_made_up_for_once_there_is_room() {
    let disk = Mounted::new("2m");
    let elastane = open(disk.path(), "observe");
    let (node, application, mut number) = until_full(&elastane, &disk);
    report_until(&elastane, &mut number, |elastane| {
        status(elastane)["checkpoints_failed"].as_u64() > Some(3)
    });
    assert!(commit(&elastane, "another", application, node, START_MS));
    assert_eq!(told_of_running(&disk), [NOT_SAVED]);

    until_made_up_for(&elastane, &disk, &mut number);
    assert_eq!(status(&elastane)["samples_lost"], 0);
    elastane.close();
    assert_eq!(told_of_running(&disk), [NOT_SAVED, SAVED_AGAIN]);
}

#[test]
#[ignore = "mounts a file system, which needs root"]
fn a_disk_that_is_full_for_long_loses_nothing_of_what_runs_on() {
    let disk = Mounted::new("3m");
    // The journal would take the room.
    let elastane = open_with(disk.path(), "observe", &[("journal.file", "")]);
    let (_, _, mut number) = until_full(&elastane, &disk);
    report_together_until(&elastane, &mut number, 200, |elastane| {
        status(elastane)["samples_lost"].as_u64() > Some(0)
    });

    until_made_up_for(&elastane, &disk, &mut number);
    elastane.close();
    let saved: Vec<u64> = memory(disk.path()).collect();
    assert_eq!(saved, (1..=number).collect::<Vec<_>>());
    let dropped = "more than 200000 samples of running applications wait to be saved and are dropped: \
        what runs is saved as a whole once that works again";
    assert_eq!(told_of_running(&disk), [NOT_SAVED, dropped, SAVED_AGAIN]);
}

#[test]
#[ignore = "mounts a file system, which needs root"]
fn a_disk_that_is_full_at_the_start_keeps_nobody_from_scheduling_by_what_is_known() {
    let disk = Mounted::new("2m");
    let elastane = open(disk.path(), "observe");
    let node = register(&elastane);
    run_of(&elastane, node, "application_1_0001", START_MS, 1.0, true);
    elastane.close();
    disk.fill();

    let elastane = open(disk.path(), "observe");
    let substitute = std::env::temp_dir().join(format!("elastane-{}-0", std::process::id()));
    let place = substitute.join("depository.sqlite");
    let told = format!(
        ", the disk is full; scheduling goes on, what is learned is kept in {}, and the depository is \
         tried again at least every 60 s",
        place.display()
    );
    assert_eq!(times_told(&disk, "", &told), 1);
    assert_eq!(status(&elastane)["profiles"], 1);
    let node = register(&elastane);
    let later_ms = START_MS + 3_600_000;
    run_of(&elastane, node, "application_1_0002", later_ms, 1.0, true);
    elastane.close();

    disk.make_room();
    let elastane = open(disk.path(), "observe");
    assert_eq!(status(&elastane)["profiles"], 1, "the old file is as it was");
    elastane.close();
    std::fs::remove_dir_all(substitute).unwrap();
}

#[test]
#[ignore = "mounts a file system, which needs root"]
fn what_was_submitted_and_predicted_while_the_disk_was_full_is_kept_with_its_run() {
    let disk = Mounted::new("2m");
    let elastane = open_with(disk.path(), "observe", &[("journal.file", "")]);
    let node = register(&elastane);
    run_of(&elastane, node, "application_1_0001", START_MS, 1.0, true);
    let later_ms = START_MS + 3_600_000;
    elastane.bookable_changes(9, later_ms);
    let path = disk.path().join("depository.sqlite");
    let read = || Depository::open_existing(&path, Access::Read).unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while status(&elastane)["profiles"] != 1 {
        assert!(Instant::now() < deadline, "{}", status(&elastane));
        thread::sleep(Duration::from_millis(5));
    }
    disk.fill();

    let id = "application_1_0002";
    run_of(&elastane, node, id, later_ms, 1.0, true);
    // It was looked at, and nothing of it could be saved.
    while status(&elastane)["foreseen_by_runs"] != 1 {
        assert!(Instant::now() < deadline, "{}", status(&elastane));
        thread::sleep(Duration::from_millis(5));
    }
    elastane.bookable_changes(9, later_ms + 60_000);
    assert_eq!(read().submission(id).unwrap(), None);
    let waits = "submissions and predictions are not saved, scheduling goes on and saving is \
        tried again: ";
    assert_eq!(times_told(&disk, waits, ", the disk is full"), 1);
    disk.make_room();
    elastane.close();
    assert!(read().run(id).unwrap().is_some());
    assert!(read().submission(id).unwrap().is_some());
    let predictions = read().predictions_of_run(id).unwrap();
    assert!(predictions.iter().any(|it| it.outcome.is_some()));
}

/// How many slots are saved of the run.
fn number_of_slots(folder: &Path) -> usize {
    memory(folder).count()
}

/// What is saved of it: the number of each report.
fn memory(folder: &Path) -> impl Iterator<Item = u64> {
    let path = folder.join("depository.sqlite");
    let runs = match Depository::open_existing(&path, Access::Write) {
        Ok(mut depository) => depository.open_runs().unwrap().0,
        Err(_) => Vec::new(),
    };
    let series = runs.into_iter().flat_map(|run| run.recorder.series());
    let slots = series.flat_map(|series| series.slots);
    slots.map(|slot| slot.memory_bytes as u64)
}

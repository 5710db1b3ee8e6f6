//! Another process locks the depository while it is in use: whoever schedules, and whoever waits for a
//! prediction, does not wait for the lock.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;
#[path = "common/messages.rs"]
mod messages;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use common::{NODE, START_MS, commit, open, register, report, run_of, submission};
use elastane_protocol::VERSION;
use elastane_runtime::Elastane;
use elastane_store::{Access, Depository};
use messages::{listen, messages};
use rusqlite::Connection;

/// A lock is waited for in vain once, for 5 s.
const AT_MOST: Duration = Duration::from_secs(20);

const CONTAINER: &str = "container";

fn file(folder: &Path) -> PathBuf {
    folder.join("depository.sqlite")
}

fn lock(folder: &Path) -> Connection {
    let other = Connection::open(file(folder)).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    other
}

fn counted(elastane: &Elastane, name: &str) -> u64 {
    let status: serde_json::Value = serde_json::from_str(&elastane.status(START_MS)).unwrap();
    status[name].as_u64().unwrap()
}

/// A container's agent, which reports every 3 s of the test's time.
struct Agent(u64);

impl Agent {
    /// One report, whose memory is its number, and all that is to be saved by then.
    fn report(&mut self, elastane: &Elastane) {
        self.0 += 1;
        let now_ms = START_MS + self.0 as i64 * 3_000;
        let body = report(self.0, &[(CONTAINER, 1.0, self.0)]);
        elastane.report(NODE, VERSION, &body, now_ms).unwrap();
        elastane.bookable_changes(9, now_ms);
    }

    fn report_until(&mut self, elastane: &Elastane, what: &str, holds: impl Fn() -> bool) {
        let begin = Instant::now();
        while !holds() {
            assert!(begin.elapsed() < AT_MOST, "{what}: {}", elastane.status(START_MS));
            self.report(elastane);
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The numbers of the reports that are saved.
fn saved(folder: &Path) -> Vec<u64> {
    let mut depository = Depository::open_existing(&file(folder), Access::Write).unwrap();
    let runs = depository.open_runs().unwrap().0;
    let series = runs.into_iter().flat_map(|run| run.recorder.series());
    series.flat_map(|series| series.slots).map(|slot| slot.memory_bytes as u64).collect()
}

#[test]
fn nothing_waits_for_a_lock_of_another_process_and_what_runs_is_saved_once_it_is_free() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let elastane = open(folder, "observe");
    let node = register(&elastane);
    run_of(&elastane, node, "application_1_0001", 0, 1.0, true);
    elastane.close();

    let elastane = open(folder, "observe");
    let node = register(&elastane);
    let application = elastane.application_added(&submission("application_1_0002"), START_MS);
    assert!(commit(&elastane, CONTAINER, application, node, START_MS));
    let mut agent = Agent(0);
    agent.report_until(&elastane, "it is recorded", || saved(folder).len() > 3);

    let other = lock(folder);
    let failed = || counted(&elastane, "checkpoints_failed");
    agent.report_until(&elastane, "the lock is met", || failed() > 0);
    let predicted = counted(&elastane, "foreseen_by_runs");
    let id = "application_1_0003";
    elastane.application_added(&submission(id), START_MS);
    let is_predicted = || counted(&elastane, "foreseen_by_runs") > predicted;
    agent.report_until(&elastane, "it is predicted", is_predicted);
    let begin = Instant::now();
    elastane.copy_depository(&folder.join("copy")).unwrap();
    assert!(begin.elapsed() < AT_MOST, "work is left: {:?}", begin.elapsed());
    drop(other);

    let number = agent.0 as usize;
    agent.report_until(&elastane, "all is saved", || saved(folder).len() > number);
    assert_eq!(counted(&elastane, "samples_lost"), 0);
    let read = || Depository::open_existing(&file(folder), Access::Read).unwrap();
    elastane.application_added(&submission("application_1_0004"), START_MS);
    agent.report_until(&elastane, "the prediction is saved", || {
        read().submission(id).unwrap().is_some()
            && !read().predictions_of_run(id).unwrap().is_empty()
    });

    let number = agent.0;
    let other = lock(folder);
    for _ in 0..100 {
        agent.report(&elastane);
    }
    let begin = Instant::now();
    elastane.close();
    assert!(begin.elapsed() < AT_MOST, "closing took {:?}", begin.elapsed());
    drop(other);
    assert!(saved(folder).starts_with(&(1..number).collect::<Vec<_>>()));
}

#[test]
fn runs_that_wait_for_a_lock_are_told_of_once_and_counted() {
    listen();
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let elastane = open(folder, "observe");
    let node = register(&elastane);
    let mut now_ms = 0;
    let mut end_run = |id: &str| {
        run_of(&elastane, node, id, now_ms, 1.0, true);
        now_ms += 60_000;
        elastane.bookable_changes(9, now_ms);
    };
    let wait_until = |what: &str, holds: &dyn Fn() -> bool| {
        let begin = Instant::now();
        while !holds() {
            assert!(begin.elapsed() < AT_MOST, "{what}: {}", elastane.status(START_MS));
            thread::sleep(Duration::from_millis(5));
        }
    };
    let name = file(folder).display().to_string();
    let times_told = |word: &str| {
        let messages = messages();
        let of_runs = |it: &str| it.contains("runs") && it.contains(word) && it.contains(&name);
        messages.iter().filter(|(_, message)| of_runs(message)).count()
    };

    let other = lock(folder);
    for number in 1..=3 {
        end_run(&format!("application_1_000{number}"));
        wait_until("it waits", &|| counted(&elastane, "run_saves_failed") >= number);
    }
    assert_eq!(times_told("not saved"), 1, "{:#?}", messages());
    drop(other);
    end_run("application_1_0004");
    wait_until("all are saved", &|| {
        let depository = Depository::open_existing(&file(folder), Access::Read).unwrap();
        let has = |number| depository.run(&format!("application_1_000{number}")).unwrap().is_some();
        (1..=4).all(has)
    });
    elastane.close();
    let again = |(_, message): &(_, String)| message == "runs that ended are saved again";
    assert_eq!(messages().iter().filter(|it| again(it)).count(), 1);
}

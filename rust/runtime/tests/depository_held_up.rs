//! While training is held up predictions go on. While the depository's thread is held up heartbeats go
//! on, and no heartbeat makes its predictions in its place, however little time that would take.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::Path;
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use common::rounds::{record_rounds, rounds_of, submission_of_rounds};
use common::{GB, NODE, START_MS, commit, free, journal, open, register, report, request};
use elastane_core::cluster::Ask;
use elastane_predict::ContainerKind;
use elastane_protocol::VERSION;
use elastane_runtime::Elastane;
use elastane_store::{Access, Depository};

/// Enough that a model is trained of them.
const RUNS: usize = 12;

/// Whoever waits for the depository's thread waits this long, and the test fails.
const AT_MOST: Duration = Duration::from_secs(60);

/// A thread stops where it logs a message.
struct Stop {
    thread: &'static str,
    message: &'static str,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    is_reached: bool,
    is_passed: bool,
}

/// Before it trains.
static TRAINING: Stop = Stop::at("elastane-learner", "training on");
/// Before it saves a model.
static SAVING: Stop = Stop::at("elastane-depository", "a model of how settings change");

impl Stop {
    const fn at(thread: &'static str, message: &'static str) -> Self {
        Self {
            thread,
            message,
            state: Mutex::new(State { is_reached: false, is_passed: false }),
            changed: Condvar::new(),
        }
    }

    fn logged(&self, message: &str) {
        if thread::current().name() == Some(self.thread) && message.contains(self.message) {
            let mut state = self.state.lock().unwrap();
            state.is_reached = true;
            self.changed.notify_all();
            let wait = self.changed.wait_timeout_while(state, AT_MOST, |it| !it.is_passed);
            drop(wait.unwrap());
        }
    }

    fn wait_until_reached(&self) {
        let state = self.state.lock().unwrap();
        let wait = self.changed.wait_timeout_while(state, AT_MOST, |it| !it.is_reached);
        assert!(!wait.unwrap().1.timed_out(), "{} did not stop", self.thread);
    }

    fn pass(&self) {
        self.state.lock().unwrap().is_passed = true;
        self.changed.notify_all();
    }
}

struct StoppingLogger;

impl log::Log for StoppingLogger {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let message = record.args().to_string();
        TRAINING.logged(&message);
        SAVING.logged(&message);
    }

    fn flush(&self) {}
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + AT_MOST;
    while !is_so() {
        assert!(Instant::now() < deadline, "in vain: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn wait_until_predicted(folder: &Path, id: &str) {
    wait_until("a prediction is saved", || is_predicted(folder, id));
}

/// The number of works that the depository's thread has not finished.
fn backlog(elastane: &Elastane) -> u64 {
    let status: serde_json::Value = serde_json::from_str(&elastane.status(START_MS)).unwrap();
    assert_eq!(status["learner_alive"], true);
    status["learner_backlog"].as_u64().unwrap()
}

fn is_predicted(folder: &Path, id: &str) -> bool {
    let path = folder.join("depository.sqlite");
    let depository = Depository::open_existing(&path, Access::Read).unwrap();
    !depository.predictions_of_run(id).unwrap().is_empty()
}

/// Whose profile each container was placed by.
fn profiles(folder: &Path) -> Vec<Option<String>> {
    let records = journal(folder);
    let placed = records.iter().filter(|record| record["kind"] == "placed");
    let profile = |record: &serde_json::Value| record["profile"].as_str().map(str::to_owned);
    placed.map(profile).collect()
}

#[test]
fn heartbeats_neither_wait_for_the_depository_nor_do_its_work() {
    let folder = tempfile::tempdir().unwrap();
    let key = record_rounds(&folder.path().join("depository.sqlite"), RUNS);
    log::set_logger(&StoppingLogger).unwrap();
    log::set_max_level(log::LevelFilter::Debug);
    let elastane = open(folder.path(), "enforce");
    let node = register(&elastane);
    TRAINING.wait_until_reached();

    // Predictions do not wait for training.
    let earlier = submission_of_rounds(99, rounds_of(1));
    elastane.application_added(&earlier, START_MS);
    wait_until_predicted(folder.path(), &earlier.id);
    TRAINING.pass();
    SAVING.wait_until_reached();

    let begin = Instant::now();
    // As the second run, not the last one: what is known at once is of other settings.
    let submission = submission_of_rounds(100, rounds_of(1));
    let application = elastane.application_added(&submission, START_MS);
    let ask =
        Ask { kind: ContainerKind::DEFAULT_EXECUTOR, priority: 0, request: request(3), count: 4 };
    elastane.pending(application, ask, START_MS);
    let mut now_ms = START_MS;
    for heartbeat in 0..20 {
        now_ms = START_MS + heartbeat * 1_000;
        let body = report(heartbeat as u64, &[("c1", 1.0, GB)]);
        elastane.report(NODE, VERSION, &body, now_ms).unwrap();
        elastane.round(node, free(), now_ms);
        elastane.bookable_changes(9, now_ms);
        if heartbeat == 10 {
            assert!(commit(&elastane, "c1", application, node, now_ms));
        }
    }
    assert!(begin.elapsed() < AT_MOST, "a heartbeat waited for the depository");
    assert!(!is_predicted(folder.path(), &submission.id));
    assert!(backlog(&elastane) >= 2, "the submission and the ask wait");

    SAVING.pass();
    wait_until_predicted(folder.path(), &submission.id);
    wait_until("all is done", || backlog(&elastane) == 0);
    assert!(commit(&elastane, "c2", application, node, now_ms));
    elastane.close();
    assert_eq!(profiles(folder.path()), [None, Some(key)]);
}

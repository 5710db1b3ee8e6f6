//! Whoever schedules trains nothing: the depository's thread reads the runs, the learner's trains.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::rounds::{record_rounds, submission_of_rounds};
use common::{free, open, register, request};
use elastane_core::cluster::Ask;
use elastane_predict::{ContainerKind, MOST_RUNS};
use elastane_store::{Access, Depository, ModelRecord};

/// How long a thread of this process has run, by its folder in `/proc`.
fn ran(thread: &Path) -> Duration {
    let schedstat = fs::read_to_string(thread.join("schedstat")).unwrap();
    let nanoseconds = schedstat.split_whitespace().next().unwrap();
    Duration::from_nanos(nanoseconds.parse().unwrap())
}

/// The kernel keeps 15 letters of a name, which a thread gives itself when it begins.
fn thread_named(wanted: &str) -> PathBuf {
    let deadline = Instant::now() + Duration::from_secs(60);
    let name = |thread: &PathBuf| fs::read_to_string(thread.join("comm")).unwrap_or_default();
    loop {
        let threads = fs::read_dir("/proc/self/task").unwrap();
        let mut threads = threads.map(|thread| thread.unwrap().path());
        if let Some(thread) = threads.find(|thread| name(thread).trim_end() == wanted) {
            return thread;
        }
        assert!(Instant::now() < deadline, "no thread {wanted}");
        std::thread::yield_now();
    }
}

#[test]
fn heartbeats_go_on_while_the_learner_trains() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.sqlite");
    let key = record_rounds(&path, MOST_RUNS);
    let elastane = open(folder.path(), "enforce");
    let node = register(&elastane);
    let caller = Path::new("/proc/thread-self");
    let learner = thread_named("elastane-learne");
    // Another thread looks for the model, so that the caller runs for heartbeats only.
    let wait = std::thread::spawn(move || {
        let depository = Depository::open_existing(&path, Access::Read).unwrap();
        let deadline = Instant::now() + Duration::from_secs(120);
        let of_executors = |model: &ModelRecord| model.kind == ContainerKind::DEFAULT_EXECUTOR;
        while !depository.models(&key).unwrap().iter().any(of_executors) {
            assert!(Instant::now() < deadline, "no model came");
            std::thread::sleep(Duration::from_millis(10));
        }
    });
    let (mut heartbeats, mut while_training, mut called) = (0, 0, Duration::ZERO);
    while !wait.is_finished() {
        let (called_before, learned_before) = (ran(caller), ran(&learner));
        let now_ms = 1_000 + heartbeats;
        let number = 100 + heartbeats as usize;
        let application = elastane.application_added(&submission_of_rounds(number, 17), now_ms);
        let ask = Ask {
            kind: ContainerKind::DEFAULT_EXECUTOR,
            priority: 0,
            request: request(3),
            count: 4,
        };
        elastane.pending(application, ask, now_ms);
        elastane.round(node, free(), now_ms);
        elastane.bookable_changes(9, now_ms);
        elastane.application_removed(application, false, now_ms);
        heartbeats += 1;
        // Predictions go before training, so the loop leaves time for training.
        std::thread::sleep(Duration::from_millis(10));
        if ran(&learner) > learned_before {
            while_training += 1;
            called += ran(caller) - called_before;
        }
    }
    wait.join().unwrap();
    let learned = ran(&learner);
    assert!(learned > 4 * called, "the caller ran for {called:?}, the learner for {learned:?}");
    assert!(while_training > 3, "{while_training} heartbeats while it trained");
    elastane.close();
}

//! Whoever schedules trains nothing: that is the learner's thread.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::{free, named_submission, open, register, request};
use elastane_core::Resources;
use elastane_core::cluster::Ask;
use elastane_predict::{ContainerKind, MOST_RUNS, Outcome, Run, RunSeries, Submission, signature};
use elastane_store::{Access, Depository, SubmissionRecord};

fn submission(number: usize, rounds: usize) -> Submission {
    Submission {
        commands: vec![format!("/bin/java count.Main --rounds {rounds} 1> out")],
        ..named_submission(&format!("application_1_{number:04}"), "count")
    }
}

/// As many runs with other settings as a model is trained on, which an earlier process recorded and
/// learned nothing from.
fn recorded(path: &Path) -> String {
    let mut depository = Depository::open(path).unwrap().depository;
    let key = signature(&submission(0, 10)).key;
    for number in 0..MOST_RUNS {
        let rounds = 10 + number * 7 % 31;
        let Submission { id, name, .. } = submission(number, rounds);
        let slot = |at: usize| {
            let cores = 1.0 + (at % 2) as f64 + (number as f64).sin() / 20.0;
            Resources::from_array([cores, 1e9, 0.0, 0.0])
        };
        let run = Run {
            application_key: key.clone(),
            application_id: id.clone(),
            application_name: name.clone(),
            started_ms: number as i64,
            ended_ms: number as i64 + 1,
            outcome: Outcome::Succeeded,
            series: vec![RunSeries {
                kind: ContainerKind::DEFAULT_EXECUTOR,
                containers: 1,
                slots: (0..rounds).map(slot).collect(),
            }],
        };
        depository.save(&run).unwrap();
        let submission = SubmissionRecord {
            application_id: id,
            application_key: key.clone(),
            application_name: name,
            submitted_ms: number as i64,
            signature: Vec::new(),
            settings: BTreeMap::from([("--rounds".to_owned(), rounds as f64)]),
        };
        depository.save_submission(&submission).unwrap();
    }
    key
}

/// How long a thread of this process has run, by its folder in `/proc`.
fn ran(thread: &Path) -> Duration {
    let schedstat = fs::read_to_string(thread.join("schedstat")).unwrap();
    let nanoseconds = schedstat.split_whitespace().next().unwrap();
    Duration::from_nanos(nanoseconds.parse().unwrap())
}

/// The kernel keeps 15 letters of a name, which a thread gives itself when it begins.
fn learner() -> PathBuf {
    let deadline = Instant::now() + Duration::from_secs(60);
    let name = |thread: &PathBuf| fs::read_to_string(thread.join("comm")).unwrap_or_default();
    loop {
        let threads = fs::read_dir("/proc/self/task").unwrap();
        let mut threads = threads.map(|thread| thread.unwrap().path());
        if let Some(learner) = threads.find(|thread| name(thread) == "elastane-learne\n") {
            return learner;
        }
        assert!(Instant::now() < deadline, "no learner's thread");
        std::thread::yield_now();
    }
}

#[test]
fn heartbeats_go_on_while_the_learner_trains() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.sqlite");
    let key = recorded(&path);
    let elastane = open(folder.path(), "enforce");
    let node = register(&elastane);
    let (caller, learner) = (Path::new("/proc/thread-self"), learner());
    let caller_before = ran(caller);
    let depository = Depository::open_existing(&path, Access::Read).unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    let is_trained = || {
        let model = depository.model(&key, ContainerKind::DEFAULT_EXECUTOR, "settings");
        model.unwrap().is_some()
    };
    let mut heartbeats = 0;
    while !is_trained() {
        assert!(Instant::now() < deadline, "no model came");
        let now_ms = 1_000 + heartbeats;
        let number = 100 + heartbeats as usize;
        let application = elastane.application_added(&submission(number, 17), now_ms);
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
        // What is asked goes before training: it is let get to that.
        std::thread::sleep(Duration::from_millis(10));
    }
    let (called, learned) = (ran(caller) - caller_before, ran(&learner));
    assert!(
        learned > 4 * called,
        "the caller ran for {called:?}, the learner for {learned:?}"
    );
    assert!(heartbeats > 3, "{heartbeats} heartbeats while it trained");
    elastane.close();
}

//! Training that panics costs one model each time, is counted, and is told of once.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod common;

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use common::rounds::record_rounds;
use common::{START_MS, open};
use elastane_store::Depository;

/// Enough that a model is trained of them.
const RUNS: usize = 12;

/// Panics where a training begins, and keeps what is said of panics.
struct PanickingLogger(Mutex<Vec<String>>);

static LOGGER: PanickingLogger = PanickingLogger(Mutex::new(Vec::new()));

impl log::Log for PanickingLogger {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let message = record.args().to_string();
        assert!(!message.starts_with("training on"), "a panic that the test asked for");
        if message.contains("panicked") {
            self.0.lock().unwrap().push(message);
        }
    }

    fn flush(&self) {}
}

#[test]
fn each_is_counted_and_one_is_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.sqlite");
    let key = record_rounds(&path, RUNS);
    // A second application whose models are to be trained.
    let mut depository = Depository::open(&path).unwrap().depository;
    for mut run in depository.latest_runs(&key, RUNS).unwrap() {
        let mut submission = depository.submission(&run.application_id).unwrap().unwrap();
        for (id, key) in [
            (&mut run.application_id, &mut run.application_key),
            (&mut submission.application_id, &mut submission.application_key),
        ] {
            id.push_str("_2");
            key.push('2');
        }
        depository.save(&run).unwrap();
        depository.save_submission(&submission).unwrap();
    }
    drop(depository);
    log::set_logger(&LOGGER).unwrap();
    log::set_max_level(log::LevelFilter::Debug);

    let elastane = open(folder.path(), "enforce");
    let failures = || {
        let status: serde_json::Value = serde_json::from_str(&elastane.status(START_MS)).unwrap();
        status["learning_failures"].as_u64().unwrap()
    };
    let begin = Instant::now();
    while failures() < 2 {
        assert!(begin.elapsed() < Duration::from_secs(60), "{} are counted", failures());
        thread::sleep(Duration::from_millis(5));
    }
    elastane.close();
    let told = LOGGER.0.lock().unwrap();
    assert_eq!(told.len(), 1, "{told:#?}");
}

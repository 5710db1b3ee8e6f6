//! Running the real command, and files for it.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::Path;
use std::process::Command;

use elastane_core::Resources;
use elastane_predict::{ContainerKind, Outcome, Run, RunSeries};
use elastane_store::Depository;
use serde_json::Value;

pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// What a command that succeeded printed.
    pub fn printed(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self.stdout
    }

    pub fn json(self) -> Value {
        serde_json::from_str(&self.printed()).unwrap()
    }

    /// The one line of a command that refused its input.
    pub fn refused(self) -> String {
        assert_eq!(self.code, Some(2), "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "");
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        self.stderr
    }
}

pub fn elastane(arguments: &[&str]) -> Ended {
    let output = Command::new(env!("CARGO_BIN_EXE_elastane"))
        .args(arguments)
        .output()
        .unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A run of one hour's start whose executors' CPU rises from slot to slot.
pub fn run(key: &str, number: i64, outcome: Outcome) -> Run {
    let slot = |slot: i32| {
        Resources::from_array([
            0.1 * f64::from(slot + 1),
            350e6,
            0.0,
            20e6 * f64::from(slot % 3),
        ])
    };
    let series = |kind, containers, length| RunSeries {
        kind,
        containers,
        slots: (0..length).map(slot).collect(),
    };
    Run {
        application_key: key.into(),
        application_id: format!("application_1763736000000_{number:04}"),
        application_name: format!("Nightly sales {number}"),
        started_ms: 1_763_736_000_000 + number * 60_000,
        ended_ms: 1_763_736_030_000 + number * 60_000,
        outcome,
        series: vec![
            series(ContainerKind::ApplicationMaster, 1, 4),
            series(ContainerKind::DEFAULT_EXECUTOR, 2, 10),
        ],
    }
}

pub fn depository(path: &Path, runs: &[Run]) {
    let mut depository = Depository::open(path).unwrap().depository;
    for run in runs {
        depository.save(run).unwrap();
    }
}

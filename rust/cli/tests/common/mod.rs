//! Running the real command, and files for it.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::{Path, PathBuf};
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

/// Each of these is in what was printed.
pub fn assert_contains(printed: &str, expected: &[&str]) {
    for expected in expected {
        assert!(
            printed.contains(expected),
            "{expected:?} is not in\n{printed}"
        );
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

/// What `elastane evaluate` prints of a folder of runs, and its figures.
pub fn evaluate(runs: &Path) -> (String, Value) {
    evaluate_with(runs, &[])
}

/// The same with these options.
pub fn evaluate_with(runs: &Path, options: &[&str]) -> (String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("figures.json");
    let mut arguments = vec!["evaluate", text(runs), "--json", text(&json)];
    arguments.extend(options);
    let printed = elastane(&arguments).printed();
    let figures = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    (printed, figures)
}

/// A folder of this crate's tests.
pub fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name)
}

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The key of the runs in tests.
pub const SALES: &str = "app|SPARK|alice|root.etl|Nightly sales #|sales.py|--day #";

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

/// A run with executors of 1 GB at priority 0 and of 6 GB at priority 2.
pub fn run_of_two_kinds(number: i64) -> Run {
    let mut run = run(SALES, number, Outcome::Succeeded);
    let slot = Resources::from_array([2.0, 6e9, 0.0, 1e6]);
    run.series.push(RunSeries {
        kind: ContainerKind::Executor { priority: 2 },
        containers: 1,
        slots: vec![slot; 6],
    });
    run
}

pub fn depository(path: &Path, runs: &[Run]) {
    let mut depository = Depository::open(path).unwrap().depository;
    for run in runs {
        depository.save(run).unwrap();
    }
}

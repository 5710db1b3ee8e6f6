//! Runs the built command.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(dead_code, unused_imports, reason = "each test file uses its own part")]

#[path = "../../../rust/cli/tests/common/ended.rs"]
mod ended;

use std::path::{Path, PathBuf};

use serde_json::Value;

pub use ended::{Ended, text};

pub fn lab(arguments: &[&str]) -> Ended {
    ended::run(env!("CARGO_BIN_EXE_elastane-lab"), arguments)
}

/// The output and the JSON of `elastane-lab evaluate` on a folder of runs.
pub fn evaluate(runs: &Path) -> (String, Value) {
    evaluate_with(runs, &[])
}

/// As [`evaluate`], with further options.
pub fn evaluate_with(runs: &Path, options: &[&str]) -> (String, Value) {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("figures.json");
    let mut arguments = vec!["evaluate", text(runs), "--json", text(&json)];
    arguments.extend(options);
    let printed = lab(&arguments).printed();
    let figures = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    (printed, figures)
}

/// A folder of recorded runs in this crate's tests.
pub fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

//! Running the real command, and files for it.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(dead_code, unused_imports, reason = "each test file uses its own part")]

mod ended;
mod runs;
mod server;

pub use ended::{Ended, text};
pub use runs::{SALES, depository, run, run_of_two_kinds, three_runs};
pub use server::{heads_of, server, server_of};

/// Each of these is in what was printed.
pub fn assert_contains(printed: &str, expected: &[&str]) {
    for expected in expected {
        assert!(printed.contains(expected), "{expected:?} is not in\n{printed}");
    }
}

pub fn elastane(arguments: &[&str]) -> Ended {
    ended::run(env!("CARGO_BIN_EXE_elastane"), arguments)
}

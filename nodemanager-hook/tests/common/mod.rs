//! Real agents, process trees and cgroups for the integration tests.
#![allow(dead_code, unused_imports)] // each test uses a part
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod agent;
mod agent_process;
mod parent;
mod tree;

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use elastane_protocol::{AgentResponse, frame};
use tempfile::TempDir;

pub use self::{
    agent::Agent,
    agent_process::runs_as_unit,
    parent::{
        Parent, is_version_2_alone, memory_limit, mount_point, quota_us, set_quota_us, set_shares,
        shares, version_2_root,
    },
    tree::{Tree, cgroup_of},
};

/// A directory on a disk that can be limited: in `ELASTANE_TEST_DISK`, or else where the tests are
/// built.
pub fn on_disk() -> TempDir {
    let disk = env::var("ELASTANE_TEST_DISK").map(PathBuf::from);
    let disk = disk.unwrap_or_else(|_| env!("CARGO_TARGET_TMPDIR").into());
    tempfile::tempdir_in(disk).unwrap()
}

/// The capabilities of the systemd unit, by setpriv's names.
pub fn unit_capabilities() -> Vec<String> {
    let unit = include_str!("../../elastane-agent.service");
    let mut lines = unit.lines();
    let bounding = lines.find_map(|line| line.strip_prefix("CapabilityBoundingSet="));
    let names = bounding.unwrap().split_ascii_whitespace();
    names.map(|name| name.strip_prefix("CAP_").unwrap().to_lowercase()).collect()
}

/// The factor by which an emulated processor may be slower.
pub fn times_slower() -> u32 {
    let given = env::var("ELASTANE_TEST_TIMES_SLOWER");
    given.map_or(1, |times| times.parse().unwrap())
}

pub const PATIENCE: Duration = Duration::from_secs(20);

pub fn read_number(path: &Path) -> i64 {
    fs::read_to_string(path).unwrap().trim().parse().unwrap()
}

/// With this variable set to 1, tests are skipped if the machine lacks what they need.
const MAY_SKIP: &str = "ELASTANE_TESTS_WITHOUT_CGROUPS";

/// Prints that the test is skipped, or fails it if tests may not be skipped.
pub fn skip(reason: &str) {
    assert!(
        env::var(MAY_SKIP).is_ok_and(|value| value == "1"),
        "{reason} (tests that need it are skipped with {MAY_SKIP}=1)"
    );
    let test = thread::current().name().unwrap_or_default().to_owned();
    // Not by `println`, whose output is shown for failed tests only.
    let line = format!("skipped: {test}: {reason}\n");
    let _ = io::stderr().write_all(line.as_bytes());
}

/// Waits for a condition with a deadline.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE * times_slower();
    while !holds() {
        assert!(Instant::now() < deadline, "timed out: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Sends raw bytes and returns the agent's answer.
pub fn send_raw(agent: &Agent, bytes: &[u8]) -> AgentResponse {
    let mut stream = agent.connect();
    stream.write_all(bytes).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    frame::read(&mut stream).unwrap()
}

//! systemd is told that the agent works, and ends one that does not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use std::os::unix::net::UnixDatagram;

use common::{Agent, PATIENCE, Parent, Tree, runs_as_unit, wait_until};
use nix::sys::signal::Signal;

#[test]
fn systemd_is_told_that_the_agent_has_started_and_again_and_again_that_it_works() {
    let agent = Agent::prepare_with("elastane", "", "");
    let path = agent.directory().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut command = agent.command();
    command.args(["run", "--config"]).arg(agent.config());
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "200000");
    let mut process = command.spawn().unwrap();
    let received = || {
        let mut message = [0; 64];
        let length = socket.recv(&mut message).unwrap();
        String::from_utf8_lossy(&message[..length]).trim().to_owned()
    };
    let messages: Vec<String> = (0..6).map(|_| received()).collect();
    let count = |message: &str| messages.iter().filter(|one| *one == message).count();
    assert_eq!((count("READY=1"), count("WATCHDOG=1")), (1, 5), "{messages:?}");
    process.kill().unwrap();
    process.wait().unwrap();
}

/// In the guest that boots systemd.
#[test]
fn systemd_ends_an_agent_that_hangs() {
    if !runs_as_unit() {
        return;
    }
    let Some(parent) = Parent::new() else { return };
    let mut agent = Agent::start(&parent.name);
    let tree = Tree::new("sleep 600");
    agent.runs(&[&tree]);
    agent.apply(600_000, vec![tree.plan(&[(0, 1.0, Some(0.2))])]);
    let status = agent.signal(Signal::SIGSTOP);
    assert!(!status.success(), "{status}");
    // As the unit does after each end.
    let mut restore = agent.command();
    restore.args(["restore", "--config"]).arg(agent.config());
    assert!(restore.status().unwrap().success());
    wait_until("its limits are lifted", || parent.inner() == 0);
}

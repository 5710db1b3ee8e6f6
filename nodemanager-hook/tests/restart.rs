//! An agent that is killed at any time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use std::{
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use common::{Agent, PATIENCE, Parent, Tree};
use nix::sys::signal::Signal;

/// What a command that has to end by itself says.
fn ended(command: &mut Command) -> Output {
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("it goes on running");
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn after_a_kill_limits_are_lifted_and_only_what_still_runs_is_adopted() {
    let Some(parent) = Parent::new() else { return };
    let mut agent = Agent::start(&parent.name);
    let (stays, ends) = (Tree::new("sleep 60"), Tree::new("sleep 60"));
    let before = ends.cgroup("cpu");
    agent.runs(&[&stays, &ends]);
    let plan = |tree: &Tree| tree.plan(&[(0, 2.0, Some(0.2))]);
    agent.apply(60_000, vec![plan(&stays), plan(&ends)]);
    agent.signal(Signal::SIGKILL);
    assert_eq!(parent.quota_us(&stays), 20_000);

    agent.start_again();
    agent.report();
    assert_eq!((parent.quota_us(&stays), parent.shares(&stays)), (-1, 1024));
    assert_eq!(
        parent.inner(),
        4,
        "nothing is removed before the first list"
    );
    agent.runs(&[&stays]);
    assert_eq!(parent.inner(), 2);
    assert!(parent.cpu.join(&stays.id).exists());
    assert_eq!(ends.cgroup("cpu"), before);

    agent.apply(60_000, vec![plan(&stays)]);
    assert_eq!(parent.quota_us(&stays), 20_000);
    assert!(agent.signal(Signal::SIGINT).success());
    assert_eq!(stays.cgroup("cpu"), before);
    assert_eq!(parent.inner(), 0);
}

#[test]
fn restore_puts_back_what_a_killed_agent_left() {
    let Some(parent) = Parent::new() else { return };
    let mut agent = Agent::start(&format!("{}/made", parent.name));
    let tree = Tree::new("sleep 60");
    let before = tree.cgroup("cpuacct");
    agent.runs(&[&tree]);
    let restore = |agent: &Agent| {
        let mut command = agent.command();
        command.args(["restore", "--config"]).arg(agent.config());
        ended(&mut command)
    };
    let refused = restore(&agent);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused).contains("an agent already listens on"));

    agent.signal(Signal::SIGKILL);
    let restored = restore(&agent);
    assert!(restored.status.success(), "{}", text(&restored));
    assert_eq!(tree.cgroup("cpuacct"), before);
    assert_eq!(parent.inner(), 0);
    assert!(!agent.socket().exists());
    assert!(!agent.directory().join("agent.sock.journal").exists());
}

#[test]
fn a_second_agent_refuses_to_start() {
    let agent = Agent::start(&format!("elastane-test-{}-second", std::process::id()));
    let mut second = agent.command();
    second.args(["run", "--config"]).arg(agent.config());
    let output = ended(&mut second);
    assert_eq!(output.status.code(), Some(2));
    let expected = format!(
        "elastane-agent: an agent already listens on {}\n",
        agent.socket().display()
    );
    assert_eq!(text(&output), expected);
    agent.report();
}

#[test]
fn two_agents_never_share_a_parent() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let other = tempfile::tempdir().unwrap();
    let config = other.path().join("agent.toml");
    let socket = other.path().join("agent.sock");
    let text_of_config = format!(
        "[cgroup]\nparent = \"{}\"\n[socket]\npath = \"{}\"\n",
        parent.name,
        socket.display()
    );
    std::fs::write(&config, text_of_config).unwrap();
    let mut second = agent.command();
    let output = ended(second.args(["run", "--config"]).arg(&config));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("belongs to another agent that runs"));
    assert!(!socket.exists());
}

//! Real process trees, measured with and without a group.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use common::{Agent, Parent, Tree, wait_until};
use elastane_protocol::Usage;
use nix::unistd::geteuid;

const MIB: u64 = 1024 * 1024;

/// Asks until a sample is as expected.
fn wait_for_sample(agent: &Agent, tree: &Tree, what: &str, holds: impl Fn(&Usage) -> bool) {
    let mut newest = None;
    wait_until(what, || {
        let report = agent.report();
        let container = report
            .containers
            .iter()
            .find(|container| container.container == tree.id)
            .unwrap();
        newest = container.samples.last().copied();
        newest.is_some_and(|sample| holds(&sample.usage))
    });
}

/// A child of a child burns CPU, ahead of whatever else a busy machine does.
fn cpu_of_a_grandchild_is_measured(agent: &Agent) {
    let tree = Tree::new("nice -n -15 sh -c 'while :; do :; done' & wait");
    agent.runs(&[&tree]);
    wait_for_sample(agent, &tree, "a busy child", |usage| {
        (0.2..=1.1).contains(&usage.cpu_cores)
    });
    let report = agent.report();
    let sample = report.containers[0].samples.last().unwrap();
    assert!(
        (500..=3000).contains(&sample.length_ms),
        "{}",
        sample.length_ms
    );
    assert!(report.containers_usage.cpu_cores > 0.1);
}

fn memory_of_a_child_is_measured(agent: &Agent) {
    let hold = "python3 -c 'import time; held = bytearray(64 << 20); time.sleep(60)'";
    let tree = Tree::new(&format!("{hold} & wait"));
    agent.runs(&[&tree]);
    wait_for_sample(agent, &tree, "64 MiB in a child", |usage| {
        (64 * MIB..128 * MIB).contains(&usage.memory_bytes)
    });
}

fn disk_of_children_is_measured(agent: &Agent) {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = directory.path().join("written");
    // Each dd is a child that is reaped; half a MiB at a time so that any disk keeps up.
    let write = format!(
        "while :; do dd if=/dev/zero of={} bs=64k count=8 conv=fsync status=none; sleep 0.2; done",
        file.display()
    );
    let tree = Tree::new(&write);
    agent.runs(&[&tree]);
    wait_for_sample(agent, &tree, "bytes written by children", |usage| {
        (MIB / 4..4 * MIB).contains(&usage.disk_bytes_per_s)
    });
    drop(tree);
}

#[test]
fn a_tree_in_its_group_is_measured() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    assert!(agent.report().can_limit_cpu);
    cpu_of_a_grandchild_is_measured(&agent);
    memory_of_a_child_is_measured(&agent);
    disk_of_children_is_measured(&agent);
}

#[test]
fn a_tree_is_measured_without_root_and_never_limited() {
    if geteuid().is_root() && !can_become_nobody() {
        return println!("skipped: no setpriv");
    }
    let agent = Agent::start_without_root();
    let report = agent.report();
    assert!(!report.can_limit_cpu);
    cpu_of_a_grandchild_is_measured(&agent);
    memory_of_a_child_is_measured(&agent);
}

fn can_become_nobody() -> bool {
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--clear-groups", "true"]);
    command.status().is_ok_and(|status| status.success())
}

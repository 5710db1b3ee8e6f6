//! A real agent measures process trees with and without groups.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use common::{Agent, Parent, Tree, on_disk, skip, wait_until};
use elastane_protocol::Usage;
use nix::unistd::geteuid;

const MIB: u64 = 1024 * 1024;

/// Waits for a sample as expected.
fn wait_for_sample(agent: &Agent, tree: &Tree, what: &str, holds: impl Fn(&Usage) -> bool) {
    let mut newest = None;
    wait_until(what, || {
        let report = agent.report();
        let container =
            report.containers.iter().find(|container| container.container == tree.id).unwrap();
        newest = container.samples.last().copied();
        newest.is_some_and(|sample| holds(&sample.usage))
    });
}

/// Runs a container. A planned container is moved into a group of the agent.
fn run(agent: &Agent, tree: &Tree, is_planned: bool) {
    let before = tree.place();
    agent.runs(&[tree]);
    if is_planned {
        agent.apply(60_000, vec![tree.plan(&[(0, 64.0, None)])]);
    }
    assert_eq!(tree.place() != before, is_planned);
}

/// A grandchild burns CPU, with priority over other work of a busy machine.
fn cpu_of_a_grandchild_is_measured(agent: &Agent, is_planned: bool) {
    let tree = Tree::new("nice -n -15 sh -c 'while :; do :; done' & wait");
    run(agent, &tree, is_planned);
    wait_for_sample(agent, &tree, "a busy child", |usage| (0.2..=1.1).contains(&usage.cpu_cores));
    // The first sample begins with the container's arrival.
    wait_until("a whole sample", || {
        let sample = agent.report().containers[0].samples.last().copied();
        sample.is_some_and(|sample| (500..=3000).contains(&sample.length_ms))
    });
    assert!(agent.report().containers_usage.cpu_cores > 0.1);
}

/// Two children share one core, so at any time at least one of them waits. A container that sleeps waits for nothing.
fn waits_for_a_core_are_measured(agent: &Agent) {
    let idle = Tree::new("sleep 600 & wait");
    let busy = "taskset 1 sh -c 'while :; do :; done' &";
    let tree = Tree::new(&format!("{busy} {busy} wait"));
    agent.runs(&[&idle, &tree]);
    wait_for_sample(agent, &tree, "a child that waits for a core", |usage| {
        let wanted = usage.cpu_waited_cores + usage.cpu_cores;
        usage.cpu_waited_cores > 0.9 && (1.8..=2.2).contains(&wanted)
    });
    wait_for_sample(agent, &idle, "nobody that waits", |usage| usage.cpu_waited_cores < 0.1);
}

fn memory_of_a_child_is_measured(agent: &Agent, is_planned: bool) {
    let hold = "python3 -c 'import time; held = bytearray(64 << 20); time.sleep(60)'";
    let tree = Tree::new(&format!("{hold} & wait"));
    run(agent, &tree, is_planned);
    wait_for_sample(agent, &tree, "64 MiB in a child", |usage| {
        (64 * MIB..128 * MIB).contains(&usage.memory_bytes)
    });
}

fn disk_of_children_is_measured(agent: &Agent, is_planned: bool) {
    let directory = on_disk();
    let file = directory.path().join("written");
    // Each dd is a reaped child, and writes half a MiB, so that any disk keeps up.
    let write = format!(
        "while :; do dd if=/dev/zero of={} bs=64k count=8 conv=fsync status=none; sleep 0.2; done",
        file.display()
    );
    let tree = Tree::new(&write);
    run(agent, &tree, is_planned);
    wait_for_sample(agent, &tree, "bytes written by children", |usage| {
        (MIB / 4..4 * MIB).contains(&usage.disk_bytes_per_s())
    });
    drop(tree);
}

#[test]
fn a_tree_in_its_group_is_measured() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    assert!(agent.report().can_limit.cpu);
    cpu_of_a_grandchild_is_measured(&agent, true);
    memory_of_a_child_is_measured(&agent, true);
    disk_of_children_is_measured(&agent, true);
}

#[test]
fn a_tree_without_a_plan_is_measured_in_its_own_groups() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    cpu_of_a_grandchild_is_measured(&agent, false);
    memory_of_a_child_is_measured(&agent, false);
    disk_of_children_is_measured(&agent, false);
    waits_for_a_core_are_measured(&agent);
    assert_eq!(parent.inner(), 0);
}

#[test]
fn cpu_time_is_counted_once_when_a_container_is_moved() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let tree = Tree::new("nice -n -15 sh -c 'while :; do :; done' & wait");
    // Usage from before the agent knows the container must not show.
    wait_until("a second of CPU time", || tree.cpu_seconds() > 1.0);
    // The agent's first reading is between `earliest` and `latest`, which a busy machine keeps
    // apart.
    let earliest = tree.cpu_seconds();
    agent.runs(&[&tree]);
    let latest = tree.cpu_seconds();
    let plan = || vec![tree.plan(&[(0, 64.0, None)])];
    for _ in 0..4 {
        let moved = tree.cpu_seconds();
        agent.apply(60_000, plan());
        wait_until("half a second in the group", || tree.cpu_seconds() > moved + 0.5);
        let moved_back = tree.cpu_seconds();
        agent.apply(60_000, Vec::new());
        assert!(!parent.group_of(&tree).exists());
        wait_until("half a second outside", || tree.cpu_seconds() > moved_back + 0.5);
    }
    agent.apply(60_000, plan());
    // The agent reads a container in a group once more when the container ends.
    let least = tree.cpu_seconds() - latest;
    agent.runs(&[]);
    let most = tree.cpu_seconds() - earliest;
    let sequence = agent.report().sequence;
    wait_until("the last sample", || agent.report().sequence > sequence);
    let report = agent.report();
    let samples = &report.containers[0].samples;
    let measured: f64 = samples
        .iter()
        .map(|sample| f64::from(sample.usage.cpu_cores) * f64::from(sample.length_ms) / 1000.0)
        .sum();
    assert!(
        (0.93 * least..1.04 * most).contains(&measured),
        "{measured} s measured of {least} to {most} s"
    );
}

#[test]
fn a_tree_is_measured_without_root_and_never_limited() {
    if geteuid().is_root() && !can_become_nobody() {
        return skip("there is no setpriv");
    }
    let agent = Agent::start_without_root();
    let report = agent.report();
    assert!(!report.can_limit.cpu);
    cpu_of_a_grandchild_is_measured(&agent, false);
    memory_of_a_child_is_measured(&agent, false);
}

fn can_become_nobody() -> bool {
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--clear-groups", "true"]);
    command.status().is_ok_and(|status| status.success())
}

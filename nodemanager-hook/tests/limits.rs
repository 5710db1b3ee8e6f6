//! The plan in real cgroups.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use std::{fs, time::Duration};

use common::{Agent, Parent, Tree, read_number, wait_until};
use nix::sys::signal::Signal;

const BUSY: &str = "while :; do :; done";

fn assert_near(cores: f64, expected: f64) {
    let ratio = cores / expected;
    assert!(
        (0.9..=1.1).contains(&ratio),
        "{cores} cores used, {expected} expected"
    );
}

#[test]
fn a_busy_loop_follows_the_steps_of_its_plan_until_the_plan_ends() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let tree = Tree::new(BUSY);
    agent.runs(&[&tree]);
    assert_eq!(parent.quota_us(&tree), -1);
    let steps = [(0, 0.5, Some(0.3)), (6000, 2.0, Some(0.7))];
    agent.apply(12_000, vec![tree.plan(&steps)]);
    assert_eq!(
        (parent.quota_us(&tree), parent.shares(&tree)),
        (30_000, 512)
    );
    assert_near(parent.cores_used(&tree, Duration::from_secs(3)), 0.3);
    assert_eq!(
        parent.quota_us(&tree),
        30_000,
        "the measurement took too long"
    );

    wait_until("the second step", || parent.quota_us(&tree) == 70_000);
    assert_eq!(parent.shares(&tree), 2048);
    assert_near(parent.cores_used(&tree, Duration::from_secs(3)), 0.7);
    assert_eq!(
        parent.quota_us(&tree),
        70_000,
        "the measurement took too long"
    );
    let limit = agent.report().containers[0].cpu_limit.unwrap();
    assert_eq!((limit.offset_ms, limit.cap_cores), (6000, Some(0.7)));

    wait_until("the end of the plan", || parent.quota_us(&tree) == -1);
    assert_eq!(parent.shares(&tree), 1024);
    assert_eq!(agent.report().containers[0].cpu_limit, None);
    assert_eq!(agent.audited(), ["plan_step", "plan_step", "plan_ended"]);
}

#[test]
fn a_newer_plan_without_the_container_lifts_its_limit() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let (one, other) = (Tree::new("sleep 60"), Tree::new("sleep 60"));
    agent.runs(&[&one, &other]);
    let plans = vec![
        one.plan(&[(0, 1.0, Some(0.2))]),
        other.plan(&[(0, 4.0, None)]),
    ];
    agent.apply(60_000, plans);
    assert_eq!(
        (parent.quota_us(&one), parent.shares(&other)),
        (20_000, 4096)
    );
    agent.apply(60_000, vec![other.plan(&[(0, 4.0, None)])]);
    assert_eq!((parent.quota_us(&one), parent.shares(&other)), (-1, 4096));
    assert_eq!(agent.audited(), ["plan_step", "plan_step", "not_in_plan"]);
}

#[test]
fn the_group_of_a_container_goes_with_it() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let (mut ended, lingering) = (Tree::new("sleep 60"), Tree::new("sleep 60"));
    agent.runs(&[&ended, &lingering]);
    assert_eq!(parent.inner(), 4);
    agent.apply(60_000, vec![lingering.plan(&[(0, 1.0, Some(0.2))])]);
    ended.end();
    agent.runs(&[]);
    assert!(!parent.cpu.join(&ended.id).exists());
    // A process that outlives its container keeps the group busy, but is not limited.
    assert_eq!(parent.quota_us(&lingering), -1);
    drop(lingering);
    wait_until("the last group is removed", || parent.inner() == 0);
    assert_eq!(agent.audited(), ["plan_step", "container_gone"]);
}

#[test]
fn a_clean_stop_puts_everything_back() {
    let Some(parent) = Parent::new() else { return };
    let mut agent = Agent::start(&format!("{}/made/twice", parent.name));
    let tree = Tree::new("sleep 60 & sleep 60");
    let before = (tree.cgroup("cpu"), tree.cgroup("cpuacct"));
    agent.runs(&[&tree]);
    assert!(tree.cgroup("cpu").ends_with(&tree.id));
    let made = parent.cpu.join("made/twice");
    assert!(read_number(&made.join("cpu.shares")) > 1024);
    let status = agent.signal(Signal::SIGTERM);
    assert!(status.success(), "{status}");
    assert_eq!((tree.cgroup("cpu"), tree.cgroup("cpuacct")), before);
    assert_eq!(parent.inner(), 0);
    assert!(!agent.socket().exists());
    assert!(!agent.directory().join("agent.sock.journal").exists());
    assert!(parent.cpu.exists(), "a parent of somebody else is left");
}

#[test]
fn a_group_of_the_container_executor_gets_back_what_it_held() {
    let Some(parent) = Parent::new() else { return };
    let tree = Tree::new(BUSY);
    let groups = parent
        .groups()
        .map(|group| group.join("yarn").join(&tree.id));
    for group in &groups {
        fs::create_dir_all(group).unwrap();
        fs::write(group.join("cgroup.procs"), tree.pid().to_string()).unwrap();
    }
    fs::write(groups[0].join("cpu.shares"), "3000").unwrap();
    let value = |file: &str| read_number(&groups[0].join(file));

    let mut agent = Agent::start(&format!("{}/own", parent.name));
    agent.runs(&[&tree]);
    assert!(tree.cgroup("cpu").ends_with(&format!("yarn/{}", tree.id)));
    agent.apply(60_000, vec![tree.plan(&[(0, 2.0, Some(0.1))])]);
    agent.signal(Signal::SIGKILL);
    agent.start_again();
    assert!(agent.report().containers.is_empty());
    assert_eq!((value("cpu.shares"), value("cpu.cfs_quota_us")), (3000, -1));

    agent.runs(&[&tree]);
    agent.apply(60_000, vec![tree.plan(&[(0, 1.0, Some(0.5))])]);
    assert_eq!(
        (value("cpu.shares"), value("cpu.cfs_quota_us")),
        (1024, 50_000)
    );
    wait_until("a sample of half a core", || {
        let samples = &agent.report().containers[0].samples;
        samples
            .last()
            .is_some_and(|sample| (0.4..0.6).contains(&sample.usage.cpu_cores))
    });
    drop(agent);
    assert_eq!((value("cpu.shares"), value("cpu.cfs_quota_us")), (3000, -1));
    assert!(tree.cgroup("cpu").ends_with(&format!("yarn/{}", tree.id)));
}

#[test]
fn a_cap_above_the_nodes_own_share_is_left_to_that() {
    let Some(parent) = Parent::new() else { return };
    fs::write(parent.cpu.join("cpu.cfs_quota_us"), "60000").unwrap();
    let agent = Agent::start(&parent.name);
    let tree = Tree::new("sleep 60");
    agent.runs(&[&tree]);
    agent.apply(60_000, vec![tree.plan(&[(0, 1.5, Some(0.9))])]);
    assert_eq!((parent.quota_us(&tree), parent.shares(&tree)), (-1, 1536));
    let in_force = agent.report().containers[0].cpu_limit;
    assert!(in_force.is_some(), "the kernel has refused the quota");
    agent.apply(60_000, vec![tree.plan(&[(0, 1.5, Some(0.4))])]);
    assert_eq!(parent.quota_us(&tree), 40_000);
}

#[test]
fn a_tree_that_forks_all_the_time_is_moved_as_a_whole() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let script = "for i in 1 2 3 4; do (while :; do sleep 0.01; done) & done; wait";
    let tree = Tree::new(script);
    wait_until("the tree has grown", || cpu_groups_of(&tree).len() >= 5);
    agent.runs(&[&tree]);
    for group in cpu_groups_of(&tree) {
        assert!(group.ends_with(&tree.id), "a process was left in {group}");
    }
}

/// The cpu groups of the processes in a tree, which never leave its process group.
fn cpu_groups_of(tree: &Tree) -> Vec<String> {
    let mut groups = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let read = |file| fs::read_to_string(entry.path().join(file)).unwrap_or_default();
        let stat = read("stat");
        let process_group = stat
            .rsplit(')')
            .next()
            .and_then(|fields| fields.split_whitespace().nth(2));
        if process_group == Some(&tree.pid().to_string()) {
            let cgroup = read("cgroup");
            let is_cpu = |line: &&str| line.contains(":cpu:") || line.contains(":cpu,");
            let line = cgroup.lines().find(is_cpu);
            groups.extend(line.map(str::to_owned));
        }
    }
    groups
}

//! Plans and CPU limits in real cgroups of either version.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use std::{collections::BTreeSet, fs, path::PathBuf, time::Duration};

use common::{
    Agent, Parent, Tree, quota_us, runs_as_unit, set_quota_us, set_shares, shares, wait_until,
};
use elastane_protocol::Limits;
use nix::sys::signal::Signal;

const BUSY: &str = "while :; do :; done";

fn assert_near(cores: f64, expected: f64) {
    let ratio = cores / expected;
    assert!((0.9..=1.1).contains(&ratio), "{cores} cores used, {expected} expected");
}

#[test]
fn a_busy_loop_follows_the_steps_of_its_plan_until_the_plan_ends() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let tree = Tree::new(BUSY);
    agent.runs(&[&tree]);
    let steps = [(0, 0.5, Some(0.3)), (6000, 2.0, Some(0.7))];
    agent.apply(12_000, vec![tree.plan(&steps)]);
    assert_eq!((parent.quota_us(&tree), parent.shares(&tree)), (30_000, 512));
    assert_near(parent.cores_used(&tree, Duration::from_secs(3)), 0.3);
    assert_eq!(parent.quota_us(&tree), 30_000, "the measurement took too long");

    wait_until("the second step", || parent.quota_us(&tree) == 70_000);
    assert_eq!(parent.shares(&tree), 2048);
    assert_near(parent.cores_used(&tree, Duration::from_secs(3)), 0.7);
    assert_eq!(parent.quota_us(&tree), 70_000, "the measurement took too long");
    let limit = agent.report().containers[0].limits.unwrap();
    assert_eq!(limit.cpu_cap_cores, Some(0.7));

    wait_until("the end of the plan", || !parent.group_of(&tree).exists());
    assert_eq!(agent.report().containers[0].limits, None);
    assert_eq!(agent.audited(), ["plan_step", "plan_step", "plan_ended"]);
}

#[test]
fn a_container_is_in_own_groups_exactly_while_a_plan_limits_it() {
    let Some(outer) = Parent::unrestricted() else { return };
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let tree = Tree::new("sleep 600");
    outer.hold(&tree);
    let before = tree.place();
    agent.runs(&[&tree]);
    // The reply of a ResourceManager that only observes.
    agent.apply(60_000, Vec::new());
    agent.runs(&[&tree]);
    assert_eq!((tree.place(), parent.inner()), (before.clone(), 0));

    agent.apply(1000, vec![tree.plan(&[(0, 2.0, Some(0.3))])]);
    assert!(tree.is_in_group_for("cpu") && tree.is_in_group_for("cpuacct"));
    // In hierarchies without a limited resource, the container is not moved.
    assert_eq!(tree.is_in_group_for("memory"), parent.is_version_2());
    assert_eq!((parent.quota_us(&tree), parent.shares(&tree)), (30_000, 2048));
    wait_until("the end of the plan", || parent.inner() == 0);
    assert_eq!(tree.place(), before);
    // The container can be limited again.
    agent.apply(60_000, vec![tree.plan(&[(0, 2.0, Some(0.4))])]);
    assert_eq!(parent.quota_us(&tree), 40_000);
}

#[test]
fn a_container_whose_former_group_is_gone_returns_to_the_group_above_and_never_to_the_root() {
    let (Some(outer), Some(parent)) = (Parent::unrestricted(), Parent::new()) else { return };
    let agent = Agent::start(&parent.name);
    let mut tree = Tree::new("sleep 600");
    let services: Vec<_> = outer.groups().iter().map(|group| group.join("service")).collect();
    for service in &services {
        fs::create_dir(service).unwrap();
        fs::write(service.join("cgroup.procs"), tree.pid().to_string()).unwrap();
    }
    let is_in = |tree: &Tree, group: &str| tree.cgroup("cpu") == format!("/{group}");
    let limit_remove_and_lift = |groups: &[PathBuf]| {
        agent.runs(&[&tree]);
        agent.apply(60_000, vec![tree.plan(&[(0, 1.0, Some(0.2))])]);
        assert!(tree.is_in_group_for("cpu"));
        // Where nothing is moved the process is left in its group.
        groups.iter().for_each(|group| drop(fs::remove_dir(group)));
        assert!(!groups.iter().any(|group| group.starts_with(&outer.cpu) && group.exists()));
        agent.apply(60_000, vec![]);
    };
    limit_remove_and_lift(&services);
    wait_until("it returns", || is_in(&tree, &outer.name));

    limit_remove_and_lift(&outer.groups().into_iter().collect::<Vec<_>>());
    wait_until("it is counted", || {
        !agent.status().is_null() && agent.troubles("processes not moved back") > 0
    });
    assert!(tree.is_in_group_for("cpu"), "{}", tree.cgroup("cpu"));
    assert_eq!(parent.quota_us(&tree), -1, "no limit is in force");
    tree.end();
    wait_until("its groups are removed", || parent.inner() == 0);
}

#[test]
fn a_container_with_a_new_root_process_replaces_the_old_tree() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let (tree, mut other) = (Tree::new("sleep 600"), Tree::new("sleep 600"));
    let before = tree.place();
    agent.runs(&[&tree]);
    agent.apply(60_000, vec![tree.plan(&[(0, 1.0, Some(0.2))])]);
    other.id.clone_from(&tree.id);
    agent.runs(&[&other]);
    assert_eq!(tree.place(), before);
    assert!(other.cgroup("cpu").ends_with(&other.id));
    assert_eq!(parent.quota_us(&other), 20_000);
}

#[test]
fn a_container_that_cannot_be_moved_is_measured_and_moved_with_the_next_plan() {
    let outer = [(); 2].map(|()| Parent::unrestricted());
    let ([Some(one), Some(other)], Some(parent)) = (outer, Parent::new()) else { return };
    let agent = Agent::start(&parent.name);
    let tree = Tree::new("sleep 600 & wait");
    wait_until("the tree has grown", || tree.processes().len() == 2);
    one.hold(&tree);
    let before = tree.place();
    let processes = tree.processes();
    let (child, _) = processes.iter().find(|(pid, _)| *pid != tree.pid()).unwrap();
    other.hold_process(*child);
    let of_child = || fs::read_to_string(format!("/proc/{child}/cgroup")).unwrap();
    let child_before = of_child();
    let plan = || vec![tree.plan(&[(0, 1.0, Some(0.2))])];
    agent.runs(&[&tree]);
    // Back from one group they would all go to the same one.
    agent.apply(60_000, plan());
    assert_eq!((tree.place(), of_child()), (before, child_before));
    assert!(!parent.group_of(&tree).exists());
    let report = agent.report();
    assert_eq!(report.containers[0].limits, None);
    wait_until("it is measured", || {
        let samples = &agent.report().containers[0].samples;
        samples.last().is_some_and(|sample| sample.usage.memory_bytes > 0)
    });
    assert!(agent.troubles("containers without a group") > 0);
    one.hold_process(*child);
    agent.apply(60_000, plan());
    assert_eq!(parent.quota_us(&tree), 20_000);
}

#[test]
fn a_newer_plan_without_the_container_lifts_its_limit() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let (one, other) = (Tree::new("sleep 600"), Tree::new("sleep 600"));
    let before = one.place();
    agent.runs(&[&one, &other]);
    let plans = vec![one.plan(&[(0, 1.0, Some(0.2))]), other.plan(&[(0, 4.0, None)])];
    agent.apply(60_000, plans);
    assert_eq!((parent.quota_us(&one), parent.shares(&other)), (20_000, 4096));
    agent.apply(60_000, vec![other.plan(&[(0, 4.0, None)])]);
    assert_eq!((one.place(), parent.shares(&other)), (before, 4096));
    assert!(!parent.group_of(&one).exists());
    assert_eq!(agent.audited(), ["plan_step", "plan_step", "not_in_plan"]);
}

#[test]
fn the_group_of_an_ended_container_is_removed() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let (mut ended, lingering) = (Tree::new("sleep 600"), Tree::new("sleep 600"));
    let before = lingering.place();
    agent.runs(&[&ended, &lingering]);
    let plan = |tree: &Tree| tree.plan(&[(0, 1.0, Some(0.2))]);
    agent.apply(60_000, vec![plan(&ended), plan(&lingering)]);
    assert_eq!(parent.inner(), 2 * parent.groups_for_cpu());
    ended.end();
    agent.runs(&[]);
    wait_until("the groups are removed", || parent.inner() == 0);
    // A process that outlives its container is in its former group, without a limit.
    assert_eq!(lingering.place(), before);
    let gone = ["container_gone"; 2];
    assert_eq!(agent.audited()[2..], gone);
}

#[test]
fn a_clean_stop_undoes_all_changes() {
    let Some(parent) = Parent::new() else { return };
    // systemd owns the group above the parent in version 2.
    let inner = if runs_as_unit() && parent.is_version_2() { "made" } else { "made/twice" };
    let mut agent = Agent::start(&format!("{}/{inner}", parent.name));
    let tree = Tree::new("sleep 600 & sleep 600");
    let before = tree.place();
    agent.runs(&[&tree]);
    agent.apply(60_000, vec![tree.plan(&[(0, 1.0, Some(0.2))])]);
    assert!(tree.cgroup("cpu").ends_with(&tree.id));
    assert!(shares(&parent.cpu.join(inner)) > 1024);
    let status = agent.signal(Signal::SIGTERM);
    assert!(status.success(), "{status}");
    assert_eq!(tree.place(), before);
    assert_eq!(parent.inner(), 0);
    assert!(!agent.socket().exists());
    assert!(!agent.directory().join("agent.sock.journal").exists());
    assert!(parent.cpu.exists(), "a parent that the agent did not make is gone");
}

#[test]
fn the_executors_cpu_limits_are_restored() {
    let Some(parent) = Parent::new() else { return };
    let tree = Tree::new(BUSY);
    let group = parent.hold_as_executor(&tree, &["cpu", "cpuacct"]);
    set_shares(&group, 3000);
    let before = (shares(&group), -1);
    let values = || (shares(&group), quota_us(&group));

    let mut agent = Agent::start(&format!("{}/own", parent.name));
    agent.runs(&[&tree]);
    assert!(tree.cgroup("cpu").ends_with(&format!("yarn/{}", tree.id)));
    agent.apply(60_000, vec![tree.plan(&[(0, 2.0, Some(0.1))])]);
    agent.signal(Signal::SIGKILL);
    agent.start_again();
    assert!(agent.report().containers.is_empty());
    assert_eq!(values(), before);

    agent.runs(&[&tree]);
    agent.apply(60_000, vec![tree.plan(&[(0, 1.0, Some(0.5))])]);
    assert_eq!(values(), (1024, 50_000));
    wait_until("a sample of half a core", || {
        let samples = &agent.report().containers[0].samples;
        samples.last().is_some_and(|sample| (0.4..0.6).contains(&sample.usage.cpu_cores))
    });
    drop(agent);
    assert_eq!(values(), before);
    assert!(tree.cgroup("cpu").ends_with(&format!("yarn/{}", tree.id)));
}

#[test]
fn a_cap_above_the_parents_quota_is_left_to_the_parent() {
    let Some(parent) = Parent::new() else { return };
    set_quota_us(&parent.cpu, 60_000);
    let agent = Agent::start(&parent.name);
    let tree = Tree::new("sleep 600");
    agent.runs(&[&tree]);
    agent.apply(60_000, vec![tree.plan(&[(0, 1.5, Some(0.9))])]);
    // Version 1 refuses a quota above the parent's. In version 2 the tighter quota holds.
    let expected = if parent.is_version_2() { 90_000 } else { -1 };
    assert_eq!((parent.quota_us(&tree), parent.shares(&tree)), (expected, 1536));
    let in_force = agent.report().containers[0].limits;
    assert!(in_force.is_some(), "the kernel refused the quota");
    agent.apply(60_000, vec![tree.plan(&[(0, 1.5, Some(0.4))])]);
    assert_eq!(parent.quota_us(&tree), 40_000);
}

#[test]
fn two_busy_containers_share_a_core_by_their_weights() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    // Both on one core, whatever the machine has.
    let busy = "taskset -c 0 sh -c \"while :; do :; done\" & wait";
    let (large, small) = (Tree::new(busy), Tree::new(busy));
    agent.runs(&[&large, &small]);
    let weight = |cores| Limits { cpu_weight_cores: Some(cores), ..Limits::default() };
    agent.apply(60_000, vec![large.limited(weight(3.0)), small.limited(weight(1.0))]);
    let both = || [large.cpu_seconds(), small.cpu_seconds()];
    let before = both();
    let used = || {
        let now = both();
        [now[0] - before[0], now[1] - before[1]]
    };
    wait_until("four seconds of the core are shared", || used().iter().sum::<f64>() >= 4.0);
    let [of_large, of_small] = used();
    let ratio = of_large / of_small;
    assert!((2.7..=3.3).contains(&ratio), "{ratio:.2} instead of 3");
}

#[test]
fn a_tree_that_keeps_forking_is_moved_as_a_whole() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let script = "for i in 1 2 3 4; do (while :; do sleep 0.01; done) & done; wait";
    let tree = Tree::new(script);
    wait_until("the tree has grown", || tree.processes().len() >= 5);
    let before = cpu_groups_of(&tree);
    agent.runs(&[&tree]);
    agent.apply(60_000, vec![tree.plan(&[(0, 64.0, None)])]);
    for group in cpu_groups_of(&tree) {
        assert!(group.ends_with(&tree.id), "a process was left in {group}");
    }
    agent.apply(60_000, Vec::new());
    wait_until("the group is removed", || parent.inner() == 0);
    assert_eq!(cpu_groups_of(&tree), before);
}

/// The kernel reports an exiting process in version 1's root group, wherever it was.
fn is_exiting(pid: u32) -> bool {
    const PF_EXITING: u64 = 0x4;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // After the name, which may have any characters: state, five ids, the flags.
    let flags = stat.rsplit(") ").next().and_then(|it| it.split(' ').nth(6));
    flags.and_then(|it| it.parse().ok()).is_none_or(|flags: u64| flags & PF_EXITING != 0)
}

/// The cpu groups of a tree's processes.
fn cpu_groups_of(tree: &Tree) -> BTreeSet<String> {
    let mut groups = BTreeSet::new();
    for (pid, _) in tree.processes() {
        let cgroup = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        if is_exiting(pid) {
            continue;
        }
        let is_cpu = |line: &&str| line.contains(":cpu:") || line.contains(":cpu,");
        let version_2 = |line: &&str| line.starts_with("0::");
        let line = cgroup.lines().find(is_cpu);
        let line = line.or_else(|| cgroup.lines().find(version_2));
        groups.extend(line.map(str::to_owned));
    }
    groups
}

//! Which containers are moved to the agent's groups, and what the agent makes for them, in real cgroups of either version.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;

use std::fs;

use common::{Agent, Parent, Tree, runs_as_unit, set_quota_us, shares, version_2_root, wait_until};
use elastane_protocol::Limits;

const CONTAINERS_LEFT: &str = "containers left in their group";

#[test]
fn a_container_that_a_group_restricts_stays_there_until_it_does_no_longer() {
    let (Some(outer), Some(parent)) = (Parent::unrestricted(), Parent::new()) else { return };
    let agent = Agent::start(&parent.name);
    let tree = Tree::new("sleep 600");
    outer.hold(&tree);
    set_quota_us(&outer.cpu, 150_000);
    let before = tree.place();
    agent.runs(&[&tree]);
    let can_limit = agent.report().can_limit;
    // In version 1 the quota is in the hierarchy of the CPU only. Without CPU accounting nothing is moved.
    let is_accounting_apart = parent.cpu != parent.cpuacct;
    assert_eq!((can_limit.cpu, can_limit.memory), (false, is_accounting_apart));

    let plan = || vec![tree.plan(&[(0, 1.0, Some(0.2))])];
    agent.apply(60_000, plan());
    assert_eq!((tree.place(), parent.inner()), (before, 0));
    assert_eq!(agent.report().containers[0].limits, None);
    let file = if parent.is_version_2() { "cpu.max" } else { "cpu.cfs_quota_us" };
    let held_by = format!("{}: {file} is 150000", outer.cpu.display());
    wait_until("the status says why", || {
        let status = agent.status();
        let why = status["containers"][0]["left_in_its_group"][0].as_str();
        why.is_some_and(|why| why.starts_with(&held_by))
    });
    assert_eq!(agent.troubles(CONTAINERS_LEFT), 1);

    set_quota_us(&outer.cpu, -1);
    agent.apply(60_000, plan());
    assert_eq!(parent.quota_us(&tree), 20_000);
    assert!(agent.report().can_limit.cpu);
}

#[test]
fn a_container_without_a_restriction_is_limited_beside_one_that_has_one() {
    let (Some(outer), Some(parent)) = (Parent::unrestricted(), Parent::new()) else { return };
    let agent = Agent::start(&parent.name);
    let (free, held) = (Tree::new("sleep 600"), Tree::new("sleep 600"));
    outer.hold(&held);
    set_quota_us(&outer.cpu, 150_000);
    agent.runs(&[&free, &held]);
    assert!(agent.report().can_limit.cpu);
    let before = held.place();
    let plan = |tree: &Tree| tree.plan(&[(0, 1.0, Some(0.2))]);
    agent.apply(60_000, vec![plan(&free), plan(&held)]);
    assert_eq!((parent.quota_us(&free), held.place()), (20_000, before));
}

#[test]
fn the_parent_is_made_for_a_plan_and_removed_after_it() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&format!("{}/made", parent.name));
    let tree = Tree::new("sleep 600");
    let controllers = || fs::read_to_string(parent.cpu.join("cgroup.subtree_control")).ok();
    let before = controllers();
    agent.runs(&[&tree]);
    // The reply of a ResourceManager that only observes.
    agent.apply(60_000, Vec::new());
    agent.runs(&[&tree]);
    assert_eq!((parent.inner(), controllers()), (0, before.clone()));

    agent.apply(1000, vec![tree.plan(&[(0, 1.0, Some(0.2))])]);
    assert!(tree.is_in_group_for("cpu"));
    // 9 times the default: a tenth is left to another group of the default weight.
    assert_eq!(shares(&parent.cpu.join("made")), 9216);
    wait_until("the end of the plan", || parent.inner() == 0);
    wait_until("controllers are taken back", || controllers() == before);
    agent.apply(60_000, vec![tree.plan(&[(0, 1.0, Some(0.3))])]);
    assert!(tree.is_in_group_for("cpu"));
}

#[test]
fn a_parent_that_was_removed_is_made_again() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&format!("{}/made", parent.name));
    let (mut first, second) = (Tree::new("sleep 600"), Tree::new("sleep 600"));
    agent.runs(&[&first]);
    let plan = |tree: &Tree| tree.plan(&[(0, 1.0, Some(0.2))]);
    agent.apply(60_000, vec![plan(&first), plan(&second)]);
    assert!(first.is_in_group_for("cpu"));
    // As systemd does when the NodeManager's service ends.
    first.end();
    for group in parent.groups() {
        let made = group.join("made");
        wait_until("the groups are removed", || {
            let _ = fs::remove_dir(made.join(&first.id));
            let _ = fs::remove_dir(&made);
            !made.exists()
        });
    }
    agent.runs(&[&second]);
    assert!(second.is_in_group_for("cpu"));
    assert_eq!(shares(&parent.cpu.join("made")), 9216);
}

#[test]
fn a_process_that_was_taken_out_of_its_group_is_moved_back_with_a_plan() {
    let (Some(outer), Some(parent)) = (Parent::unrestricted(), Parent::new()) else { return };
    let agent = Agent::start(&parent.name);
    let tree = Tree::new("sleep 600");
    agent.runs(&[&tree]);
    let plan = |cap| vec![tree.plan(&[(0, 1.0, Some(cap))])];
    agent.apply(60_000, plan(0.2));
    assert!(tree.is_in_group_for("cpu"));
    let sequence = agent.report().sequence;
    outer.hold(&tree);
    // Beside version 1, the group that lists its processes is one of version 2.
    if let Some(root) = version_2_root().filter(|_| !parent.is_version_2()) {
        fs::write(root.join("cgroup.procs"), tree.pid().to_string()).unwrap();
    }
    assert!(!tree.is_in_group_for("cpu"));
    wait_until("readings without it", || agent.report().sequence >= sequence + 2);
    agent.apply(60_000, plan(0.3));
    assert!(tree.is_in_group_for("cpu"));
}

/// In version 1 a process can leave the group of one controller and stay in the others.
#[test]
fn a_process_that_was_taken_out_of_one_of_its_groups_is_moved_back_with_a_plan() {
    let (Some(outer), Some(parent)) = (Parent::unrestricted(), Parent::new()) else { return };
    if parent.is_version_2() {
        return;
    }
    let agent = Agent::start(&parent.name);
    let tree = Tree::new("sleep 600");
    agent.runs(&[&tree]);
    let plan =
        |cap| Limits { cpu_cap_cores: Some(cap), memory_bytes: Some(1 << 30), ..Limits::default() };
    let all = ["cpu", "memory"];
    let are_inside = || all.map(|controller| tree.is_in_group_for(controller));
    agent.apply(60_000, vec![tree.limited(plan(0.2))]);
    assert_eq!(are_inside(), [true; 2]);
    for (group, left) in [(&outer.cpu, [false, true]), (&outer.memory, [true, false])] {
        fs::write(group.join("cgroup.procs"), tree.pid().to_string()).unwrap();
        assert_eq!(are_inside(), left);
        agent.apply(60_000, vec![tree.limited(plan(0.3))]);
        assert_eq!(are_inside(), [true; 2]);
    }
}

#[test]
fn a_busy_group_beside_the_containers_keeps_its_part() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&format!("{}/made", parent.name));
    // Both on one core, whatever the machine has.
    let busy = "taskset -c 0 sh -c \"while :; do :; done\" &";
    let container = Tree::new(&format!("{busy} {busy} {busy} wait"));
    let service = Tree::new("exec taskset -c 0 sh -c \"while :; do :; done\"");
    agent.runs(&[&container]);
    let weight = Limits { cpu_weight_cores: Some(64.0), ..Limits::default() };
    agent.apply(60_000, vec![container.limited(weight)]);
    let group = parent.cpu.join("service");
    fs::create_dir(&group).unwrap();
    fs::write(group.join("cgroup.procs"), service.pid().to_string()).unwrap();
    let both = || [container.cpu_seconds(), service.cpu_seconds()];
    let before = both();
    let used = || {
        let now = both();
        [now[0] - before[0], now[1] - before[1]]
    };
    wait_until("five seconds of the core are shared", || used().iter().sum::<f64>() >= 5.0);
    let [of_container, of_service] = used();
    let part = of_service / (of_container + of_service);
    assert!((0.08..=0.13).contains(&part), "{part:.3} instead of a tenth");
}

/// In the guest that boots systemd. A scope is what Docker has for a container with `native.cgroupdriver=systemd`.
#[test]
fn a_container_in_a_scope_keeps_what_the_scope_has() {
    if !runs_as_unit() {
        return;
    }
    let Some(parent) = Parent::new().filter(Parent::is_version_2) else { return };
    let agent = Agent::start(&parent.name);
    for (property, kept) in [
        ("TasksMax=50", "pids.max is 50"),
        ("MemoryMax=512M", "memory.max is 536870912"),
        ("AllowedCPUs=0", "cpuset.cpus is 0"),
        ("DevicePolicy=strict", "a BPF program for devices is attached"),
        ("IPAddressDeny=any", "a BPF program for incoming packets is attached"),
    ] {
        let options = format!("--scope --quiet --property=TasksMax=infinity --property={property}");
        let tree = Tree::new(&format!("exec systemd-run {options} sleep 600"));
        wait_until("it is in its scope", || tree.cgroup("cpu").ends_with(".scope"));
        let before = tree.place();
        agent.runs(&[&tree]);
        assert!(!agent.report().can_limit.cpu, "{property}");
        agent.apply(60_000, vec![tree.plan(&[(0, 1.0, Some(0.2))])]);
        assert_eq!((tree.place(), parent.inner()), (before, 0), "{property}");
        wait_until("the status says why", || {
            let status = agent.status();
            let why = status["containers"][0]["left_in_its_group"][0].as_str();
            why.is_some_and(|why| why.ends_with(kept))
        });
        agent.runs(&[]);
    }
}

//! The capabilities of the systemd unit are sufficient, and each of them is necessary.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;
#[path = "common/java.rs"]
mod java;
#[allow(dead_code)] // only the cable is used
#[path = "common/netns/mod.rs"]
mod netns;

use std::{collections::BTreeSet, fs, os::unix::fs::chown, process::Output};

use common::{
    Agent, Parent, Tree, is_version_2_alone, set_quota_us, skip, times_slower, unit_capabilities,
    version_2_root, wait_until,
};
use elastane_protocol::{AgentRequest, AgentResponse, Limits, RunningContainer};
use netns::{Cable, End};
use nix::{sys::signal::Signal, unistd::geteuid};

const NOBODY: u32 = 65534;
const MIB: u64 = 1 << 20;

/// The functions that work for an agent that is root with these capabilities only.
fn works_with(capabilities: &[String]) -> Option<BTreeSet<&'static str>> {
    let parent = Parent::new()?;
    let cable = Cable::new()?;
    // The node is always short. It has room for one of two requests: once both are known, the younger
    // container is killed.
    let sections = "[memory]\nnode_floor_bytes = 1000000000000000\nkill_after_ms = 1000\n\
                    [network]\nbackend = \"bpf\"\ndevices = [\"cable\"]\n\
                    [capacity]\nmemory_bytes = 1073741824\nnetwork_bytes_per_s = 12500000\n";
    let group_of_the_socket = format!("group = \"{}\"\n", another_group());
    let own = format!("{}/own", parent.name);
    let mut agent = Agent::prepare_with(&own, &group_of_the_socket, sections);
    agent.give_capabilities(capabilities);
    let mut works = BTreeSet::new();
    if !cable.within(End::Left, || agent.try_start()) {
        return Some(works);
    }
    works.insert("the socket's group");

    let script =
        format!("exec setpriv --reuid={NOBODY} --clear-groups sh -c 'while :; do :; done'");
    let mut elder = Tree::new(&script);
    elder.request_memory_bytes = 800 * MIB;
    wait_until("it is another user's", || elder.uid() == NOBODY);
    let mut younger = Tree::new(&script);
    wait_until("the other one is, too", || younger.uid() == NOBODY);
    // Groups as made by a NodeManager that runs as this user.
    let controllers = ["cpu", "cpuacct", "memory", "blkio"];
    let executors = parent.hold_as_executor(&elder, &controllers);
    set_quota_us(&executors, 90_000);
    for entry in fs::read_dir(&executors).unwrap().flatten() {
        chown(entry.path(), Some(NOBODY), None).unwrap();
    }
    chown(&executors, Some(NOBODY), None).unwrap();
    let jvm = has_jvm().then(|| {
        let script = format!(
            "exec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups java -Xmx64m \"$@\""
        );
        java::Workload::start_by_script(&script)
    });
    let of_jvm = jvm.as_ref().map(|jvm| RunningContainer {
        container: format!("container_{}_0001_01_999999", std::process::id()),
        pid: jvm.pid(),
        request_memory_bytes: 0,
    });
    let running = [elder.running(), younger.running()].into_iter().chain(of_jvm.clone());
    assert_eq!(agent.ask(&AgentRequest::Containers(running.collect())), AgentResponse::Done);
    if let Some(container) = &of_jvm
        && has_heap(&agent, &container.container)
    {
        works.insert("files of a job");
    }
    if agent.report().can_limit.network_received {
        works.insert("the network");
    }
    let limits = Limits {
        cpu_weight_cores: Some(1.0),
        cpu_cap_cores: Some(0.5),
        network_weight_bytes_per_s: Some(1_250_000),
        network_cap_bytes_per_s: Some(5_000_000),
        ..Limits::default()
    };
    agent.apply(60_000, vec![elder.limited(limits), younger.limited(limits)]);
    let own = parent.cpu.join("own").join(&younger.id);
    if own.exists() && common::quota_us(&own) == 50_000 {
        works.insert("own groups");
    }
    if common::quota_us(&executors) == 50_000 {
        works.insert("groups of others");
    }
    let classes = cable.tc(End::Left, "class show dev cable");
    if classes.contains("rate 10Mbit ceil 40Mbit") {
        works.insert("shares of a device");
    }
    // Out of a group that could be killed as a whole, which takes no capability.
    if let Some(unified) = version_2_root() {
        let _ = fs::write(unified.join("cgroup.procs"), younger.pid().to_string());
    }
    younger.request_memory_bytes = 800 * MIB;
    let running = [elder.running(), younger.running()].into_iter().chain(of_jvm);
    assert_eq!(agent.ask(&AgentRequest::Containers(running.collect())), AgentResponse::Done);
    let has_failed = || agent.troubles("killed processes that live") > 0;
    wait_until("a kill that has failed or not", || {
        younger.running_processes() == 0 || has_failed()
    });
    if younger.running_processes() == 0 {
        works.insert("killing");
    }
    if agent.troubles("disk use denied") == 0 {
        works.insert("disk use");
    }
    Some(works)
}

/// Everything that can be tried here.
fn all() -> BTreeSet<&'static str> {
    let mut all = BTreeSet::from([
        "the socket's group",
        "the network",
        "shares of a device",
        "own groups",
        "groups of others",
        "killing",
        "disk use",
    ]);
    if has_jvm() {
        all.insert("files of a job");
    }
    all
}

/// On emulated processors the start of a JVM takes too long.
fn has_jvm() -> bool {
    times_slower() == 1
}

/// Whether the heap of a container's JVM is measured. It is, or the agent counts that it cannot.
fn has_heap(agent: &Agent, container: &str) -> bool {
    let mut heap_bytes = 0;
    // What is used of it is known from its first collection on.
    wait_until("the heap is measured or not", || {
        let report = agent.report();
        let found = report.containers.iter().find(|one| one.container == container);
        heap_bytes = found
            .and_then(|one| one.samples.last())
            .map_or(0, |sample| sample.usage.heap_committed_bytes);
        heap_bytes > 0 || agent.troubles("heaps not measured") > 0
    });
    heap_bytes > 0
}

/// A user group that the test's user is not in.
fn another_group() -> String {
    let groups = fs::read_to_string("/etc/group").unwrap();
    let mut groups = groups.lines().filter_map(|line| line.split_once(':'));
    let other = groups.find(|(_, rest)| rest.split(':').nth(1) != Some("0"));
    other.expect("a group beside root's").0.to_owned()
}

fn may_run() -> bool {
    if !geteuid().is_root() {
        skip("capabilities cannot be taken: not root");
        return false;
    }
    let mut setpriv = std::process::Command::new("setpriv");
    let can = setpriv.args(["--bounding-set=-all,+chown", "true"]).status();
    let can = can.is_ok_and(|status| status.success());
    if !can {
        skip("there is no setpriv that bounds capabilities");
    }
    can
}

#[test]
fn the_units_capabilities_are_enough() {
    if !may_run() {
        return;
    }
    let Some(works) = works_with(&unit_capabilities()) else {
        return;
    };
    assert_eq!(works, all());
}

/// Runs the unit's `ExecStopPost`.
fn stop_post(agent: &Agent) -> Output {
    let unit = include_str!("../elastane-agent.service");
    let mut lines = unit.lines();
    let line = lines.find_map(|line| line.strip_prefix("ExecStopPost="));
    let words: Vec<&str> = line.unwrap().split(' ').collect();
    let (config, arguments) = words[1..].split_last().unwrap();
    assert_eq!(*config, "/etc/elastane/agent.toml");
    let mut command = agent.command();
    command.args(arguments).arg(agent.config());
    command.output().unwrap()
}

#[test]
fn the_units_stop_post_undoes_the_agents_changes_and_no_others() {
    if !may_run() {
        return;
    }
    let Some(parent) = Parent::new() else { return };
    let mut agent = Agent::prepare_with(&format!("{}/made", parent.name), "", "");
    agent.give_capabilities(&unit_capabilities());
    let tree = Tree::new("sleep 600");
    let before = tree.place();
    let limit = |agent: &Agent| {
        agent.runs(&[&tree]);
        agent.apply(60_000, vec![tree.plan(&[(0, 2.0, Some(0.2))])]);
        assert_ne!(tree.place(), before);
    };
    let is_as_before = |agent: &Agent| {
        assert_eq!((tree.place(), parent.inner()), (before.clone(), 0));
        let files = fs::read_dir(agent.directory()).unwrap().flatten();
        let mut names: Vec<_> = files.map(|file| file.file_name()).collect();
        names.retain(|name| name.to_str().unwrap().starts_with("agent.sock"));
        assert!(names.is_empty(), "{names:?}");
    };

    assert!(agent.try_start());
    limit(&agent);
    // Beside a running agent: one started by hand keeps the unit's agent from starting.
    let place = tree.place();
    let refused = stop_post(&agent);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert_eq!(tree.place(), place);

    for signal in [Signal::SIGKILL, Signal::SIGABRT, Signal::SIGTERM] {
        agent.signal(signal);
        // Once more than systemd.
        for _ in 0..2 {
            let restored = stop_post(&agent);
            assert!(restored.status.success(), "{signal}: {restored:?}");
            is_as_before(&agent);
        }
        assert!(agent.try_start(), "systemd starts it again");
        limit(&agent);
    }
}

#[test]
fn each_of_the_units_capabilities_is_needed() {
    if !may_run() {
        return;
    }
    let capabilities = unit_capabilities();
    let everything: Vec<&str> = all().into_iter().collect();
    for left_out in &capabilities {
        let (fails, others_fail): (&[&str], bool) = match left_out.as_str() {
            "sys_ptrace" => (&["disk use", "files of a job"], false),
            "setuid" | "setgid" => (&["files of a job"], false),
            // The other functions depend on the owner of the hierarchies' roots.
            "dac_override" => (&["groups of others", "disk use"], true),
            // The agent does not start.
            "chown" => (&everything, true),
            "kill" => (&["killing"], false),
            "bpf" | "net_admin" => (&["the network", "shares of a device"], false),
            other => panic!("no test shows that the agent needs CAP_{other}"),
        };
        let others = capabilities.iter().filter(|one| *one != left_out).cloned();
        let Some(works) = works_with(&others.collect::<Vec<_>>()) else {
            return;
        };
        for what in &everything {
            let is_needed = fails.contains(what);
            // Version 2 may kill the group as a whole before the process is taken out of it.
            let is_either = *what == "killing" && left_out == "kill" && is_version_2_alone();
            let is_as_expected = works.contains(what) != is_needed || (others_fail && !is_needed);
            let is_as_expected = is_as_expected || is_either;
            assert!(is_as_expected, "without {left_out} there is {works:?}");
        }
    }
}

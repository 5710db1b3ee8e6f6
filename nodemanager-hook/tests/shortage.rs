//! A node that is short of memory, with a real agent and a real JVM.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;
#[path = "common/java.rs"]
mod java;

use std::{
    fs::OpenOptions,
    io::Write,
    time::{Duration, Instant},
};

use common::{Agent, Parent, Tree, memory_limit, times_slower, wait_until};
use elastane_agent::jvm::Former;
use elastane_protocol::{
    AgentRequest, AgentResponse, ContainerPlan, Limits, RunningContainer, Step,
};
use java::{MIB, Workload};

const ID: &str = "container_1_0001_01_000001";
const CAPACITY_MIB: u64 = 1024;
/// Above the node's capacity.
const OVERCOMMITTED_MIB: u64 = 2048;
const FLOOR_MIB: u64 = 1024;
/// The JVM counts as idle after this time; then its collector runs periodically.
const IDLE: Duration = Duration::from_secs(3);
/// A few readings, and less than the agent would wait for a JVM.
const NO_WAIT: Duration = Duration::from_secs(3);

/// A node with an overcommitted JVM. The test sets the node's available memory, since the machine's
/// depends on its other processes.
struct Node {
    agent: Agent,
    workload: Workload,
    former: Former,
    parent: Parent,
}

impl Node {
    /// The JVM has held 600 MiB and now holds `live_mib`. Its plan has applied since its start.
    fn new(options: &str, live_mib: u32, follow: bool, limits: Limits) -> Option<Self> {
        let parent = Parent::new()?;
        let sections = format!(
            "[memory]\nnode_floor_bytes = {}\nkill_after_ms = 600000\n\
             [capacity]\nmemory_bytes = {}\n[jvm]\nfollow = {follow}\n",
            FLOOR_MIB * MIB,
            CAPACITY_MIB * MIB,
        );
        let mut agent = Agent::prepare_with(&parent.name, "", &sections);
        agent.read_meminfo_of(agent.directory().join("meminfo"));
        let workload = Workload::start(options);
        let mut node =
            Self { former: workload.control().former().unwrap(), agent, workload, parent };
        node.set_available(2 * FLOOR_MIB);
        node.agent.start_again();
        node.runs(OVERCOMMITTED_MIB);
        node.plan(600_000, limits);
        node.workload.hold(600);
        node.workload.hold(live_mib);
        let idle_since = Instant::now();
        wait_until("the JVM is idle", || idle_since.elapsed() > IDLE);
        Some(node)
    }

    fn runs(&self, request_mib: u64) {
        let running = RunningContainer {
            container: ID.into(),
            pid: self.workload.pid(),
            request_memory_bytes: request_mib * MIB,
        };
        let response = self.agent.ask(&AgentRequest::Containers(vec![running]));
        assert_eq!(response, AgentResponse::Done);
    }

    fn wait_for_two_samples(&self) {
        let sequence = self.agent.report().sequence;
        wait_until("two samples", || self.agent.report().sequence >= sequence + 2);
    }

    /// Writes in place and with constant length, since the file is bind-mounted.
    fn set_available(&self, mebibytes: u64) {
        let line = |key, mebibytes| format!("{key:<16}{:>12} kB\n", mebibytes * 1024);
        let text = line("MemTotal:", 8192) + &line("MemAvailable:", mebibytes);
        let mut file = OpenOptions::new();
        let file = file.create(true).write(true).truncate(false);
        let path = self.agent.directory().join("meminfo");
        file.open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn plan(&self, valid_for_ms: u32, limits: Limits) {
        let steps = vec![Step { offset_ms: 0, limits }];
        let container = ID.into();
        let plan = ContainerPlan { container, steps };
        self.agent.apply(valid_for_ms, vec![plan]);
    }

    fn flags(&self) -> Former {
        self.workload.control().former().unwrap()
    }

    fn is_named(&self) -> bool {
        !self.agent.report().memory_victims.is_empty()
    }

    /// The reasons in the audit file that are about the shortage, in order.
    fn audited(&self) -> Vec<String> {
        let all = self.agent.audited().into_iter();
        all.filter(|reason| reason.starts_with("node_") || reason == "named").collect()
    }

    fn memory_limit(&self) -> Option<u64> {
        let group = self.parent.memory.join(ID);
        memory_limit(&group)
    }

    fn status(&self) -> String {
        let mut command = self.agent.command();
        let command = command.args(["status", "--config"]).arg(self.agent.config());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    }
}

/// What makes a node this system's to keep.
fn cpu() -> Limits {
    Limits { cpu_weight_cores: Some(1.0), ..Limits::default() }
}

#[test]
fn a_jvm_gives_back_what_is_missing_and_nobody_is_named() {
    let memory = Limits { memory_bytes: Some(1024 * MIB), ..cpu() };
    for limits in [cpu(), memory] {
        let Some(mut node) = Node::new("-Xmx700m -XX:+UseG1GC", 50, true, limits) else {
            return;
        };
        // 300 MiB are missing until the JVM has returned as much.
        let full = node.workload.resident_mib();
        assert!(full > 500, "{full}");
        let begun = Instant::now();
        wait_until("the JVM gives back what is missing", || {
            let resident = node.workload.resident_mib();
            let given_back = full.saturating_sub(resident);
            node.set_available(FLOOR_MIB - 300 + given_back);
            assert!(!node.is_named(), "after {:?}", begun.elapsed());
            given_back > 300
        });
        println!("{:?} for 300 MiB", begun.elapsed());
        node.set_available(2 * FLOOR_MIB);
        assert_ne!(node.flags(), node.former);
        wait_until("the status has the reason", || {
            node.status().contains("s before: node_short\n")
        });
        wait_until("its flags are what they were", || node.flags() == node.former);
        wait_until("the audit file has both", || {
            let audited = node.audited();
            audited.first().is_some_and(|first| first == "node_short")
                && audited.last().is_some_and(|last| last == "node_not_short")
        });
        assert!(!node.audited().contains(&"named".to_owned()));
        assert_eq!(node.memory_limit(), limits.memory_bytes);
        assert!(node.workload.is_alive());
        assert_eq!(node.agent.troubles("heaps not changed"), 0);
    }
}

#[test]
fn a_container_that_returns_too_little_is_named_after_it_was_asked() {
    let Some(mut node) = Node::new("-Xmx700m -XX:+UseG1GC", 600, true, cpu()) else {
        return;
    };
    node.set_available(FLOOR_MIB - 300);
    wait_until("the container is named", || node.is_named());
    wait_until("that is written", || node.audited().iter().any(|reason| reason == "named"));
    assert_eq!(node.audited()[..2], ["node_short", "named"]);
    assert_ne!(node.flags(), node.former);
    // Without planned limits, Elastane does not change the JVM, however short the node is.
    node.plan(1, Limits::default());
    wait_until("its flags are what they were", || node.flags() == node.former);
    assert!(node.is_named());
    assert!(node.workload.is_alive());
}

#[test]
fn a_container_is_named_at_once_if_no_jvm_may_be_asked() {
    // Not a supported collector; not configured to follow; not limited by the plan.
    for (options, follow, limits) in [
        ("-Xmx700m -XX:+UseParallelGC", true, cpu()),
        ("-Xmx700m -XX:+UseG1GC", false, cpu()),
        ("-Xmx700m -XX:+UseG1GC", true, Limits::default()),
    ] {
        let Some(node) = Node::new(options, 50, follow, limits) else {
            return;
        };
        let begun = Instant::now();
        node.set_available(FLOOR_MIB - 300);
        wait_until("the container is named", || node.is_named());
        let waited = begun.elapsed();
        assert!(waited < NO_WAIT * times_slower(), "{options}: {waited:?}");
        node.wait_for_two_samples();
        assert_eq!(node.flags(), node.former);
        assert_eq!(node.audited(), ["named"]);
    }
}

#[test]
fn a_container_that_fits_by_requests_is_neither_asked_nor_named() {
    let Some(node) = Node::new("-Xmx700m -XX:+UseG1GC", 50, true, cpu()) else {
        return;
    };
    // The same JVM, in a container with a smaller request.
    let response = node.agent.ask(&AgentRequest::Containers(Vec::new()));
    assert_eq!(response, AgentResponse::Done);
    node.runs(CAPACITY_MIB);
    node.plan(600_000, cpu());
    node.set_available(FLOOR_MIB - 300);
    node.wait_for_two_samples();
    assert!(node.agent.troubles("memory of the node") > 0);
    assert!(!node.is_named());
    assert_eq!(node.flags(), node.former);
}

#[test]
fn a_container_whose_processes_follow_each_other_is_killed_as_a_whole() {
    // Eight chains: each process starts the next one after 50 ms, and ends.
    let chains = "next() { sleep 0.05; next & }; for chain in 1 2 3 4 5 6 7 8; do next & done; exec sleep 600";
    // With the network's group, and without: in version 1 only that one can be killed as a whole.
    for network in ["", "[network]\nmeasure = false\n"] {
        let Some(parent) = Parent::new() else { return };
        let sections = format!(
            "[memory]\nnode_floor_bytes = 1000000000000000\nkill_after_ms = 1000\n\
             [capacity]\nmemory_bytes = 1073741824\n{network}"
        );
        let agent = Agent::start_with(&parent.name, &sections);
        let mut tree = Tree::in_session(chains);
        tree.request_memory_bytes = 2048 * MIB;
        wait_until("the chains run", || tree.running_processes() > 8);
        agent.runs(&[&tree]);
        agent.apply(60_000, vec![tree.plan(&[(0, 1.0, None)])]);
        let killed = || {
            let changes = agent.audited_changes(&tree);
            changes.into_iter().find(|change| change["reason"] == "killed")
        };
        wait_until("the kill is written", || killed().is_some());
        assert_eq!(killed().unwrap()["left"], 0);
        assert_eq!(tree.running_processes(), 0, "{network}");
    }
}

#[test]
fn the_youngest_overcommitted_container_is_killed_if_naming_it_did_not_help() {
    let Some(parent) = Parent::new() else { return };
    // The node is always short and has room for one of the two requests.
    let sections = "[memory]\nnode_floor_bytes = 1000000000000000\nkill_after_ms = 1000\n\
                    [capacity]\nmemory_bytes = 1073741824\n";
    let agent = Agent::start_with(&parent.name, sections);
    let (mut elder, mut younger) =
        (Tree::new("sleep 600; true"), Tree::new("sleep 600 & sleep 600"));
    elder.request_memory_bytes = 800 * MIB;
    younger.request_memory_bytes = 800 * MIB;
    wait_until("a clear order of start", || {
        let is_younger = younger.start_ticks() > elder.start_ticks();
        if !is_younger {
            younger = Tree::new("sleep 600 & sleep 600");
            younger.request_memory_bytes = 800 * MIB;
        }
        is_younger
    });
    wait_until("the trees have grown", || {
        elder.running_processes() == 2 && younger.running_processes() == 3
    });
    agent.runs(&[&elder, &younger]);
    wait_until("the victim is named", || {
        let victims = agent.report().memory_victims;
        victims.len() == 1 && victims[0].container == younger.id && victims[0].short_bytes > 0
    });
    let named = || {
        let reasons = agent.audited().into_iter();
        reasons.filter(|reason| reason == "named").count()
    };
    wait_until("that is written", || named() > 0);
    let begun = Instant::now();
    wait_until("longer than the agent waits", || begun.elapsed() > Duration::from_millis(1500));
    assert_eq!(younger.running_processes(), 3, "killed without a plan");
    agent.apply(60_000, vec![elder.plan(&[(0, 1.0, None)])]);
    wait_until("the younger is killed", || younger.running_processes() == 0);
    assert_eq!(elder.running_processes(), 2);
    wait_until("the reason is written", || agent.audited().iter().any(|reason| reason == "killed"));
    assert_eq!(named(), 1, "recorded with each reading");
    wait_until("the status has both", || {
        let status = agent.printed_status();
        let containers = status.iter().flat_map(|status| status["containers"].as_array());
        let mut containers = containers.flatten();
        let killed = containers.find(|one| one["container"] == younger.id.as_str());
        killed.is_some_and(|killed| {
            let reasons = killed["reasons"].as_array().unwrap().iter();
            let reasons = reasons.map(|reason| reason[1].as_str().unwrap());
            reasons.filter(|reason| ["named", "killed"].contains(reason)).eq(["named", "killed"])
        })
    });
}

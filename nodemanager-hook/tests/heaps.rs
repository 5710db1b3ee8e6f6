//! A real agent measures and changes the heaps of containers' JVMs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests

mod common;
#[path = "common/java.rs"]
mod java;

use common::{Agent, Parent, Tree, unit_capabilities, wait_until};
use elastane_agent::jvm::{Flag, Former};
use elastane_protocol::{
    AgentRequest, AgentResponse, ContainerPlan, Limits, Report, RunningContainer, Usage,
};
use java::{MIB, Workload};
use nix::sys::signal::Signal;

const ID: &str = "container_1_0001_01_000001";

/// The container of this JVM.
fn running(workload: &Workload) -> RunningContainer {
    RunningContainer { container: ID.into(), pid: workload.pid(), request_memory_bytes: 0 }
}

fn runs(agent: &Agent, list: Vec<RunningContainer>) {
    let response = agent.ask(&AgentRequest::Containers(list));
    assert_eq!(response, AgentResponse::Done);
}

fn newest(report: &Report) -> Option<Usage> {
    let mut containers = report.containers.iter();
    let container = containers.find(|container| container.container == ID)?;
    Some(container.samples.last()?.usage)
}

#[test]
fn a_report_has_the_heap_of_a_jvm_until_the_jvm_ends() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let mut workload = Workload::start("-Xmx300m -XX:+UseG1GC");
    runs(&agent, vec![running(&workload)]);
    workload.hold(200);
    let [_, committed, _] = workload.own_figures();
    wait_until("the heap is in the report", || {
        newest(&agent.report()).is_some_and(|usage| {
            (200 * MIB..committed).contains(&usage.heap_used_bytes)
                && usage.heap_committed_bytes.abs_diff(committed) <= 3 * MIB
        })
    });
    workload.hold(20);
    workload.own_figures();
    wait_until("the report follows the heap", || {
        newest(&agent.report()).is_some_and(|usage| usage.heap_used_bytes < 60 * MIB)
    });
    drop(workload);
    let sequence = agent.report().sequence;
    wait_until("two samples without the JVM", || agent.report().sequence >= sequence + 2);
    let usage = newest(&agent.report()).unwrap();
    assert_eq!((usage.heap_used_bytes, usage.heap_committed_bytes), (0, 0));
    assert_eq!(agent.troubles("heaps not measured"), 0);
}

#[test]
fn the_units_capabilities_suffice_for_the_jvm_of_another_user() {
    let Some(parent) = Parent::new() else { return };
    let mut agent = Agent::prepare_with(&parent.name, "", "");
    agent.give_capabilities(&unit_capabilities());
    agent.start_again();
    let workload = Workload::start_by_script(
        "exec setpriv --reuid=65534 --regid=65534 --clear-groups java -Xmx700m -XX:+UseG1GC \"$@\"",
    );
    let mut jvm = AfterAPeak::of(workload, &agent, &parent);
    wait_until("the heap is in the report", || {
        let containers = agent.report().containers;
        let samples = containers.iter().flat_map(|container| &container.samples);
        samples.last().is_some_and(|sample| sample.usage.heap_used_bytes > 50 * MIB)
    });
    jvm.shrink(&agent, &parent);
    assert_eq!(agent.troubles("heaps not measured"), 0);
    assert_eq!(agent.troubles("heaps not changed"), 0);
}

#[test]
fn heaps_are_not_measured_when_the_configuration_says_so() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start_with(&parent.name, "[jvm]\nmeasure = false\n");
    let workload = Workload::start("-Xmx64m");
    runs(&agent, vec![running(&workload)]);
    let sequence = agent.report().sequence;
    wait_until("two samples", || agent.report().sequence >= sequence + 2);
    let usage = newest(&agent.report()).unwrap();
    assert!(usage.memory_bytes > 10 * MIB, "{usage:?}");
    assert_eq!(usage.heap_committed_bytes, 0);
}

/// A limit that falls for every JVM of these tests: by the agent's rule one of 1 GiB would stay where 717 MiB are
/// resident, as when G1 has committed all of the heap.
const WIDE_MIB: u64 = 1536;

/// A JVM with 50 MB live after a peak of 600 MB, in a container with a memory limit from the start;
/// its former flags; and its container.
struct AfterAPeak {
    workload: Workload,
    former: Former,
    tree: Tree,
}

impl AfterAPeak {
    fn new(agent: &Agent, parent: &Parent) -> Self {
        Self::of(Workload::start("-Xmx700m -XX:+UseG1GC"), agent, parent)
    }

    fn of(workload: Workload, agent: &Agent, parent: &Parent) -> Self {
        // Gives the container a name; the groups are named after it.
        let tree = Tree::new("sleep 600");
        let mut this = Self { former: workload.control().former().unwrap(), workload, tree };
        this.run(agent);
        agent.apply(60_000, this.plan(WIDE_MIB));
        this.workload.hold(600);
        // Memory from before the JVM joined the group is charged elsewhere, but is little by now.
        wait_until("the wide limit is in force", || {
            parent.memory_limit(&this.tree) == Some(WIDE_MIB * MIB)
        });
        this.workload.hold(50);
        assert!(this.workload.resident_mib() > 500);
        this
    }

    fn run(&self, agent: &Agent) {
        let container =
            RunningContainer { container: self.tree.id.clone(), ..running(&self.workload) };
        runs(agent, vec![container]);
    }

    fn plan(&self, mebibytes: u64) -> Vec<ContainerPlan> {
        vec![self.tree.limited(Limits { memory_bytes: Some(mebibytes * MIB), ..Limits::default() })]
    }

    /// Plans 256 MiB and waits until the JVM has given memory back.
    fn shrink(&mut self, agent: &Agent, parent: &Parent) {
        agent.apply(60_000, self.plan(256));
        self.workload.wait_for_resident("the JVM gives back", |mib| mib < 190);
        wait_until("the limit comes down", || {
            let limit = parent.memory_limit(&self.tree);
            limit.is_some_and(|limit| limit <= 384 * MIB)
        });
        assert!(self.workload.is_alive());
        assert_ne!(self.flags(), self.former);
        wait_until("the JVM stops collecting", || {
            let interval = Flag::G1PeriodicGCInterval;
            self.flags().flags[&interval] == self.former.flags[&interval]
        });
    }

    fn flags(&self) -> Former {
        self.workload.control().former().unwrap()
    }

    fn wait_for_former_flags(&self) {
        wait_until("the flags are restored", || self.flags() == self.former);
    }
}

/// The reason of the last command to the JVM, by the audit log.
fn last_reason_of_jvm(agent: &Agent, jvm: &AfterAPeak) -> String {
    let text = std::fs::read_to_string(agent.directory().join("audit.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let mut sent = lines.filter(|line: &serde_json::Value| line["pid"] == jvm.workload.pid());
    sent.next_back().unwrap()["reason"].as_str().unwrap().to_owned()
}

/// Whether the journal, one line for each edit, has a JVM to restore.
fn has_jvm_to_restore(agent: &Agent) -> bool {
    let file = agent.directory().join("agent.sock.journal");
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let edits = |kind: &str| text.lines().filter(|line| line.starts_with(kind)).count();
    edits("{\"jvm\":") > edits("{\"no_jvm\":")
}

#[test]
fn a_jvm_shrinks_before_its_limit_falls_and_is_restored_when_the_plan_ends() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start(&parent.name);
    let mut jvm = AfterAPeak::new(&agent, &parent);
    jvm.shrink(&agent, &parent);
    assert!(has_jvm_to_restore(&agent));
    // When the plan rises, the limit rises first and the JVM may grow.
    agent.apply(60_000, jvm.plan(1024));
    wait_until("the limit rises", || parent.memory_limit(&jvm.tree) == Some(1024 * MIB));
    jvm.wait_for_former_flags();
    jvm.workload.hold(500);
    jvm.workload.hold(50);
    jvm.shrink(&agent, &parent);
    agent.apply(500, jvm.plan(256));
    wait_until("the plan has ended", || !has_jvm_to_restore(&agent));
    assert_eq!(jvm.flags(), jvm.former);
    assert_eq!(parent.memory_limit(&jvm.tree), None);
    assert!(jvm.workload.is_alive());
    let audited = agent.audited();
    assert_eq!(audited.last().unwrap(), "plan_ended");
    assert_eq!(agent.troubles("heaps not changed"), 0);
}

#[test]
fn a_jvm_is_restored_however_its_container_or_its_agent_ends() {
    let Some(parent) = Parent::new() else { return };
    type End = fn(&mut Agent, &AfterAPeak);
    let ends: [(&str, End); 4] = [
        ("container_gone", |agent, _| runs(agent, Vec::new())),
        ("agent_stops", |agent, jvm| {
            assert!(agent.signal(Signal::SIGTERM).success());
            assert_eq!(jvm.flags(), jvm.former);
            agent.start_again();
        }),
        ("left_behind", |agent, jvm| {
            agent.signal(Signal::SIGKILL);
            assert_ne!(jvm.flags(), jvm.former);
            agent.start_again();
        }),
        ("left_behind", |agent, jvm| {
            agent.signal(Signal::SIGKILL);
            assert_ne!(jvm.flags(), jvm.former);
            let mut command = agent.command();
            command.args(["restore", "--config"]).arg(agent.config());
            assert!(command.status().unwrap().success());
            assert_eq!(jvm.flags(), jvm.former);
        }),
    ];
    let mut agent = Agent::start(&parent.name);
    for (reason, end) in ends {
        let mut jvm = AfterAPeak::new(&agent, &parent);
        jvm.shrink(&agent, &parent);
        end(&mut agent, &jvm);
        wait_until(reason, || jvm.flags() == jvm.former);
        assert!(jvm.workload.is_alive());
        wait_until("the journal has no JVM", || !has_jvm_to_restore(&agent));
        wait_until("the audit log has the reason", || last_reason_of_jvm(&agent, &jvm) == reason);
    }
}

#[test]
fn a_jvm_is_sent_nothing_when_heaps_do_not_follow_the_plan() {
    let Some(parent) = Parent::new() else { return };
    let agent = Agent::start_with(&parent.name, "[jvm]\nfollow = false\n");
    let jvm = AfterAPeak::new(&agent, &parent);
    agent.apply(60_000, jvm.plan(256));
    wait_until("the limit is as low as resident memory allows", || {
        let limit = parent.memory_limit(&jvm.tree);
        limit.is_some_and(|limit| limit < WIDE_MIB * MIB)
    });
    let sequence = agent.report().sequence;
    wait_until("two samples", || agent.report().sequence >= sequence + 2);
    assert_eq!(jvm.flags(), jvm.former);
    assert!(jvm.workload.resident_mib() > 500);
}

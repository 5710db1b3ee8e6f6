//! Executors that leave nodes that are being decommissioned.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{GB, NODE, START_MS, journal, named_submission, open, request, settings};
use elastane_core::ContainerKind;
use elastane_core::cluster::{ApplicationId, CommitRequest, NodeId, Request};
use elastane_protocol::{
    DecommissionOutcome, Decommissioned, MemoryVictim, Reply, Report, VERSION, decode, encode,
};
use elastane_runtime::Elastane;
use serde_json::Value;

const OTHER_NODE: &str = "node-2:1";
/// The executors have run long enough to handle the signal.
const DRAINED_S: i64 = 30;
const WAIT_MS: i64 = 15_000;
const SIGNALLED: DecommissionOutcome = DecommissionOutcome::Signalled;
const NOT_HANDLED: DecommissionOutcome = DecommissionOutcome::NotHandled;

fn at(second: i64) -> i64 {
    START_MS + second * 1_000
}

/// Two nodes and two applications.
struct Scene {
    folder: tempfile::TempDir,
    elastane: Elastane,
    nodes: [NodeId; 2],
    applications: [ApplicationId; 2],
}

impl Scene {
    fn new() -> Self {
        Self::of_tags([&[], &[]])
    }

    fn of_tags(tags: [&[&str]; 2]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let elastane = open(folder.path(), "enforce");
        let size = Request { memory_bytes: 16 * GB, vcores: 16 };
        let nodes = [NODE, OTHER_NODE].map(|name| elastane.node_added(name, size));
        let applications = [0, 1].map(|number: usize| {
            let mut submission = named_submission(&format!("application_1_000{number}"), "job");
            submission.tags = tags[number].iter().map(|tag| (*tag).to_owned()).collect();
            elastane.application_added(&submission, START_MS)
        });
        let scene = Self { folder, elastane, nodes, applications };
        for node in [NODE, OTHER_NODE] {
            scene.replies(node, &[], START_MS);
        }
        scene
    }

    /// A container of the application with this number, on the node with this number.
    fn start(&self, container: &str, application: usize, node: usize, kind: ContainerKind) {
        let commit = CommitRequest {
            container,
            application: self.applications[application],
            node: self.nodes[node],
            kind,
            request: request(2),
            may_refuse: false,
            start_ms: START_MS,
        };
        assert!(self.elastane.commit(commit, START_MS));
    }

    fn start_executor(&self, container: &str, application: usize, node: usize) {
        self.start(container, application, node, ContainerKind::DEFAULT_EXECUTOR);
    }

    /// An agent reports, and tells what became of its orders; gives the executors that it is to tell to leave.
    fn replies(
        &self,
        node: &str,
        outcomes: &[(&str, DecommissionOutcome)],
        now_ms: i64,
    ) -> Vec<String> {
        self.replies_while(&[], node, outcomes, now_ms)
    }

    /// The same while the agent names containers because the node is short of memory.
    fn replies_while(
        &self,
        victims: &[&str],
        node: &str,
        outcomes: &[(&str, DecommissionOutcome)],
        now_ms: i64,
    ) -> Vec<String> {
        let victim = |container: &&str| MemoryVictim {
            container: (*container).to_owned(),
            resident_bytes: 2 * GB,
            short_bytes: GB,
        };
        let memory_victims = victims.iter().map(victim).collect();
        let told = |(container, outcome): &(&str, DecommissionOutcome)| Decommissioned {
            container: (*container).to_owned(),
            outcome: *outcome,
        };
        let decommissioned = outcomes.iter().map(told).collect();
        let report = Report { memory_victims, decommissioned, ..common::unencoded_report(1, &[]) };
        let body = encode(&report).unwrap();
        let reply = self.elastane.report(node, VERSION, &body, now_ms).unwrap();
        decode::<Reply>(VERSION, &reply).unwrap().decommission
    }

    fn migrations(self) -> Vec<Value> {
        self.elastane.close();
        let all = journal(self.folder.path());
        all.into_iter().filter(|record| record["kind"] == "migration").collect()
    }
}

#[test]
fn executors_leave_a_draining_node_one_after_the_other_and_none_is_preempted() {
    let scene = Scene::new();
    scene.start_executor("a", 0, 0);
    scene.start_executor("b", 1, 0);
    scene.start_executor("elsewhere", 0, 1);
    assert_eq!(scene.replies(NODE, &[], at(DRAINED_S)), [""; 0], "it is not draining yet");

    scene.elastane.draining(&[scene.nodes[0]]);
    assert_eq!(scene.replies(NODE, &[], at(DRAINED_S)), ["a"]);
    assert_eq!(scene.replies(OTHER_NODE, &[], at(DRAINED_S)), [""; 0]);
    assert_eq!(scene.replies(NODE, &[], at(DRAINED_S + 3)), ["a"], "a reply may be lost");
    for second in DRAINED_S + 6..DRAINED_S + 300 {
        assert_eq!(scene.replies(NODE, &[("a", SIGNALLED)], at(second)), [""; 0], "one at a time");
        assert!(scene.elastane.preemption_orders(WAIT_MS, at(second)).is_empty());
    }
    scene.elastane.finished("a", at(DRAINED_S + 300));
    assert_eq!(scene.replies(NODE, &[("a", SIGNALLED)], at(DRAINED_S + 301)), ["b"]);

    let status: Value = serde_json::from_str(&scene.elastane.status(at(DRAINED_S))).unwrap();
    assert_eq!(status["executors_drained"], 1);
    assert_eq!(status["executors_told_to_leave"], 0);
    let migrations = scene.migrations();
    assert_eq!(migrations.len(), 1);
    assert_eq!(migrations[0]["container"], "a");
    assert_eq!(migrations[0]["state"], "leaves");
    assert_eq!(migrations[0]["cause"], "node-drained");
    assert_eq!(migrations[0]["reason"], "the node is being decommissioned");
}

#[test]
fn one_executor_of_an_application_leaves_at_a_time_over_all_nodes() {
    let scene = Scene::new();
    scene.start_executor("a", 0, 0);
    scene.start_executor("b", 0, 1);
    scene.start_executor("other", 1, 1);
    scene.elastane.draining(&scene.nodes);
    assert_eq!(scene.replies(NODE, &[], at(DRAINED_S)), ["a"]);
    assert_eq!(scene.replies(OTHER_NODE, &[], at(DRAINED_S)), ["other"], "of another application");
    scene.replies(NODE, &[("a", SIGNALLED)], at(DRAINED_S + 3));
    scene.elastane.finished("other", at(DRAINED_S + 3));
    assert_eq!(scene.replies(OTHER_NODE, &[], at(DRAINED_S + 3)), [""; 0]);
    scene.elastane.finished("a", at(DRAINED_S + 6));
    assert_eq!(scene.replies(OTHER_NODE, &[], at(DRAINED_S + 6)), ["b"]);
}

#[test]
fn an_executor_that_stays_keeps_no_other_one_and_is_asked_again_later() {
    let scene = Scene::new();
    scene.start_executor("a", 0, 0);
    scene.start_executor("b", 0, 0);
    scene.elastane.draining(&scene.nodes);
    assert_eq!(scene.replies(NODE, &[], at(DRAINED_S)), ["a"]);
    let stays = [("a", NOT_HANDLED)];
    assert_eq!(scene.replies(NODE, &stays, at(DRAINED_S + 3)), ["b"]);
    let stay = [("a", NOT_HANDLED), ("b", NOT_HANDLED)];
    assert_eq!(scene.replies(NODE, &stay, at(DRAINED_S + 6)), [""; 0]);
    assert_eq!(scene.replies(NODE, &stay, at(DRAINED_S + 31)), ["a"]);
    for second in DRAINED_S + 31..DRAINED_S + 120 {
        assert!(scene.elastane.preemption_orders(WAIT_MS, at(second)).is_empty());
    }
    let states = scene.migrations().into_iter().map(|it| it["state"].clone());
    assert_eq!(states.collect::<Vec<_>>(), ["not-handled", "not-handled"]);
}

#[test]
fn one_that_is_asked_again_holds_the_others_of_its_application_until_it_has_answered() {
    let scene = Scene::new();
    scene.start_executor("a", 0, 0);
    scene.start_executor("b", 0, 1);
    scene.elastane.draining(&scene.nodes);
    assert_eq!(scene.replies(NODE, &[], at(DRAINED_S)), ["a"]);
    let stays = [("a", NOT_HANDLED)];
    assert_eq!(scene.replies(NODE, &stays, at(DRAINED_S + 3)), [""; 0]);
    assert_eq!(scene.replies(NODE, &stays, at(DRAINED_S + 31)), ["a"]);
    // The agent may have signalled it since.
    assert_eq!(scene.replies(OTHER_NODE, &[], at(DRAINED_S + 32)), [""; 0]);
    scene.replies(NODE, &[("a", SIGNALLED)], at(DRAINED_S + 34));
    assert_eq!(scene.replies(OTHER_NODE, &[], at(DRAINED_S + 60)), [""; 0]);
    scene.elastane.finished("a", at(DRAINED_S + 61));
    assert_eq!(scene.replies(OTHER_NODE, &[], at(DRAINED_S + 62)), ["b"]);
}

#[test]
fn every_executor_has_its_turn_although_others_stay() {
    const EXECUTORS: i64 = 14;
    let scene = Scene::new();
    let names: Vec<_> = (0..EXECUTORS).map(|number| format!("e{number}")).collect();
    names.iter().for_each(|name| scene.start_executor(name, 0, 0));
    scene.elastane.draining(&scene.nodes);
    let mut asked: Vec<String> = Vec::new();
    for report in 0..EXECUTORS {
        let stay: Vec<_> = asked.iter().map(|name| (name.as_str(), NOT_HANDLED)).collect();
        let next = scene.replies(NODE, &stay, at(DRAINED_S + 3 * report));
        asked.extend(next);
    }
    assert_eq!(asked, names);
}

#[test]
fn neither_an_application_master_nor_a_young_executor_is_told_to_leave() {
    let scene = Scene::new();
    scene.start("master", 0, 0, ContainerKind::ApplicationMaster);
    scene.start_executor("a", 0, 0);
    scene.elastane.draining(&scene.nodes);
    assert_eq!(scene.replies(NODE, &[], at(DRAINED_S - 1)), [""; 0], "it is young");
    assert_eq!(scene.replies(NODE, &[], at(DRAINED_S)), ["a"]);
    scene.elastane.finished("a", at(DRAINED_S + 1));
    assert_eq!(scene.replies(NODE, &[], at(DRAINED_S + 100)), [""; 0]);
}

#[test]
fn where_killing_comes_first_or_nothing_is_enforced_nobody_is_told_to_leave() {
    for (mode, first) in [("enforce", "kill"), ("observe", "decommission")] {
        let scene = Scene::new();
        scene.start_executor("a", 0, 0);
        let settings = settings(scene.folder.path(), mode, &[("preempt.first", first)]);
        scene.elastane.apply_settings(settings).unwrap();
        scene.elastane.draining(&scene.nodes);
        assert_eq!(scene.replies(NODE, &[], at(DRAINED_S)), [""; 0], "{mode}, {first}");
    }
}

#[test]
fn an_application_in_observe_keeps_its_executors() {
    let scene = Scene::of_tags([&["elastane.mode=observe"], &[]]);
    scene.start_executor("observed", 0, 0);
    scene.start_executor("enforced", 1, 0);
    scene.elastane.draining(&scene.nodes);
    assert_eq!(scene.replies(NODE, &[], at(DRAINED_S)), ["enforced"]);
    scene.elastane.finished("enforced", at(DRAINED_S + 1));
    assert_eq!(scene.replies(NODE, &[], at(DRAINED_S + 100)), [""; 0]);
}

#[test]
fn nobody_is_told_to_leave_for_a_drain_while_the_node_is_short_of_memory() {
    let scene = Scene::new();
    scene.start_executor("a", 0, 0);
    scene.elastane.draining(&scene.nodes);
    assert_eq!(scene.replies_while(&["a"], NODE, &[], at(DRAINED_S)), [""; 0]);
    assert_eq!(scene.replies(NODE, &[], at(DRAINED_S + 3)), ["a"]);
}

#[test]
fn a_node_that_is_recommissioned_gets_no_more_orders() {
    let scene = Scene::new();
    scene.start_executor("a", 0, 0);
    scene.elastane.draining(&[scene.nodes[0]]);
    assert_eq!(scene.replies(NODE, &[], at(DRAINED_S)), ["a"]);
    scene.elastane.draining(&[]);
    assert_eq!(scene.replies(NODE, &[], at(DRAINED_S + 3)), [""; 0]);
}

//! Which containers are followed by what they use, and what that takes off their plans.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::Path;

use common::{
    GB, NODE, START_MS, commit, journal, learn_named, named_submission, open, open_with, register,
    request, unencoded_report,
};
use elastane_core::cluster::{ApplicationId, CommitRequest, NodeId, Request};
use elastane_predict::ContainerKind;
use elastane_protocol::{Reply, Report, VERSION, decode, encode};
use elastane_runtime::Elastane;

const NAME: &str = "busy";
const OTHER_NODE: &str = "node-2:1";

/// An application that is known from an earlier run, on two nodes.
struct Followed {
    elastane: Elastane,
    node: NodeId,
    other_node: NodeId,
    application: ApplicationId,
    /// So many samples of 3 s are over.
    slot: u64,
}

impl Followed {
    fn new(folder: &Path) -> Self {
        let elastane = open_with(folder, "enforce", &[("reprovision", "on")]);
        let size = Request { memory_bytes: 8 * GB, vcores: 8 };
        let submission = named_submission("application_1_0080", NAME);
        let followed = Self {
            node: register(&elastane),
            other_node: elastane.node_added(OTHER_NODE, size),
            application: elastane.application_added(&submission, START_MS),
            elastane,
            slot: 0,
        };
        for node in [NODE, OTHER_NODE] {
            followed.report(node, &unencoded_report(0, &[]));
        }
        followed
    }

    fn now_ms(&self) -> i64 {
        START_MS + 3_000 * self.slot as i64
    }

    fn starts(&self, container: &str, node: NodeId) {
        let now_ms = self.now_ms();
        assert!(commit(&self.elastane, container, self.application, node, now_ms));
    }

    fn report(&self, node: &str, body: &Report) -> Reply {
        let body = encode(body).unwrap();
        let reply = self.elastane.report(node, VERSION, &body, self.now_ms());
        decode(VERSION, &reply.unwrap()).unwrap()
    }

    /// So many cores were used by each container of a node in the latest slot.
    fn used(&self, node: &str, containers: &[(&str, f32)]) -> Reply {
        self.report(node, &used(self.slot, containers))
    }
}

fn used(slot: u64, containers: &[(&str, f32)]) -> Report {
    let containers: Vec<_> = containers.iter().map(|(id, it)| (*id, *it, GB)).collect();
    unencoded_report(slot, &containers)
}

/// The CPU that a container is planned to use now.
fn planned_cores(reply: &Reply, container: &str) -> f32 {
    let plan = reply.plans.iter().find(|plan| plan.container == container);
    let step = plan.and_then(|plan| plan.steps.first());
    step.and_then(|step| step.limits.cpu_weight_cores).unwrap()
}

/// Half a core for so many slots, and then one and a half.
fn in_two(slots: usize) -> Vec<f32> {
    [vec![0.5; slots], vec![1.5; slots]].concat()
}

#[test]
fn one_that_replaces_an_executor_of_a_lost_node_goes_on_where_the_others_are() {
    let (folder, cores) = (tempfile::tempdir().unwrap(), in_two(10));
    learn_named(folder.path(), &[(NAME, &cores)]);
    let mut followed = Followed::new(folder.path());
    followed.starts("c1", followed.node);
    followed.starts("c2", followed.other_node);
    for cores in &cores[..5] {
        followed.slot += 1;
        followed.used(NODE, &[("c1", *cores)]);
        followed.used(OTHER_NODE, &[("c2", *cores)]);
    }
    followed.elastane.node_removed(followed.other_node);
    for cores in &cores[5..13] {
        followed.slot += 1;
        followed.used(NODE, &[("c1", *cores)]);
    }
    followed.starts("c3", followed.node);
    followed.slot += 1;
    let reply = followed.used(NODE, &[("c1", 1.5), ("c3", 1.5)]);
    assert_eq!(planned_cores(&reply, "c3"), 1.5);
    followed.elastane.close();
}

#[test]
fn where_no_other_runs_it_goes_on_where_the_one_on_the_lost_node_was() {
    let (folder, cores) = (tempfile::tempdir().unwrap(), in_two(10));
    learn_named(folder.path(), &[(NAME, &cores)]);
    let mut followed = Followed::new(folder.path());
    followed.starts("c1", followed.other_node);
    for cores in &cores[..13] {
        followed.slot += 1;
        followed.used(NODE, &[]);
        followed.used(OTHER_NODE, &[("c1", *cores)]);
    }
    followed.elastane.node_removed(followed.other_node);
    followed.starts("c2", followed.node);
    followed.slot += 1;
    let reply = followed.used(NODE, &[("c2", 1.5)]);
    assert_eq!(planned_cores(&reply, "c2"), 1.5);
    followed.elastane.close();
}

#[test]
fn one_whose_beginning_was_not_seen_goes_by_the_clock() {
    // By the clock both are past the first half; by what they used both have just begun.
    for (begins_after_ms, planned) in [(60_000, 0.5), (60_001, 1.5)] {
        let folder = tempfile::tempdir().unwrap();
        learn_named(folder.path(), &[(NAME, &in_two(20))]);
        let mut followed = Followed::new(folder.path());
        let outlived = CommitRequest {
            container: "c1",
            application: followed.application,
            node: followed.node,
            kind: ContainerKind::DEFAULT_EXECUTOR,
            request: request(3),
            may_refuse: false,
            start_ms: START_MS - begins_after_ms,
        };
        assert!(followed.elastane.commit(outlived, START_MS));
        for _ in 0..3 {
            followed.slot += 1;
            let reply = followed.used(NODE, &[("c1", 0.5)]);
            let cores = planned_cores(&reply, "c1");
            assert_eq!(cores, planned, "{begins_after_ms} ms, {}", followed.slot);
        }
        followed.elastane.close();
    }
}

/// Each of its containers receives and reads as much all the time.
fn with_traffic(mut report: Report) -> Report {
    report.capacity.network_bytes_per_s = 100_000_000;
    report.capacity.disk_bytes_per_s = 200_000_000;
    let containers = report.containers.iter_mut();
    for sample in containers.flat_map(|container| &mut container.samples) {
        sample.usage.network_in_bytes_per_s = 10_000_000;
        sample.usage.disk_read_bytes_per_s = 50_000_000;
    }
    report
}

const LEARNED_SLOTS: u64 = 60;

/// One core, and that traffic.
fn learn_with_traffic(folder: &Path) {
    let observing = open(folder, "observe");
    let node = register(&observing);
    let submission = named_submission("application_1_0001", NAME);
    let application = observing.application_added(&submission, START_MS);
    assert!(commit(&observing, "c1", application, node, START_MS));
    let mut now_ms = START_MS;
    for slot in 1..=LEARNED_SLOTS {
        now_ms += 3_000;
        let body = encode(&with_traffic(used(slot, &[("c1", 1.0)]))).unwrap();
        observing.report(NODE, VERSION, &body, now_ms).unwrap();
    }
    observing.finished("c1", now_ms);
    observing.application_removed(application, true, now_ms);
    observing.close();
}

#[test]
fn what_one_on_time_leaves_unused_is_taken_off_its_plan_until_it_wants_it() {
    let folder = tempfile::tempdir().unwrap();
    learn_with_traffic(folder.path());
    let mut followed = Followed::new(folder.path());
    followed.report(NODE, &with_traffic(used(0, &[])));
    followed.starts("c1", followed.node);
    followed.starts("c2", followed.node);
    // By its traffic it is on time.
    let mut next = |cores| {
        followed.slot += 1;
        let both = used(followed.slot, &[("c1", cores), ("c2", 1.0)]);
        let reply = followed.report(NODE, &with_traffic(both));
        ["c1", "c2"].map(|container| planned_cores(&reply, container))
    };
    let mut slots = 0;
    let [c1, c2] = loop {
        slots += 1;
        assert!(slots < LEARNED_SLOTS, "its plan never fell");
        let planned = next(0.5);
        if planned != [1.0, 1.0] {
            break planned;
        }
    };
    assert!(slots > 10, "after {slots} samples");
    // A fifth above what it used; the other uses all that is predicted.
    assert!((c1 - 0.6).abs() < 0.01 && c2 == 1.0, "{c1} {c2}");
    assert_eq!(next(0.6), [1.0, 1.0]);
    followed.elastane.close();

    let records = journal(folder.path());
    let said: Vec<_> = records
        .iter()
        .filter(|record| record["kind"] == "reprovision")
        .map(|record| {
            let factor = record["factors"][0].as_f64().unwrap();
            (
                record["what"].as_str().unwrap(),
                record["container"].as_str().unwrap(),
                (factor * 100.0).round(),
            )
        })
        .collect();
    assert_eq!(said, [("unused", "c1", 60.0), ("unused", "c1", 100.0)]);
}

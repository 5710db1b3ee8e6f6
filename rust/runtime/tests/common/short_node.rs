//! A node that is short of memory, and its agent.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(dead_code, reason = "each test file uses some of them")]

use elastane_core::ContainerKind;
use elastane_core::cluster::{ApplicationId, CommitRequest, NodeId};
use elastane_protocol::{
    DecommissionOutcome, Decommissioned, MemoryVictim, Reply, Report, VERSION, decode, encode,
};
use elastane_runtime::Elastane;

use crate::common::{
    GB, NODE, START_MS, journal, learn_named, named_submission, open, register, request,
    unencoded_report,
};

const WAIT_MS: i64 = 15_000;

/// A node of 8 GB whose agent reports, and an application that holds 1 GB in each container.
pub struct Scene {
    pub folder: tempfile::TempDir,
    pub elastane: Elastane,
    node: NodeId,
    application: ApplicationId,
}

impl Scene {
    pub fn new(mode: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        learn_named(folder.path(), &[("learned", &[0.1; 100])]);
        let elastane = open(folder.path(), mode);
        let node = register(&elastane);
        let submission = named_submission("application_1_0099", "learned");
        let application = elastane.application_added(&submission, START_MS);
        let scene = Self { folder, elastane, node, application };
        scene.names(&[], START_MS);
        scene
    }

    /// A container that asks for 3 GB.
    pub fn start(&self, container: &str, kind: ContainerKind, start_ms: i64) {
        self.start_on(self.node, container, kind, start_ms);
    }

    pub fn start_on(&self, node: NodeId, container: &str, kind: ContainerKind, start_ms: i64) {
        let commit = CommitRequest {
            container,
            application: self.application,
            node,
            kind,
            request: request(3),
            may_refuse: false,
            start_ms,
        };
        assert!(self.elastane.commit(commit, start_ms));
    }

    /// "a" and "b" fit the 8 GB by requests, "c" and "d" don't.
    pub fn of_four(mode: &str) -> Self {
        let scene = Self::new(mode);
        for (later_ms, container) in (0..).zip(["a", "b", "c", "d"]) {
            scene.start(container, ContainerKind::DEFAULT_EXECUTOR, START_MS + later_ms);
        }
        scene
    }

    pub fn application_ends(&self, now_ms: i64) {
        self.elastane.application_removed(self.application, true, now_ms);
    }

    /// The agent reports, and names these.
    pub fn names(&self, victims: &[&str], now_ms: i64) {
        self.tells(victims, None, now_ms);
    }

    /// The agent reports, names these, and tells what became of its order; gives the orders for it.
    pub fn tells(
        &self,
        victims: &[&str],
        outcome: Option<(&str, DecommissionOutcome)>,
        now_ms: i64,
    ) -> Vec<String> {
        let outcomes = outcome.into_iter().map(|(container, outcome)| Decommissioned {
            container: container.to_owned(),
            outcome,
        });
        let report = Report {
            memory_victims: victims.iter().map(|container| victim(container)).collect(),
            decommissioned: outcomes.collect(),
            ..unencoded_report(1, &[])
        };
        let body = encode(&report).unwrap();
        let reply = self.elastane.report(NODE, VERSION, &body, now_ms).unwrap();
        decode::<Reply>(VERSION, &reply).unwrap().decommission
    }

    /// What is to be done now: "c told", "c killed".
    pub fn orders(&self, now_ms: i64) -> Vec<String> {
        let orders = self.elastane.preemption_orders(WAIT_MS, now_ms);
        orders
            .iter()
            .map(|order| {
                let what = if order.kill { "killed" } else { "told" };
                format!("{} {what}", order.container)
            })
            .collect()
    }

    /// Names these with every report, and collects what is ordered, each with its second.
    pub fn named_until(&self, victims: &[&str], until_s: i64) -> Vec<String> {
        let mut orders = Vec::new();
        for second in 0..=until_s {
            let now_ms = START_MS + second * 1_000;
            if second % 3 == 0 {
                self.names(victims, now_ms);
            }
            for order in self.orders(now_ms) {
                let container = order.split(' ').next().unwrap();
                if order.ends_with("killed") {
                    self.elastane.finished(container, now_ms);
                }
                orders.push(format!("{second}: {order}"));
            }
        }
        orders
    }

    pub fn status(&self) -> serde_json::Value {
        serde_json::from_str(&self.elastane.status(START_MS)).unwrap()
    }

    /// Container, outcome and reason of each preemption in the journal.
    pub fn journal(self) -> Vec<(String, String, String)> {
        let records = self.records("preemption", ["container", "outcome", "reason"]);
        records.into_iter().map(Into::into).collect()
    }

    /// These fields of each record of a kind in the journal.
    pub fn records<const FIELDS: usize>(
        self,
        kind: &str,
        fields: [&str; FIELDS],
    ) -> Vec<[String; FIELDS]> {
        self.elastane.close();
        let all = journal(self.folder.path());
        let of_kind = all.iter().filter(|record| record["kind"] == kind);
        of_kind.map(|record| fields.map(|key| record[key].as_str().unwrap().to_owned())).collect()
    }
}

fn victim(container: &str) -> MemoryVictim {
    MemoryVictim { container: container.to_owned(), resident_bytes: 3 * GB, short_bytes: GB }
}

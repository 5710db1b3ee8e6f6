//! One container of an application that ran before, and its node's reports.

use elastane_protocol::{Report, VERSION, encode};
use elastane_runtime::Elastane;
use serde_json::{Value, json};

use super::{
    NODE, START_MS, commit, learn_named, named_submission, open_with, register, unencoded_report,
};

pub const CONTAINER: &str = "container_1";
/// In each 3 s: 2 cores for 30 s, then a quarter of a core for 30 s.
pub const TWO_HALVES: [f32; 20] = {
    let mut cores = [2.0; 20];
    let mut slot = 10;
    while slot < 20 {
        cores[slot] = 0.25;
        slot += 1;
    }
    cores
};

pub struct OneContainer {
    pub elastane: Elastane,
    pub folder: tempfile::TempDir,
    sequence: u64,
}

impl OneContainer {
    /// Of an application of this name, started at START_MS. An application `known` used these cores before.
    pub fn start(name: &str, cores: &[f32], mode: &str, more: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        learn_named(folder.path(), &[("known", cores)]);
        let elastane = open_with(folder.path(), mode, more);
        let mut one = Self { elastane, folder, sequence: 0 };
        let node = register(&one.elastane);
        one.report_with(0, 0, |report| report.containers.clear());
        let submission = named_submission("application_1_0090", name);
        let application = one.elastane.application_added(&submission, START_MS);
        assert!(commit(&one.elastane, CONTAINER, application, node, START_MS));
        one
    }

    /// One core and this memory; `change` may say otherwise.
    pub fn report_with(
        &mut self,
        after_ms: i64,
        memory_bytes: u64,
        change: impl FnOnce(&mut Report),
    ) {
        self.sequence += 1;
        let mut report = unencoded_report(self.sequence, &[(CONTAINER, 1.0, memory_bytes)]);
        change(&mut report);
        let report = encode(&report).unwrap();
        self.elastane.report(NODE, VERSION, &report, START_MS + after_ms).unwrap();
    }

    pub fn answer(&self, question: &Value, after_ms: i64) -> Value {
        let answer = self.elastane.answer(&question.to_string(), START_MS + after_ms).unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    /// What is told of the container.
    pub fn told(&self, after_ms: i64) -> Value {
        let question = json!({"about": "containers", "containers": [CONTAINER]});
        self.answer(&question, after_ms)["containers"][0].take()
    }
}

//! Applications that tell which of their stages have ended: what is learned of it, and how their progress follows it.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::Path;

use common::unencoded_report;
use common::{GB, NODE, START_MS, commit, named_submission, open, open_with, register};
use elastane_core::cluster::{ApplicationId, NodeId, Request};
use elastane_protocol::{Reply, StageProgress, VERSION, decode, encode};
use elastane_runtime::Elastane;

const NAME: &str = "staged";
const OTHER_NODE: &str = "node-2:1";
const SLOTS: u64 = 20;
const HALF: u64 = SLOTS / 2;
const LOW: f32 = 0.5;
const HIGH: f32 = 1.5;

/// One run whose executor used little in its first half and more in its second.
struct Run {
    elastane: Elastane,
    node: NodeId,
    application: ApplicationId,
    container: String,
    start_ms: i64,
    slot: u64,
}

impl Run {
    fn begin(elastane: Elastane, id: &str, start_ms: i64) -> Self {
        let node = register(&elastane);
        let body = encode(&unencoded_report(0, &[])).unwrap();
        elastane.report(NODE, VERSION, &body, start_ms).unwrap();
        let application = elastane.application_added(&named_submission(id, NAME), start_ms);
        let container = format!("container_{id}");
        assert!(commit(&elastane, &container, application, node, start_ms));
        Self { elastane, node, application, container, start_ms, slot: 0 }
    }

    fn now_ms(&self) -> i64 {
        self.start_ms + 3_000 * self.slot as i64
    }

    /// A slot passes; the reply to its report.
    fn uses(&mut self, cores: f32, stages: Option<StageProgress>) -> Reply {
        self.slot += 1;
        let mut report = unencoded_report(self.slot, &[(&self.container, cores, GB)]);
        report.containers[0].stages = stages;
        let body = encode(&report).unwrap();
        let reply = self.elastane.report(NODE, VERSION, &body, self.now_ms()).unwrap();
        decode(VERSION, &reply).unwrap()
    }

    fn end(self) {
        self.elastane.finished(&self.container, self.now_ms());
        self.elastane.application_removed(self.application, true, self.now_ms());
        self.elastane.node_removed(self.node);
        self.elastane.close();
    }
}

fn stages(ended: u32, since_slots: u64) -> StageProgress {
    let since_ms = 3_000 * since_slots as u32;
    StageProgress { stages_ended: ended, since_ms, part_ended: 0.0, part_begun: 1.0 }
}

/// One stage ends in the middle of the run.
fn learn(folder: &Path, tells: bool) {
    let mut run = Run::begin(open(folder, "observe"), "application_1_0001", START_MS);
    for slot in 1..=SLOTS {
        let told = if slot <= HALF { stages(0, slot) } else { stages(1, slot - HALF) };
        run.uses(if slot <= HALF { LOW } else { HIGH }, tells.then_some(told));
    }
    run.end();
}

fn planned_cores(reply: &Reply) -> f32 {
    reply.plans[0].steps[0].limits.cpu_weight_cores.unwrap()
}

/// Planned cores after three slots and then one more, in which a stage ends long before it is expected.
fn with_an_early_end(folder: &Path) -> [f32; 2] {
    let elastane = open_with(folder, "enforce", &[("reprovision", "on")]);
    let mut run = Run::begin(elastane, "application_1_0002", START_MS + 3_600_000);
    for slot in 1..=3 {
        run.uses(LOW, Some(stages(0, slot)));
    }
    let before = run.uses(LOW, Some(stages(0, 4)));
    let after = run.uses(LOW, Some(stages(1, 0)));
    run.end();
    [before, after].map(|reply| planned_cores(&reply))
}

#[test]
fn the_plan_goes_on_where_the_told_stage_begins() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path(), true);
    assert_eq!(with_an_early_end(folder.path()), [LOW, HIGH]);
}

#[test]
fn without_stages_in_earlier_runs_the_use_says_how_far_it_is() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path(), false);
    assert_eq!(with_an_early_end(folder.path()), [LOW, LOW]);
}

#[test]
fn a_crash_loses_no_end_of_a_stage() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Run::begin(open(folder.path(), "observe"), "application_1_0001", START_MS);
    for slot in 1..=HALF {
        run.uses(LOW, Some(stages(u32::from(slot == HALF), 0)));
    }
    run.elastane.bookable_changes(1, run.now_ms());
    // The depository's thread has written what it was given before it ends; the application runs on.
    let Run { elastane, container, start_ms, slot, .. } = run;
    elastane.close();

    let again = open(folder.path(), "observe");
    let node = register(&again);
    let application =
        again.application_added(&named_submission("application_1_0001", NAME), start_ms);
    assert!(commit(&again, &container, application, node, start_ms));
    let mut run = Run { elastane: again, node, application, container, start_ms, slot };
    for since in 1..=HALF {
        run.uses(HIGH, Some(stages(1, since)));
    }
    run.end();
    assert_eq!(with_an_early_end(folder.path()), [LOW, HIGH]);
}

#[test]
fn the_agent_of_another_node_moves_no_progress() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path(), true);
    let elastane = open_with(folder.path(), "enforce", &[("reprovision", "on")]);
    let mut run = Run::begin(elastane, "application_1_0002", START_MS + 3_600_000);
    let size = Request { memory_bytes: 8 * GB, vcores: 8 };
    run.elastane.node_added(OTHER_NODE, size);
    for slot in 1..=4 {
        run.uses(LOW, Some(stages(0, slot)));
    }
    let mut report = unencoded_report(1, &[(&run.container, HIGH, GB)]);
    report.containers[0].stages = Some(stages(1, 0));
    let body = encode(&report).unwrap();
    run.elastane.report(OTHER_NODE, VERSION, &body, run.now_ms() + 2_000).unwrap();
    assert_eq!(planned_cores(&run.uses(LOW, Some(stages(0, 5)))), LOW);
    run.end();
}

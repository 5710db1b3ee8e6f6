//! Applications that nobody knows yet are planned by what others used of their requests.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::Path;

use common::{
    GB, NODE, START_MS, journal, named_submission, open_with, register, reply, report, request,
};
use elastane_core::cluster::{ApplicationId, Ask, CommitRequest, NodeId};
use elastane_predict::ContainerKind;
use elastane_protocol::VERSION;
use elastane_runtime::Elastane;
use elastane_store::{Access, Depository, PredictionRecord};

const KIND: ContainerKind = ContainerKind::DEFAULT_EXECUTOR;
const LATER_MS: i64 = START_MS + 3_600_000;

fn asks(elastane: &Elastane, application: ApplicationId, memory_gb: u64, now_ms: i64) {
    let ask = Ask { kind: KIND, priority: 0, request: request(memory_gb), count: 4 };
    elastane.pending(application, ask, now_ms);
}

fn start(
    elastane: &Elastane,
    node: NodeId,
    application: ApplicationId,
    container: &str,
    memory_gb: u64,
) -> bool {
    let commit = CommitRequest {
        container,
        application,
        node,
        kind: KIND,
        request: request(memory_gb),
        may_refuse: true,
        start_ms: LATER_MS,
    };
    elastane.commit(commit, LATER_MS)
}

/// Runs `count` applications, each with one executor that requests 4 GB, holds 1 GB and uses half a core for 9 s.
fn learn(folder: &Path, count: u8) {
    let elastane = open_with(folder, "observe", &[]);
    let node = register(&elastane);
    for number in 0..count {
        // Numbers in names do not tell applications apart.
        let name = format!("application {}", char::from(b'a' + number));
        let submission = named_submission(&format!("application_1_{number:04}"), &name);
        let mut now_ms = START_MS + i64::from(number) * 60_000;
        let application = elastane.application_added(&submission, now_ms);
        asks(&elastane, application, 4, now_ms);
        let container = format!("container_{number}");
        let commit = CommitRequest {
            container: &container,
            application,
            node,
            kind: KIND,
            request: request(4),
            may_refuse: true,
            start_ms: now_ms,
        };
        assert!(elastane.commit(commit, now_ms));
        for sample in 0..3 {
            now_ms += 3_000;
            let body = report(u64::from(number) * 3 + sample + 1, &[(&container, 0.5, GB)]);
            elastane.report(NODE, VERSION, &body, now_ms).unwrap();
        }
        elastane.finished(&container, now_ms);
        elastane.application_removed(application, true, now_ms);
    }
    elastane.close();
}

fn depository(folder: &Path) -> Depository {
    Depository::open_existing(&folder.join("depository.sqlite"), Access::Read).unwrap()
}

fn predictions(folder: &Path, id: &str) -> Vec<PredictionRecord> {
    depository(folder).predictions_of_run(id).unwrap()
}

/// An application with a new name asks for executors of 6 GB on a node of 8 GB; the number of them that start.
fn started(folder: &Path, others: &str) -> usize {
    let elastane =
        open_with(folder, "enforce", &[("profile.others", others), ("plan.memory", "on")]);
    let node = register(&elastane);
    elastane.report(NODE, VERSION, &report(1_000, &[]), LATER_MS).unwrap();
    let submission = named_submission("application_2_0001", "a new one");
    let application = elastane.application_added(&submission, LATER_MS);
    asks(&elastane, application, 6, LATER_MS);
    // The depository's thread has predicted when the copy that was asked for later is there.
    elastane.copy_depository(&folder.join(format!("copy-{others}"))).unwrap();
    let containers = ["1", "2", "3", "4", "5", "6"];
    let started = containers.iter().filter(|it| start(&elastane, node, application, it, 6)).count();
    // Each has its part of four cores by virtual cores, and no limit of its plan.
    let plans = reply(&elastane, 1_001, LATER_MS, &[("1", GB)]).plans;
    let limits = &plans[0].steps[0].limits;
    assert_eq!(limits.cpu_weight_cores, Some(4.0 / started as f32));
    assert_eq!(limits.memory_bytes, None);
    elastane.close();
    started
}

#[test]
fn nine_others_are_enough_and_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path(), 9);
    // A quarter of 6 GB each.
    assert_eq!(started(folder.path(), "on"), 5);
    let placed: Vec<_> = journal(folder.path())
        .into_iter()
        .filter(|record| record["kind"] == "placed" && record["time_ms"] == LATER_MS)
        .map(|record| (record["profile"].is_null(), record["by_others"].as_bool().unwrap()))
        .collect();
    assert_eq!(placed, [(true, true); 5]);
    let made = predictions(folder.path(), "application_2_0001").remove(0).made;
    assert_eq!(made.method, "others");
    let reason = made.reason.unwrap();
    assert!(reason.ends_with("9 other applications of its queue are known"), "{reason}");
}

#[test]
fn with_fewer_or_with_the_setting_off_the_request_stands() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path(), 8);
    assert_eq!(started(folder.path(), "on"), 1);
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path(), 9);
    assert_eq!(started(folder.path(), "off"), 1);
}

#[test]
fn an_application_that_outlives_the_resource_manager_is_planned_by_others_again() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path(), 9);
    let submission = named_submission("application_2_0001", "a new one");
    let elastane = open_with(folder.path(), "enforce", &[]);
    let application = elastane.application_added(&submission, LATER_MS);
    asks(&elastane, application, 6, LATER_MS);
    elastane.close();

    assert_eq!(started(folder.path(), "on"), 5);
}

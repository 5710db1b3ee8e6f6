//! Samples become runs, runs become a profile, and the next submission is placed by it.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::Path;

use common::{
    GB, NODE, START_MS, commit, journal, open, register, report, request, run_of, submission,
    unencoded_report,
};
use elastane_core::ContainerKind;
use elastane_core::cluster::{Ask, CommitRequest, Request};
use elastane_protocol::{PREVIOUS_VERSION, Reply, VERSION, decode, encode};
use elastane_runtime::ReportError;

#[test]
fn an_observed_run_places_the_next_submission() {
    let folder = tempfile::tempdir().unwrap();
    let observing = open(folder.path(), "observe");
    let node = register(&observing);
    run_of(&observing, node, "application_1_0001", START_MS, 1.0, true);
    observing.close();

    let elastane = open(folder.path(), "enforce");
    let node = register(&elastane);
    let now_ms = START_MS;
    elastane.report(NODE, VERSION, &report(0, &[]), now_ms).unwrap();
    let application = elastane.application_added(&submission("application_1_0002"), now_ms);
    let ask =
        Ask { kind: ContainerKind::DEFAULT_EXECUTOR, priority: 0, request: request(3), count: 3 };
    elastane.pending(application, ask, now_ms);
    let free = Request { memory_bytes: 16 * GB, vcores: 16 };
    assert_eq!(elastane.round(node, free, now_ms), Some(vec![application]));
    for container in ["a", "b", "c"] {
        assert!(commit(&elastane, container, application, node, now_ms));
    }

    let body = report(1, &[("a", 1.0, GB)]);
    let reply = elastane.report(NODE, VERSION, &body, now_ms).unwrap();
    let reply: Reply = decode(VERSION, &reply).unwrap();
    assert_eq!(reply.acknowledged, 1);
    let weights: Vec<_> = reply.plans[0]
        .steps
        .iter()
        .map(|step| (step.offset_ms, step.limits.cpu_weight_cores.unwrap()))
        .collect();
    assert_eq!(weights, [(0, 1.0), (3_000, 0.25)]);
    elastane.close();

    let journal = journal(folder.path());
    let placed: Vec<_> = journal
        .iter()
        .filter(|record| record["kind"] == "placed" && record["by_core"] == true)
        .collect();
    assert_eq!(placed.len(), 3);
    let last = placed.last().unwrap();
    assert!(last["profile"].is_string());
    assert!(
        last["booked_memory_bytes"].as_u64() > last["physical_memory_bytes"].as_u64(),
        "three times 3 GB of requests on 8 GB"
    );
}

#[test]
fn a_failed_run_teaches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "observe");
    let node = register(&elastane);
    run_of(&elastane, node, "application_1_0001", START_MS, 1.0, false);
    elastane.close();
    let learned: Vec<_> =
        journal(folder.path()).into_iter().filter(|record| record["kind"] == "learned").collect();
    assert_eq!(learned[0]["outcome"], "failed");
    assert_eq!(learned[0]["runs"], 0);
}

#[test]
fn a_run_whose_beginning_was_not_seen_teaches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "observe");
    let node = register(&elastane);
    let application = elastane.application_added(&submission("application_1_0001"), START_MS);
    let outlived = CommitRequest {
        container: "outlived",
        application,
        node,
        kind: ContainerKind::DEFAULT_EXECUTOR,
        request: request(3),
        may_refuse: false,
        start_ms: START_MS - 60_000,
    };
    assert!(elastane.commit(outlived, START_MS));
    elastane.application_removed(application, true, START_MS + 3_000);
    elastane.close();
    let journal = journal(folder.path());
    let learned = journal.iter().find(|record| record["kind"] == "learned");
    assert_eq!(learned.unwrap()["outcome"], "cut-off");
}

#[test]
fn samples_that_come_twice_count_once() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "observe");
    let node = register(&elastane);
    let application = elastane.application_added(&submission("application_1_0001"), START_MS);
    assert!(commit(&elastane, "a", application, node, START_MS));
    let body = report(1, &[("a", 1.0, GB)]);
    for _ in 0..2 {
        elastane.report(NODE, VERSION, &body, START_MS + 3_000).unwrap();
    }
    let status: serde_json::Value =
        serde_json::from_str(&elastane.status(START_MS + 3_000)).unwrap();
    assert_eq!(status["samples"], 1);
    assert_eq!(status["repeated_samples"], 1);
}

#[test]
fn a_queue_uses_what_its_containers_use() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "observe");
    let node = register(&elastane);
    let submission = submission("application_1_0001");
    let application = elastane.application_added(&submission, START_MS);
    assert!(commit(&elastane, "a", application, node, START_MS));
    assert!(commit(&elastane, "b", application, node, START_MS));
    let body = report(1, &[("a", 1.0, GB), ("b", 0.5, GB), ("of another scheduler", 4.0, GB)]);
    elastane.report(NODE, VERSION, &body, START_MS + 3_000).unwrap();
    let status: serde_json::Value =
        serde_json::from_str(&elastane.status(START_MS + 3_000)).unwrap();
    let queues = &status["nodes"][0]["measured"]["queues"];
    assert_eq!(queues.as_array().unwrap().len(), 1, "{queues}");
    assert_eq!(queues[0]["queue"], submission.queue.as_str());
    assert_eq!(queues[0]["used"]["cpu_cores"], 1.5);
    assert_eq!(queues[0]["used"]["memory_bytes"].as_f64(), Some(2.0 * GB as f64));

    // A report that comes before the next samples.
    let mut between = unencoded_report(2, &[("a", 1.0, GB), ("b", 0.5, GB)]);
    between.containers.iter_mut().for_each(|container| container.samples.clear());
    elastane.report(NODE, VERSION, &encode(&between).unwrap(), START_MS + 4_000).unwrap();
    let later: serde_json::Value =
        serde_json::from_str(&elastane.status(START_MS + 4_000)).unwrap();
    assert_eq!(later["nodes"][0]["measured"]["queues"], *queues);
}

#[test]
fn a_report_of_the_previous_version_is_taken_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "enforce");
    register(&elastane);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocol/tests/golden");
    let body = std::fs::read(golden.join(format!("v{PREVIOUS_VERSION}-report.bin"))).unwrap();
    elastane.report(NODE, PREVIOUS_VERSION, &body, START_MS).unwrap();
    let status: serde_json::Value = serde_json::from_str(&elastane.status(START_MS)).unwrap();
    assert_eq!(status["previous_version_reports"], 1);
    assert_eq!(status["reports"], 1);
    assert_eq!(status["nodes"][0]["physical_cpu_cores"], 16.0);
}

#[test]
fn a_refused_report_is_counted_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "enforce");
    register(&elastane);
    let good = report(1, &[]);
    let refused = [
        elastane.report("node-2:1", VERSION, &good, START_MS),
        elastane.report(NODE, VERSION + 1, &good, START_MS),
        elastane.report(NODE, VERSION, &good[..3], START_MS),
    ];
    assert_eq!(refused[0], Err(ReportError::UnknownNode("node-2:1".to_owned())));
    assert!(refused.iter().all(Result::is_err));
    let status: serde_json::Value = serde_json::from_str(&elastane.status(START_MS)).unwrap();
    assert_eq!(status["refused_reports"], 3);
    assert_eq!(status["nodes"][0]["report_age_ms"], serde_json::Value::Null);
    assert!(elastane.bookable_changes(9, START_MS).is_empty());
}

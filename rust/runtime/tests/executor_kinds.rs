//! Executors that are asked for at two priorities, as those of Spark's resource profiles are, have
//! series, predictions and plans of their own.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use common::{GB, NODE, START_MS, journal, open, register, report, request, submission};
use elastane_core::cluster::{ApplicationId, CommitRequest, NodeId};
use elastane_predict::ContainerKind;
use elastane_protocol::{Reply, VERSION, decode};
use elastane_runtime::Elastane;
use elastane_store::{Access, Depository};

const SMALL: ContainerKind = ContainerKind::Executor { priority: 0 };
const LARGE: ContainerKind = ContainerKind::Executor { priority: 1 };
const NEW: ContainerKind = ContainerKind::Executor { priority: 2 };

fn start(
    elastane: &Elastane,
    node: NodeId,
    application: ApplicationId,
    container: &str,
    kind: ContainerKind,
    now_ms: i64,
) {
    let commit = CommitRequest {
        container,
        application,
        node,
        kind,
        request: request(3),
        may_refuse: true,
        start_ms: now_ms,
    };
    assert!(elastane.commit(commit, now_ms), "{container}");
}

/// A run of 9 s: a small executor, and a large one that uses twice the cores and three times the
/// memory.
fn learn(folder: &Path) {
    let elastane = open(folder, "observe");
    let node = register(&elastane);
    let application = elastane.application_added(&submission("application_1_0001"), START_MS);
    start(&elastane, node, application, "small", SMALL, START_MS);
    start(&elastane, node, application, "large", LARGE, START_MS);
    let mut now_ms = START_MS;
    for (sequence, cores) in [(1, 1.0), (2, 0.25), (3, 0.25)] {
        now_ms += 3_000;
        let used = [("small", cores, GB), ("large", 2.0 * cores, 3 * GB)];
        let body = report(sequence, &used);
        elastane.report(NODE, VERSION, &body, now_ms).unwrap();
    }
    elastane.finished("small", now_ms);
    elastane.finished("large", now_ms);
    elastane.application_removed(application, true, now_ms);
    elastane.close();
}

fn depository(folder: &Path) -> Depository {
    Depository::open_existing(&folder.join("depository.sqlite"), Access::Read).unwrap()
}

#[test]
fn executors_of_two_priorities_are_learned_and_planned_each_by_their_own() {
    let folder = tempfile::tempdir().unwrap();
    learn(folder.path());
    let run = depository(folder.path()).run("application_1_0001").unwrap();
    let peaks: Vec<_> = run
        .unwrap()
        .series
        .iter()
        .map(|series| (series.kind, series.containers, series.slots[0].cpu_cores))
        .collect();
    assert_eq!(peaks, [(SMALL, 1, 1.0), (LARGE, 1, 2.0)]);

    let elastane = open(folder.path(), "enforce");
    let node = register(&elastane);
    let now_ms = START_MS + 600_000;
    elastane.report(NODE, VERSION, &report(4, &[]), now_ms).unwrap();
    let application = elastane.application_added(&submission("application_1_0002"), now_ms);
    for (container, kind) in [("s", SMALL), ("l", LARGE), ("n", NEW)] {
        start(&elastane, node, application, container, kind, now_ms);
    }
    let body = report(5, &[("s", 1.0, GB), ("l", 2.0, 3 * GB), ("n", 1.0, GB)]);
    let reply = elastane.report(NODE, VERSION, &body, now_ms).unwrap();
    let reply: Reply = decode(VERSION, &reply).unwrap();
    let plans: BTreeMap<_, Vec<_>> = reply
        .plans
        .iter()
        .map(|plan| {
            let weights = plan
                .steps
                .iter()
                .map(|step| (step.offset_ms, step.limits.cpu_weight_cores.unwrap()));
            (plan.container.as_str(), weights.collect())
        })
        .collect();
    assert_eq!(plans["s"], [(0, 1.0), (3_000, 0.25)]);
    assert_eq!(plans["l"], [(0, 2.0), (3_000, 0.5)]);
    // Nobody knows it: its part of four cores by virtual cores.
    assert_eq!(plans["n"], [(0, 4.0 / 3.0)]);
    elastane.close();

    let placed: Vec<_> = journal(folder.path())
        .into_iter()
        .filter(|record| record["kind"] == "placed" && record["time_ms"] == now_ms)
        .map(|record| {
            let priority = record["request_priority"].as_i64().unwrap();
            (priority, record["profile"].is_string())
        })
        .collect();
    assert_eq!(placed, [(0, true), (1, true), (2, false)]);
    let predictions = depository(folder.path()).predictions_of_run("application_1_0002");
    let predicted: Vec<_> = predictions.unwrap().iter().map(|it| it.kind).collect();
    assert_eq!(predicted, [SMALL, LARGE]);
}

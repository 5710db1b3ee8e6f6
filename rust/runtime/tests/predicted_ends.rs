//! When running applications are expected to end.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{
    GB, START_MS, commit, learn_named, named_submission, open, register, reply, request, submission,
};
use elastane_core::ContainerKind;
use elastane_core::cluster::{ApplicationId, Ask, CommitRequest, NodeId};
use elastane_runtime::Elastane;
use serde_json::{Value, json};

const ID: &str = "application_1_0080";
const NEW: &str = "application_1_0081";
/// The length of the run that was recorded.
const RUN_MS: i64 = 60_000;

/// An Elastane that knows one run of `known`, which runs again since the start, and a new application.
fn opened() -> (tempfile::TempDir, Elastane, NodeId, ApplicationId) {
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("known", &[1.0; (RUN_MS / 3_000) as usize])]);
    let elastane = open(folder.path(), "enforce");
    let node = register(&elastane);
    reply(&elastane, 0, START_MS, &[]);
    let known = elastane.application_added(&named_submission(ID, "known"), START_MS);
    let new = elastane.application_added(&submission(NEW), START_MS);
    assert!(commit(&elastane, "container_1", known, node, START_MS));
    assert!(commit(&elastane, "container_2", new, node, START_MS));
    (folder, elastane, node, known)
}

fn asks(elastane: &Elastane, application: ApplicationId, count: u32, memory_gb: u64) {
    let kind = ContainerKind::DEFAULT_EXECUTOR;
    let ask = Ask { kind, priority: 0, request: request(memory_gb), count };
    elastane.pending(application, ask, START_MS);
}

/// The answer about the known application, the new one and one that does not exist, by their ids.
fn ends(elastane: &Elastane, now_ms: i64) -> Value {
    let question =
        json!({"about": "predicted-ends", "applications": [ID, NEW, "application_1_9999"]});
    let answer = elastane.answer(&question.to_string(), now_ms).unwrap();
    serde_json::from_str::<Value>(&answer).unwrap()["predicted_ends"].clone()
}

/// Milliseconds from the start to the earliest, the median and the latest end.
fn range(elastane: &Elastane, after_ms: i64) -> Option<[i64; 3]> {
    let ends = ends(elastane, START_MS + after_ms);
    let end = ends.get(ID)?;
    let names = ["earliest_ms", "at_ms", "latest_ms"];
    Some(names.map(|name| end[name].as_i64().unwrap() - START_MS))
}

#[test]
fn the_end_is_that_of_earlier_runs_and_moves_on_with_the_time_that_has_passed() {
    let (_folder, elastane, ..) = opened();
    let all = ends(&elastane, START_MS + 1_000);
    assert_eq!(all.as_object().unwrap().len(), 1, "{all}");
    assert_eq!(all[ID]["runs"], 1);
    // One run: a seventh more or less.
    let [earliest, median, latest] = range(&elastane, 1_000).unwrap();
    assert!((median - RUN_MS).abs() < 100, "{median}");
    assert!((49_000..52_000).contains(&earliest), "{earliest}");
    assert!((70_000..74_000).contains(&latest), "{latest}");
    let later = range(&elastane, 66_000).unwrap();
    assert!(66_000 < later[0] && later[0] < later[1] && later[1] < later[2], "{later:?}");
    assert!(later[1] > median && later[2] < 90_000, "{later:?}");
    assert_eq!(range(&elastane, 2 * RUN_MS), None, "longer than nearly all earlier runs");
}

#[test]
fn the_length_counts_from_the_start_of_the_oldest_executor_that_runs() {
    let (_folder, elastane, node, known) = opened();
    let master = CommitRequest {
        container: "container_3",
        application: known,
        node,
        kind: ContainerKind::ApplicationMaster,
        request: request(1),
        may_refuse: false,
        start_ms: START_MS - 40_000,
    };
    assert!(elastane.commit(master, START_MS));
    assert!(commit(&elastane, "container_4", known, node, START_MS + 30_000));
    let median = |after_ms| range(&elastane, after_ms).map(|[_, median, _]| median);
    assert!((median(31_000).unwrap() - RUN_MS).abs() < 100);
    elastane.finished("container_1", START_MS + 32_000);
    assert!((median(33_000).unwrap() - RUN_MS - 30_000).abs() < 100);
    elastane.finished("container_4", START_MS + 34_000);
    assert_eq!(median(35_000), None, "no executor runs");
}

#[test]
fn no_end_is_predicted_while_the_application_waits_and_after_its_end() {
    let (_folder, elastane, _, known) = opened();
    asks(&elastane, known, 2, 1);
    assert_eq!(range(&elastane, 1_000), None);
    asks(&elastane, known, 0, 1);
    assert!(range(&elastane, 1_000).is_some());
    elastane.application_removed(known, true, START_MS + 2_000);
    assert_eq!(range(&elastane, 3_000), None);
}

#[test]
fn the_earlier_runs_are_those_with_the_settings_that_the_first_ask_names() {
    let folder = tempfile::tempdir().unwrap();
    let observing = open(folder.path(), "observe");
    let node = register(&observing);
    let earlier = named_submission("application_1_0001", "known");
    let application = observing.application_added(&earlier, START_MS - 600_000);
    asks(&observing, application, 1, 1);
    assert!(commit(&observing, "container_0", application, node, START_MS - 600_000));
    for slot in 1..=20 {
        let at_ms = START_MS - 600_000 + 3_000 * slot;
        reply(&observing, slot as u64, at_ms, &[("container_0", GB)]);
    }
    observing.application_removed(application, true, START_MS - 600_000 + RUN_MS);
    observing.close();

    for (memory_gb, is_predicted) in [(1, true), (2, false)] {
        let elastane = open(folder.path(), "enforce");
        let node = register(&elastane);
        reply(&elastane, 0, START_MS, &[]);
        let again = elastane.application_added(&named_submission(ID, "known"), START_MS);
        asks(&elastane, again, 1, memory_gb);
        assert!(commit(&elastane, "container_1", again, node, START_MS));
        asks(&elastane, again, 0, memory_gb);
        assert_eq!(range(&elastane, 1_000).is_some(), is_predicted, "{memory_gb} GB");
    }
}

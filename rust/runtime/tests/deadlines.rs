//! Applications with the tag `elastane.deadline`: their chance and outcome in journal, status and counters, and
//! their turn.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::path::Path;

use common::{
    START_MS, commit, journal, learn_named, named_submission, open, plan_starts, register, reply,
    request,
};
use elastane_core::ContainerKind;
use elastane_core::cluster::{ApplicationId, Ask};
use elastane_predict::Submission;
use elastane_runtime::Elastane;
use serde_json::Value;

const ID: &str = "application_1_0099";
/// The length of the run that was recorded.
const RUN_MS: i64 = 60_000;

fn due(id: &str, name: &str, deadline: &str) -> Submission {
    let tags = vec![format!("elastane.deadline={deadline}")];
    Submission { tags, ..named_submission(id, name) }
}

/// A folder in which an application of this name ran once, and an Elastane that knows it.
fn opened(name: &str) -> (tempfile::TempDir, Elastane) {
    let folder = tempfile::tempdir().unwrap();
    let run = (RUN_MS / 3_000) as usize;
    learn_named(folder.path(), &[(name, &vec![1.0; run]), ("busy", &vec![4.0; run])]);
    let elastane = open(folder.path(), "enforce");
    (folder, elastane)
}

fn asks(elastane: &Elastane, application: ApplicationId, now_ms: i64) {
    let kind = ContainerKind::DEFAULT_EXECUTOR;
    let ask = Ask { kind, priority: 0, request: request(1), count: 1 };
    elastane.pending(application, ask, now_ms);
}

fn status(elastane: &Elastane, now_ms: i64) -> Value {
    serde_json::from_str(&elastane.status(now_ms)).unwrap()
}

/// The states of deadlines in the journal, with their chances.
fn states(folder: &Path) -> Vec<(String, Option<f64>)> {
    let records = journal(folder).into_iter().filter(|record| record["kind"] == "deadline");
    let state = |record: Value| {
        assert_eq!(record["application"], ID);
        (record["state"].as_str().unwrap().to_owned(), record["chance"].as_f64())
    };
    records.map(state).collect()
}

#[test]
fn the_chance_is_said_at_the_submission_and_the_end_is_counted() {
    for (deadline, chance, after_ms, succeeded, outcome) in [
        // Lengths differ by a seventh from one run to the next, where one run is known.
        ("90s", 0.99, 80_000, true, "met"),
        ("60s", 0.5, 61_000, true, "missed"),
        ("45s", 0.03, 10_000, false, "missed"),
    ] {
        let (folder, elastane) = opened("etl");
        let application = elastane.application_added(&due(ID, "etl", deadline), START_MS);
        elastane.application_removed(application, succeeded, START_MS + after_ms);
        let counted = status(&elastane, START_MS)[format!("deadlines_{outcome}")].clone();
        elastane.close();
        assert_eq!(counted, 1);
        let states = states(folder.path());
        let given = states[0].1.unwrap();
        assert!((given - chance).abs() < 0.05, "{deadline}: {given}");
        let names: Vec<_> = states.iter().map(|(state, _)| state.as_str()).collect();
        assert_eq!(names, ["given", outcome]);
    }
}

#[test]
fn while_it_waits_the_status_has_its_deadline_and_a_chance_that_falls() {
    let (_folder, elastane) = opened("etl");
    let application = elastane.application_added(&due(ID, "etl", "2m"), START_MS);
    asks(&elastane, application, START_MS);
    let shown = |now_ms| status(&elastane, now_ms)["waiting"][0]["deadline"].clone();
    let (early, late) = (shown(START_MS), shown(START_MS + 61_000));
    assert_eq!(early["at_ms"], START_MS + 120_000);
    assert!(early["chance"].as_f64().unwrap() > 0.99, "{early}");
    assert!(late["chance"].as_f64().unwrap() < 0.5, "{late}");
}

#[test]
fn once_its_start_is_planned_the_wait_counts() {
    let (folder, elastane) = opened("etl");
    let node = register(&elastane);
    reply(&elastane, 0, START_MS, &[]);
    // The same job takes all of the node for a minute; then the application has 60 s left for 60 s.
    let busy =
        elastane.application_added(&named_submission("application_1_0080", "busy"), START_MS);
    assert!(commit(&elastane, "container_busy", busy, node, START_MS));
    let application = elastane.application_added(&due(ID, "etl", "2m"), START_MS);
    asks(&elastane, application, START_MS);
    for now_ms in [START_MS, START_MS + 3_000] {
        plan_starts(&elastane, ID, now_ms);
    }
    let shown = status(&elastane, START_MS);
    let start = &shown["waiting"][0]["planned_start"];
    assert_eq!(start["containers"], 1);
    assert_eq!(start["in_ms"], start["last_in_ms"]);
    let waits_ms = start["in_ms"].as_i64().unwrap();
    assert!((57_000..=RUN_MS).contains(&waits_ms), "{start}");
    let chance = shown["waiting"][0]["deadline"]["chance"].as_f64().unwrap();
    assert!((0.4..0.7).contains(&chance), "{chance}");
    elastane.close();
    let states = states(folder.path());
    let names: Vec<_> = states.iter().map(|(state, _)| state.as_str()).collect();
    assert_eq!(names, ["given", "planned"], "each is said once");
    assert!(states[0].1.unwrap() > 0.99 && states[1].1 == Some(chance), "{states:?}");
}

#[test]
fn without_runs_no_chance_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "enforce");
    elastane.application_added(&due(ID, "new", "90s"), START_MS);
    elastane.close();
    assert_eq!(states(folder.path()), [("given".to_owned(), None)]);
}

#[test]
fn what_is_no_time_and_what_has_no_tag_has_no_deadline() {
    let (folder, elastane) = opened("etl");
    for submission in [due(ID, "etl", "soon"), named_submission(ID, "etl")] {
        let application = elastane.application_added(&submission, START_MS);
        asks(&elastane, application, START_MS);
        assert_eq!(status(&elastane, START_MS)["waiting"][0]["deadline"], Value::Null);
        elastane.application_removed(application, true, START_MS);
    }
    elastane.close();
    assert_eq!(states(folder.path()), []);
}

#[test]
fn the_time_counts_from_the_submission_that_an_earlier_resource_manager_took() {
    let folder = tempfile::tempdir().unwrap();
    let elastane = open(folder.path(), "enforce");
    let submission = Submission { age_ms: 30_000, ..due(ID, "new", "90s") };
    let application = elastane.application_added(&submission, START_MS);
    asks(&elastane, application, START_MS);
    let deadline = &status(&elastane, START_MS)["waiting"][0]["deadline"];
    assert_eq!(deadline["at_ms"], START_MS + 60_000);
}

#[test]
fn a_resource_manager_that_starts_again_says_it_once() {
    let folder = tempfile::tempdir().unwrap();
    for age_ms in [0, 10_000] {
        let elastane = open(folder.path(), "enforce");
        let submission = Submission { age_ms, ..due(ID, "new", "90s") };
        elastane.application_added(&submission, START_MS + age_ms);
        // Without a checkpoint the next process would not know it.
        elastane.bookable_changes(1, START_MS + age_ms);
        elastane.close();
    }
    assert_eq!(states(folder.path()), [("given".to_owned(), None)]);
}

#[test]
fn an_application_that_is_due_goes_before_a_smaller_one() {
    let (_folder, elastane) = opened("etl");
    let node = register(&elastane);
    reply(&elastane, 0, START_MS, &[]);
    let mut order = Vec::new();
    for deadline in ["100s", "1d"] {
        let large =
            elastane.application_added(&due("application_1_0098", "etl", deadline), START_MS);
        let kind = ContainerKind::DEFAULT_EXECUTOR;
        let ask = Ask { kind, priority: 0, request: request(1), count: 9 };
        elastane.pending(large, ask, START_MS);
        let small = elastane.application_added(&named_submission(ID, "etl"), START_MS);
        asks(&elastane, small, START_MS);
        let named = elastane.round(node, request(8), START_MS).unwrap();
        order.push(named == [large, small]);
        assert!(commit(&elastane, "container", named[0], node, START_MS));
        elastane.finished("container", START_MS);
        elastane.application_removed(large, true, START_MS);
        elastane.application_removed(small, true, START_MS);
    }
    assert_eq!(order, [true, false]);
}

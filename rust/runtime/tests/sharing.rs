//! What one ResourceManager has learned, another one takes over.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use common::{
    GB, NODE, START_MS, commit, learn_named, named_submission, open, register, reply, request,
    run_of,
};
use elastane_core::cluster::CommitRequest;
use elastane_predict::ContainerKind;
use elastane_runtime::{Elastane, MergeReport};
use serde_json::{Value, json};

fn profiles(elastane: &Elastane) -> u64 {
    let status: serde_json::Value = serde_json::from_str(&elastane.status(START_MS)).unwrap();
    status["profiles"].as_u64().unwrap()
}

#[test]
fn a_copy_of_what_one_learned_makes_the_profiles_of_another() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [active, standby] = [0, 1].map(|one: usize| folders[one].path());
    let copy = folders[0].path().join("copy.sqlite");
    let elastane = open(active, "observe");
    let node = register(&elastane);
    run_of(&elastane, node, "application_1_0001", START_MS, 1.0, true);
    elastane.close();
    let elastane = open(active, "observe");
    elastane.copy_depository(&copy).unwrap();
    elastane.close();

    let elastane = open(standby, "observe");
    assert_eq!(profiles(&elastane), 0);
    let taken = elastane.take_over_depository(&copy).unwrap();
    assert_eq!((taken.added, taken.kept), (1, 0));
    let deadline = Instant::now() + Duration::from_secs(20);
    while profiles(&elastane) == 0 {
        assert!(Instant::now() < deadline, "no profile was made");
        thread::sleep(Duration::from_millis(10));
    }
    let again = elastane.take_over_depository(&copy).unwrap();
    assert_eq!((again.added, again.kept), (0, 1));
    elastane.close();
}

/// After a failover YARN recovers applications before the other ResourceManager's copy is taken over.
#[test]
fn the_next_container_of_an_application_that_runs_already_is_planned_by_the_runs_of_a_copy() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let copy = folders[0].path().join("copy.sqlite");
    learn_named(folders[0].path(), &[("known", &[2.0; 20]), ("other", &[1.0; 20])]);
    let active = open(folders[0].path(), "observe");
    active.copy_depository(&copy).unwrap();
    active.close();

    let elastane = open(folders[1].path(), "enforce");
    let node = register(&elastane);
    reply(&elastane, 1, START_MS, &[]);
    let submission = named_submission("application_1_0009", "known");
    let application = elastane.application_added(&submission, START_MS);
    let mut placed = 0;
    let mut profile_of_next = || {
        placed += 1;
        let container = format!("container_{placed}");
        assert!(commit(&elastane, &container, application, node, START_MS));
        let asked = json!({"about": "node", "node": NODE}).to_string();
        let answer = elastane.answer(&asked, START_MS + 1_000).unwrap();
        let node: Value = serde_json::from_str(&answer).unwrap();
        elastane.finished(&container, START_MS + 1_000);
        node["containers"][0]["profile"].as_str().map(str::to_owned)
    };
    // Its submission is handled by then.
    elastane.copy_depository(&folders[1].path().join("own.sqlite")).unwrap();
    assert_eq!(profile_of_next(), None);
    elastane.take_over_depository(&copy).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    let profile = loop {
        match profile_of_next() {
            Some(profile) => break profile,
            None => assert!(Instant::now() < deadline, "it is planned without the copy"),
        }
        thread::sleep(Duration::from_millis(10));
    };
    assert!(profile.contains("known"));
    elastane.close();
}

#[test]
fn a_container_that_runs_already_is_planned_by_the_runs_of_a_copy() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let copy = folders[0].path().join("copy.sqlite");
    learn_named(folders[0].path(), &[("known", &[2.0; 20])]);
    let active = open(folders[0].path(), "observe");
    active.copy_depository(&copy).unwrap();
    active.close();

    let elastane = open(folders[1].path(), "enforce");
    let node = register(&elastane);
    let application =
        elastane.application_added(&named_submission("application_1_0009", "known"), START_MS);
    let container = "container_1";
    let recovered = CommitRequest {
        container,
        application,
        node,
        kind: ContainerKind::DEFAULT_EXECUTOR,
        request: request(3),
        may_refuse: false,
        start_ms: START_MS,
    };
    assert!(elastane.commit(recovered, START_MS + 20_000));
    // Its submission is handled by then.
    elastane.copy_depository(&folders[1].path().join("own.sqlite")).unwrap();
    let mut sequence = 0;
    let mut weight_after = |after_s: i64| {
        sequence += 1;
        let reply = reply(&elastane, sequence, START_MS + after_s * 1_000, &[(container, GB)]);
        reply.plans[0].steps[0].limits.cpu_weight_cores
    };
    assert_eq!(
        weight_after(21),
        Some(4.0),
        "what runs there has the node's cores by virtual cores"
    );
    let about_node = json!({"about": "node", "node": NODE}).to_string();
    let told = || -> Value {
        let answer = elastane.answer(&about_node, START_MS + 25_000).unwrap();
        let mut node: Value = serde_json::from_str(&answer).unwrap();
        node["containers"][0].take()
    };
    let asked = told();
    assert_eq!(
        (&asked["profile"], asked["planned"]["memory_bytes"].as_f64()),
        (&Value::Null, Some(3.0 * GB as f64))
    );

    elastane.take_over_depository(&copy).unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while told()["profile"].is_null() {
        assert!(Instant::now() < deadline, "it is planned without the copy");
        thread::sleep(Duration::from_millis(10));
    }
    let known = told();
    assert_eq!(known["planned"]["cpu_cores"], 2.0);
    assert_eq!(known["planned"]["memory_bytes"].as_f64(), Some(GB as f64));
    assert_eq!(known["requested_memory_bytes"], 3 * GB);
    assert_eq!(weight_after(24), Some(2.0));
    let changes = told()["limit_changes"].take();
    let is_weight = |it: &&Value| it["limit"] == "cpu_weight_cores";
    let newest = changes.as_array().unwrap().iter().find(is_weight).unwrap();
    let why = "earlier runs of its application are known now: it is planned by its profile";
    assert_eq!(newest["why"], why);
    elastane.close();
}

#[test]
fn a_damaged_copy_is_named_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.sqlite");
    fs::write(&copy, "this is no depository").unwrap();
    let elastane = open(folder.path(), "observe");
    let error = elastane.take_over_depository(&copy).unwrap_err();
    assert!(error.to_string().contains("copy.sqlite"), "{error}");
    let elsewhere = folder.path().join("no-such-folder/copy.sqlite");
    let error = elastane.copy_depository(&elsewhere).unwrap_err();
    assert!(error.to_string().contains("no-such-folder"), "{error}");
    elastane.copy_depository(&copy).unwrap();
    let taken = elastane.take_over_depository(&copy).unwrap();
    assert_eq!(taken, MergeReport::default());
    elastane.close();
}

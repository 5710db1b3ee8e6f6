//! Samples become progress, and a slow container gets what its node has left for one window.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{
    GB, NODE, START_MS, commit, journal, learn_named, named_submission, open_with, register,
    report, unencoded_report,
};
use elastane_protocol::{Reply, VERSION, decode, encode};
use elastane_runtime::Elastane;
use serde_json::Value;

const LEARNED: &[f32] = &[2.0; 20];

/// A container that was learned to use two cores for a minute, and uses one, or so many where it is given
/// more; reports of so many slots.
fn half_as_fast(elastane: &Elastane, slots: u64, in_window_cores: f32) -> Vec<Reply> {
    let node = register(elastane);
    elastane.report(NODE, VERSION, &report(0, &[]), START_MS).unwrap();
    let submission = named_submission("application_1_0080", "busy");
    let application = elastane.application_added(&submission, START_MS);
    assert!(commit(elastane, "c1", application, node, START_MS));
    let mut replies: Vec<Reply> = Vec::new();
    let mut had_window = false;
    for slot in 1..=slots {
        let now_ms = START_MS + 3_000 * slot as i64;
        let has_window = !had_window && replies.last().is_some_and(|last| weight(last) > 3.0);
        had_window |= has_window;
        let cores = if has_window { in_window_cores } else { 1.0 };
        let body = report(slot, &[("c1", cores, GB)]);
        let reply = elastane.report(NODE, VERSION, &body, now_ms).unwrap();
        replies.push(decode(VERSION, &reply).unwrap());
    }
    replies
}

/// Half a core for thirty seconds, then one and a half.
const LEARNED_IN_TWO: &[f32] = &[
    0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5,
    1.5,
];

/// The CPU that a container is planned to use now.
fn planned_cores(reply: &Reply, container: &str) -> f32 {
    let plan = reply.plans.iter().find(|plan| plan.container == container);
    let step = plan.and_then(|plan| plan.steps.first());
    step.and_then(|step| step.limits.cpu_weight_cores).unwrap()
}

#[test]
fn one_that_replaces_a_lost_executor_goes_on_where_the_others_are() {
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("busy", LEARNED_IN_TWO)]);
    let elastane = open_with(folder.path(), "enforce", &[("reprovision", "on")]);
    let node = register(&elastane);
    let submission = named_submission("application_1_0080", "busy");
    elastane.report(NODE, VERSION, &report(0, &[]), START_MS).unwrap();
    let application = elastane.application_added(&submission, START_MS);
    let mut now_ms = START_MS;
    let mut slot = 0;
    let mut used = |containers: &[(&str, f32, u64)]| {
        (now_ms, slot) = (now_ms + 3_000, slot + 1);
        let reply = elastane.report(NODE, VERSION, &report(slot, containers), now_ms);
        let reply: Reply = decode(VERSION, &reply.unwrap()).unwrap();
        (reply, now_ms)
    };
    assert!(commit(&elastane, "c1", application, node, START_MS));
    assert!(commit(&elastane, "c2", application, node, START_MS));
    let mut at_ms = START_MS;
    for cores in &LEARNED_IN_TWO[..13] {
        (_, at_ms) = used(&[("c1", *cores, GB), ("c2", *cores, GB)]);
    }
    elastane.finished("c2", at_ms);
    assert!(commit(&elastane, "c3", application, node, at_ms));
    let (reply, _) = used(&[("c1", 1.5, GB), ("c3", 1.5, GB)]);
    assert_eq!(planned_cores(&reply, "c3"), 1.5);
    // Nothing was left undone that another could take over.
    assert!(commit(&elastane, "c4", application, node, at_ms + 3_000));
    let (reply, _) = used(&[("c1", 1.5, GB), ("c3", 1.5, GB), ("c4", 0.5, GB)]);
    assert_eq!(planned_cores(&reply, "c4"), 0.5);
    elastane.close();
}

fn records(folder: &std::path::Path, what: &str) -> Vec<Value> {
    let mut records = journal(folder);
    records.retain(|record| record["kind"] == "reprovision" && record["what"] == what);
    records
}

fn weight(reply: &Reply) -> f32 {
    let plan = reply.plans.first();
    let step = plan.and_then(|plan| plan.steps.first());
    step.and_then(|step| step.limits.cpu_weight_cores).unwrap_or_default()
}

#[test]
fn a_slow_container_has_a_window_and_the_journal_says_so() {
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("busy", LEARNED)]);
    let elastane = open_with(folder.path(), "enforce", &[("reprovision", "on")]);
    let replies = half_as_fast(&elastane, 20, 3.0);
    let status: Value = serde_json::from_str(&elastane.status(START_MS + 60_000)).unwrap();
    elastane.close();

    assert_eq!(status["reprovision_windows"], 1);
    assert_eq!(status["reprovision_measured"], 1);
    let opened = &records(folder.path(), "opened")[0];
    assert!(opened["slowness"].as_f64().unwrap() > 1.1, "{opened}");
    assert_eq!(opened["application"], "application_1_0080");
    assert_eq!(opened["predicted"]["cpu_cores"], 2.0);
    assert!(opened["lent"]["cpu_cores"].as_f64().unwrap() > 0.0);
    let measured = &records(folder.path(), "measured")[0];
    assert_eq!(measured["used"]["cpu_cores"], 3.0);
    assert_eq!(measured["factors"][0], 1.5, "{measured}");
    let at = |record: &Value| (record["time_ms"].as_i64().unwrap() - START_MS) / 3_000 - 1;
    let window = usize::try_from(at(opened)).unwrap();
    assert!(weight(&replies[window]) > 3.0);
    assert_eq!(weight(&replies[window + 1]), 3.0);
}

#[test]
fn the_journal_says_who_is_held_up_and_its_plan_stays() {
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("busy", LEARNED)]);
    let elastane = open_with(folder.path(), "enforce", &[("reprovision", "on")]);
    let replies = half_as_fast(&elastane, 20, 1.0);
    elastane.close();

    assert!(records(folder.path(), "measured").is_empty());
    let returned = &records(folder.path(), "returned")[0];
    let reason = returned["reason"].as_str().unwrap();
    assert!(reason.ends_with("something other than resources holds it up"), "{reason}");
    let at = (returned["time_ms"].as_i64().unwrap() - START_MS) / 3_000 - 1;
    assert_eq!(weight(&replies[usize::try_from(at).unwrap()]), 2.0);
}

#[test]
fn nothing_is_reprovisioned_where_it_is_off_or_where_decisions_do_not_act() {
    for (mode, reprovision) in [("enforce", "off"), ("observe", "on")] {
        let folder = tempfile::tempdir().unwrap();
        learn_named(folder.path(), &[("busy", LEARNED)]);
        let elastane = open_with(folder.path(), mode, &[("reprovision", reprovision)]);
        half_as_fast(&elastane, 20, 3.0);
        elastane.close();
        assert!(records(folder.path(), "opened").is_empty(), "{mode} {reprovision}");
    }
}

/// A core for thirty seconds, then two.
const LEARNED_TO_RISE: &[f32] = &[
    1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0,
    2.0,
];

#[test]
fn one_that_is_throttled_gets_what_it_wants_and_is_no_further_for_that() {
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("busy", LEARNED_TO_RISE)]);
    let elastane = open_with(folder.path(), "enforce", &[("reprovision", "on")]);
    let node = register(&elastane);
    elastane.report(NODE, VERSION, &report(0, &[]), START_MS).unwrap();
    let submission = named_submission("application_1_0080", "busy");
    let application = elastane.application_added(&submission, START_MS);
    assert!(commit(&elastane, "c1", application, node, START_MS));
    let mut planned = 1.0;
    for slot in 1..=9 {
        // It wants three cores, and has what it was planned to use.
        let cores = 3.0_f32.min(planned);
        let mut body = unencoded_report(slot, &[("c1", cores, GB)]);
        body.containers[0].samples[0].usage.cpu_throttled = 1.0 - cores / 3.0;
        let now_ms = START_MS + 3_000 * slot as i64;
        let reply = elastane.report(NODE, VERSION, &encode(&body).unwrap(), now_ms);
        planned = planned_cores(&decode(VERSION, &reply.unwrap()).unwrap(), "c1");
    }
    elastane.close();

    let opened = &records(folder.path(), "opened")[0];
    assert_eq!(opened["slow"], "throttled", "{opened}");
    assert!(opened["slowness"].as_f64().unwrap() > 2.9, "{opened}");
    let measured = &records(folder.path(), "measured")[0];
    assert_eq!(measured["factors"][0], 3.0, "{measured}");
    assert_eq!(planned, 3.0, "as in the first half");
}

#[test]
fn a_window_that_ends_with_its_application_names_it() {
    const CONTAINER: &str = "container_e3_1_0080_01_000002";
    let folder = tempfile::tempdir().unwrap();
    learn_named(folder.path(), &[("busy", LEARNED)]);
    let elastane = open_with(folder.path(), "enforce", &[("reprovision", "on")]);
    let node = register(&elastane);
    elastane.report(NODE, VERSION, &report(0, &[]), START_MS).unwrap();
    let submission = named_submission("application_1_0080", "busy");
    let application = elastane.application_added(&submission, START_MS);
    assert!(commit(&elastane, CONTAINER, application, node, START_MS));
    let at = |slot: u64| START_MS + 3_000 * slot as i64;
    let opened = (1..=20).find(|&slot| {
        let body = report(slot, &[(CONTAINER, 1.0, GB)]);
        let reply = elastane.report(NODE, VERSION, &body, at(slot)).unwrap();
        weight(&decode(VERSION, &reply).unwrap()) > 3.0
    });
    let opened = opened.unwrap();
    elastane.finished(CONTAINER, at(opened) + 1_000);
    elastane.application_removed(application, true, at(opened) + 2_000);
    elastane.report(NODE, VERSION, &report(opened + 1, &[]), at(opened + 1)).unwrap();
    elastane.close();
    let returned = &records(folder.path(), "returned")[0];
    assert_eq!(returned["reason"], "the container ended");
    assert_eq!(returned["application"], "application_1_0080");
}

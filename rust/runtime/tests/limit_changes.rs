//! Why limits changed, as `elastane explain CONTAINER` tells it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod common;

use common::one_container::{CONTAINER, OneContainer, TWO_HALVES};
use common::{GB, START_MS, commit, named_submission, settings};
use elastane_protocol::{CanLimit, Limits, Report};
use serde_json::{Value, json};

fn enforcing(name: &str, cores: &[f32], more: &[(&str, &str)]) -> OneContainer {
    OneContainer::start(name, cores, "enforce", more)
}

impl OneContainer {
    /// One core and half a GB; `change` may say otherwise.
    fn report(&mut self, after_s: i64, change: impl FnOnce(&mut Report)) {
        self.report_with(after_s * 1_000, GB / 2, change);
    }

    /// Of a limit: after how many seconds, from, to and why, newest first.
    fn changes(&self, limit: &str) -> Vec<(i64, Value, Value, String)> {
        let changes = self.told(3_600_000)["limit_changes"].as_array().unwrap().clone();
        let of_it = changes.into_iter().filter(|it| it["limit"] == limit).map(|mut it| {
            let after_ms = it["at_ms"].as_i64().unwrap() - START_MS;
            let why = it["why"].as_str().unwrap().to_owned();
            (after_ms / 1_000, it["from"].take(), it["to"].take(), why)
        });
        of_it.collect()
    }

    fn newest(&self, limit: &str) -> (i64, Value, Value, String) {
        self.changes(limit).remove(0)
    }

    fn set(&self, mode: &str, more: &[(&str, &str)]) {
        self.elastane.apply_settings(settings(self.folder.path(), mode, more)).unwrap();
    }
}

fn same(_: &mut Report) {}

#[test]
fn time_alone_is_the_next_step_of_the_plan() {
    let mut one = enforcing("known", &TWO_HALVES, &[]);
    for after_s in (3..=36).step_by(3) {
        one.report(after_s, same);
    }
    let first = "the first limits that this ResourceManager plans for it";
    let step = "the next step in the plan of its profile";
    let expected = [
        (30, json!(2.0), json!(0.25), step.to_owned()),
        (3, Value::Null, json!(2.0), first.to_owned()),
    ];
    assert_eq!(one.changes("cpu_weight_cores"), expected);
}

/// After each report of so many cores, or of no use, how the newest change of the CPU weight came, until it fell.
fn until_the_weight_falls(
    one: &mut OneContainer,
    cores: impl Fn(i64) -> Option<f32>,
) -> (i64, String) {
    for after_s in (3..=60).step_by(3) {
        one.report(after_s, |report| match cores(after_s) {
            Some(cores) => report.containers[0].samples[0].usage.cpu_cores = cores,
            None => report.containers.clear(),
        });
        let (_, _, to, why) = one.newest("cpu_weight_cores");
        if to == 0.25 {
            return (after_s, why);
        }
    }
    panic!("it did not fall");
}

#[test]
fn a_step_that_progress_brings_is_told_from_one_that_comes_with_time() {
    let start = |cores| enforcing("known", cores, &[("reprovision", "on")]);
    let (after_s, why) = until_the_weight_falls(&mut start(&TWO_HALVES), |_| Some(4.0));
    assert!(after_s < 30, "{after_s}");
    assert!(why.starts_with("its progress: the plan of its profile goes on "), "{why}");
    assert!(why.ends_with(" s earlier"), "{why}");

    // It begins late; after its first rise nothing is known but the time.
    let mut three = TWO_HALVES;
    three[..5].fill(1.0);
    let late = |at_s| match at_s {
        ..=9 => Some(0.0),
        10..=24 => Some(1.0),
        25..=30 => Some(2.0),
        _ => None,
    };
    let (after_s, why) = until_the_weight_falls(&mut start(&three), late);
    assert!(after_s > 33, "{after_s}: {why}");
    assert!(why.starts_with("the next step in the plan of its profile, "), "{why}");
    assert!(why.ends_with(" s later by its progress"), "{why}");
}

#[test]
fn settings_and_abilities_are_told_for_the_limits_that_they_are_about() {
    let mut one = enforcing("known", &TWO_HALVES, &[]);
    one.report(3, same);
    one.set("enforce", &[("plan.cpu.cap-ratio", "1.5")]);
    one.report(6, same);
    let expected = "the administrator changed plan.* in the configuration";
    let (at, from, to, why) = one.newest("cpu_cap_cores");
    assert_eq!((at, from, to, &*why), (6, Value::Null, json!(3.0), expected));
    assert_eq!(one.changes("cpu_weight_cores").len(), 1);

    let none = CanLimit { network_sent: true, ..CanLimit::default() };
    one.report(9, |report| report.can_limit = none);
    let (at, from, to, why) = one.newest("cpu_cap_cores");
    assert_eq!((at, from, to), (9, json!(3.0), Value::Null));
    assert_eq!(why, "what the node's agent can limit changed");
    assert_eq!(one.changes("network_weight_bytes_per_s").len(), 1);
}

#[test]
fn a_mode_that_is_left_and_a_plan_that_ran_out_lift_limits() {
    let mut one = enforcing("known", &[2.0; 100], &[]);
    one.report(3, same);
    one.set("observe", &[]);
    one.report(6, same);
    let (at, from, to, why) = one.newest("cpu_weight_cores");
    assert_eq!((at, from, to), (6, json!(2.0), Value::Null));
    assert!(why.starts_with("lifted: the core no longer decides about the node"), "{why}");

    one.set("enforce", &[]);
    one.report(9, same);
    let (at, from, to, why) = one.newest("cpu_weight_cores");
    assert_eq!((at, from, to), (9, Value::Null, json!(2.0)));
    assert!(why.starts_with("the core decides about the node again"), "{why}");

    // A plan holds for two minutes.
    one.report(200, same);
    let changes = one.changes("cpu_weight_cores");
    let ran_out = (129, json!(2.0), Value::Null);
    assert_eq!((changes[1].0, changes[1].1.clone(), changes[1].2.clone()), ran_out);
    assert!(changes[1].3.starts_with("lifted by the agent: no report of it arrived"));
    assert_eq!(changes[0].3, "the node's agent reports again");
}

#[test]
fn memory_that_was_not_planned_is_told() {
    let mut one = enforcing("known", &[2.0; 100], &[("plan.memory", "on")]);
    let hold = |one: &mut OneContainer, after_s, bytes| {
        one.report(after_s, |report| report.containers[0].samples[0].usage.memory_bytes = bytes);
        one.newest("memory_bytes").3
    };
    hold(&mut one, 3, GB / 2);
    let more = hold(&mut one, 6, 2 * GB);
    assert_eq!(more, "it holds more memory than was planned for any time up to now");
    // What is held now counts until it falls.
    let less = hold(&mut one, 9, GB / 2);
    assert_eq!(less, "it no longer holds more memory than was planned");
}

#[test]
fn a_slow_container_is_told_what_it_was_lent_and_what_became_of_it() {
    let mut one = enforcing("known", &[2.0; 20], &[("reprovision", "on")]);
    let mut cores = 1.0;
    for after_s in (3..=120).step_by(3) {
        one.report(after_s, |report| {
            report.containers[0].samples[0].usage.cpu_cores = cores;
        });
        let newest = one.newest("cpu_weight_cores").3;
        if newest.contains("is lent") {
            cores = 3.5;
        } else if newest.contains("returned") {
            break;
        }
    }
    let changes = one.changes("cpu_weight_cores");
    let why: Vec<_> = changes.iter().map(|it| it.3.as_str()).collect();
    assert!(why[0].starts_with("reprovisioning: it returned what it was lent, and by its use"));
    assert!(why[0].ends_with("times its prediction, after 1.00 times"), "{why:?}");
    assert!(why[1].starts_with("reprovisioning: it is slow, and is lent what"), "{why:?}");
}

#[test]
fn a_loan_ends_with_the_mode_and_is_no_reason_afterwards() {
    let mut one = enforcing("known", &TWO_HALVES, &[("reprovision", "on")]);
    let lent = (3..=120).step_by(3).find(|after_s| {
        one.report(*after_s, same);
        one.newest("cpu_weight_cores").3.contains("is lent")
    });
    let lent_s = lent.unwrap();
    one.set("observe", &[("reprovision", "on")]);
    one.report(lent_s + 3, same);
    // Without another loan.
    one.set("enforce", &[]);
    one.report(lent_s + 6, same);
    assert!(one.newest("cpu_weight_cores").3.starts_with("the core decides"));
    one.report(36, same);
    let (at, _, to, why) = one.newest("cpu_weight_cores");
    assert_eq!((at, to), (36, json!(0.25)));
    assert!(why.starts_with("the next step in the plan of its profile"), "{why}");
}

#[test]
fn a_setting_is_told_where_nothing_was_limited_before_it() {
    let none = CanLimit::default();
    let mut one = enforcing("known", &TWO_HALVES, &[]);
    one.report(3, |report| report.can_limit = none);
    one.report(6, same);
    assert_eq!(one.newest("cpu_weight_cores").3, "what the node's agent can limit changed");
}

#[test]
fn without_a_profile_a_share_changes_with_the_other_containers() {
    let mut one = enforcing("never seen", &[2.0; 20], &[]);
    one.report(3, same);
    let submission = named_submission("application_1_0091", "another");
    let another = one.elastane.application_added(&submission, START_MS);
    let node = elastane_core::cluster::NodeId(0);
    assert!(commit(&one.elastane, "container_2", another, node, START_MS + 4_000));
    one.report(6, same);
    let (at, from, to, why) = one.newest("cpu_weight_cores");
    assert_eq!((at, from, to), (6, json!(4.0), json!(2.0)));
    assert!(why.starts_with("other containers of the node started or ended"), "{why}");
}

#[test]
fn limits_that_another_process_planned_are_taken_over() {
    let mut one = enforcing("known", &TWO_HALVES, &[]);
    let limits = Limits { cpu_weight_cores: Some(0.5), ..Limits::default() };
    one.report(3, |report| report.containers[0].limits = Some(limits));
    let (at, from, to, why) = one.newest("cpu_weight_cores");
    assert_eq!((at, from, to), (3, json!(0.5), json!(2.0)));
    assert!(why.starts_with("the first plan of this ResourceManager"), "{why}");
}

#[test]
fn the_latest_six_of_a_container_are_kept_and_none_after_its_end() {
    let mut one = enforcing("known", &[2.0; 100], &[]);
    for after_s in 1..=20 {
        let ratio = if after_s % 2 == 0 { "1.5" } else { "3.0" };
        one.set("enforce", &[("plan.cpu.cap-ratio", ratio)]);
        one.report(after_s, same);
    }
    let changes = one.changes("cpu_cap_cores");
    assert_eq!((changes.len(), changes[0].0, changes[4].0), (6, 20, 16));
    one.elastane.finished(CONTAINER, START_MS + 21_000);
    let question = json!({"about": "containers", "containers": [CONTAINER]});
    let answer = one.elastane.answer(&question.to_string(), START_MS + 22_000).unwrap();
    assert_eq!(answer, "{\"containers\":[]}");
}

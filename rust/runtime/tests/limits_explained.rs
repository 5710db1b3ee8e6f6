//! Why a container has the limits that it has, and when they change.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::one_container::{OneContainer, TWO_HALVES};
use common::{GB, NODE};
use elastane_protocol::Limits;
use serde_json::{Value, json};

fn start(name: &str, mode: &str) -> OneContainer {
    let more = [("plan.memory", "on"), ("plan.cpu.cap-ratio", "1.5")];
    OneContainer::start(name, &TWO_HALVES, mode, &more)
}

impl OneContainer {
    /// The agent reports this memory, and these limits in force.
    fn report(&mut self, after_ms: i64, memory_bytes: u64, limits: Option<Limits>) {
        self.report_with(after_ms, memory_bytes, |report| report.containers[0].limits = limits);
    }

    /// The same are in the node's answer.
    fn limits(&self, after_ms: i64) -> Vec<Value> {
        let limits = self.told(after_ms)["limits"].take();
        let of_node = self.answer(&json!({"about": "node", "node": NODE}), after_ms);
        assert_eq!(limits, of_node["containers"][0]["limits"]);
        limits.as_array().unwrap().clone()
    }

    fn limit(&self, name: &str, after_ms: i64) -> Value {
        let limits = self.limits(after_ms);
        limits.into_iter().find(|it| it["limit"] == name).unwrap_or(Value::Null)
    }
}

fn why(limit: &Value) -> &str {
    limit["why"].as_str().unwrap()
}

#[test]
fn a_weight_follows_the_plan_and_says_when_it_changes() {
    let mut one = start("known", "enforce");
    one.report(6_000, GB / 2, None);
    let weight = one.limit("cpu_weight_cores", 6_000);
    assert_eq!((&weight["in_force"], &weight["planned"]), (&Value::Null, &json!(2.0)));
    assert_eq!((&weight["next"], &weight["next_in_ms"]), (&json!(0.25), &json!(24_000)));
    assert_eq!(
        why(&weight),
        "what is planned for now, margin included; the agent's latest report shows no limit in \
         force"
    );

    let in_force = |cores| Limits { cpu_weight_cores: Some(cores), ..Limits::default() };
    one.report(9_000, GB / 2, Some(in_force(2.0)));
    let weight = one.limit("cpu_weight_cores", 9_000);
    assert_eq!(weight["in_force"], 2.0);
    assert_eq!(why(&weight), "what is planned for now, margin included");

    one.report(33_000, GB / 2, Some(in_force(2.0)));
    let weight = one.limit("cpu_weight_cores", 36_000);
    assert_eq!((&weight["planned"], &weight["next_in_ms"]), (&json!(0.25), &Value::Null));
    let expected = "what is planned for now, margin included; the agent's latest report shows \
                    another limit in force";
    assert_eq!(why(&weight), expected);
    assert_eq!(one.limit("disk_cap_bytes_per_s", 36_000), Value::Null);
}

#[test]
fn a_cap_is_never_below_the_request() {
    let mut one = start("known", "enforce");
    one.report(6_000, GB / 2, None);
    let early = one.limit("cpu_cap_cores", 6_000);
    assert_eq!(early["planned"], 3.0);
    assert!(
        why(&early).starts_with("what is planned for now, margin included, times the cap ratio")
    );
    // One virtual core of eight, of a node of 4 cores, is more than 1.5 times a quarter of a core.
    one.report(40_000, GB / 2, None);
    let late = one.limit("cpu_cap_cores", 40_000);
    assert_eq!(late["planned"], 0.5);
    assert!(why(&late).starts_with("the request, which a cap is never below"), "{late}");
}

#[test]
fn memory_says_what_it_follows() {
    let mut one = start("known", "enforce");
    one.report(6_000, GB / 2, None);
    let memory = |one: &OneContainer, after_ms| one.limit("memory_bytes", after_ms);
    assert!(why(&memory(&one, 6_000)).starts_with("the most that is planned from 6 s before"));
    one.report(57_000, GB / 2, None);
    let ends = memory(&one, 58_000);
    assert!(
        why(&ends).starts_with("the request, since the predicted end is near or past"),
        "{ends}"
    );
    assert_eq!(ends["planned"], (3 * GB) as f64);

    let mut one = start("known", "enforce");
    one.report(9_000, 2 * GB, None);
    let holds = memory(&one, 9_000);
    assert!(why(&holds).starts_with("what it holds, margin included: more than"), "{holds}");
    assert!(holds["planned"].as_f64().unwrap() >= (2 * GB) as f64);

    let limits = Limits { memory_bytes: Some(2 * GB), ..Limits::default() };
    one.report(12_000, GB / 2, Some(limits));
    let above = memory(&one, 12_000);
    assert!(
        why(&above)
            .contains("; the limit in force is higher: the agent keeps it above resident memory")
    );
}

#[test]
fn without_a_profile_it_has_its_part_of_the_virtual_cores() {
    let mut one = start("never seen", "enforce");
    one.report(6_000, GB, None);
    let limits = one.limits(6_000);
    assert_eq!(limits.len(), 1, "{limits:?}");
    assert_eq!(limits[0]["planned"], 4.0);
    assert!(why(&limits[0]).contains("since no profile counts for it"));
}

#[test]
fn where_the_core_does_not_decide_nothing_is_planned_and_what_is_in_force_ends() {
    let mut one = start("known", "observe");
    one.report(6_000, GB, None);
    assert_eq!(one.limits(6_000), Vec::<Value>::new());
    let limits = Limits { cpu_weight_cores: Some(1.0), ..Limits::default() };
    one.report(9_000, GB, Some(limits));
    let left = one.limit("cpu_weight_cores", 9_000);
    assert_eq!((&left["in_force"], &left["planned"]), (&json!(1.0), &Value::Null));
    let expected = "the core plans no limits for the node now: the agent lifts what it has with the \
                    next reply, or when its last plan has run out";
    assert_eq!(why(&left), expected);
}

//! What each policy answers to a scenario, by hand.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "common/one_node.rs"]
mod one_node;

use elastane_core::policy::{Policy, PolicyOptions, named};
use elastane_sim::Options;
use serde_json::{Value, json};

use one_node::{
    ALL, ONE, answer, assert_close, demand, judged, pending, placed, running, scenario,
};

const FIGURE_6: &str = include_str!("data/minfrag-figure6.scenario.json");

fn policy(name: &str) -> Box<dyn Policy> {
    named(name, PolicyOptions::default()).unwrap()
}

#[test]
fn trc_adds_figure_6_up() {
    let figure_6 = serde_json::from_str(FIGURE_6).unwrap();
    let score = |executor| judged("trc", &figure_6, executor).score.unwrap();
    assert_close(score("1"), 53. / 112. + 165. / 448. + 3. / 70. + 6. / 35.);
    assert_close(score("2"), 13. / 32. + 43. / 128. + 1. / 10. + 1. / 20.);
    assert_eq!(placed("trc", &figure_6, ONE), ["2"]);
}

#[test]
fn elastane_takes_the_least_mean_share_of_figure_6_and_then_the_other_beside_it() {
    let figure_6 = serde_json::from_str(FIGURE_6).unwrap();
    let judged = |executor| judged("elastane", &figure_6, executor);
    let (first, second) = (judged("1"), judged("2"));
    // Executor 1 uses 1,625 of 7 · 1,250 MB/s, executor 2 a quarter of the cores.
    assert_close(first.score.unwrap(), 13. / 70.);
    assert_close(second.score.unwrap(), 1. / 4.);
    let detail = first.detail.unwrap();
    assert_close(detail.numbers["nodes"], 13. / 70.);
    assert_close(detail.numbers["life_s"], 21.);
    assert_close(detail.per_resource["mean_share"]["cpu"], 19. / 112.);
    // Together they are 250 MB/s above what there is in the first slot.
    assert_eq!(placed("elastane", &figure_6, ALL), ["1", "2"]);
}

#[test]
fn elastane_counts_all_that_an_application_waits_for() {
    let cores = |cores: f64| [[cores, 0.0, 0.0, 0.0]];
    let waiting = [
        pending("two-1", 0, [1.0, 0.0], &cores(1.0)),
        pending("two-2", 0, [1.0, 0.0], &cores(1.0)),
        pending("one-1", 1, [1.0, 0.0], &cores(1.5)),
    ];
    let scenario = scenario([4.0, 0.0, 0.0, 0.0], &[], &waiting);
    assert_close(judged("elastane", &scenario, "two-1").score.unwrap(), 0.5);
    // With one of them placed, the other one demands less than the third.
    let order = ["one-1", "two-1", "two-2"];
    assert_eq!(placed("elastane", &scenario, ALL), order);
}

#[test]
fn trc_and_minfrag_differ_where_one_resource_remains_most() {
    let empty = [4.0, 4.0, 4.0, 4.0];
    let one_left = pending("one", 0, [0.0, 0.0], &[[4.0, 4.0, 4.0, 1.0]]);
    let all_left = pending("all", 0, [0.0, 0.0], &[[2.0, 2.0, 2.0, 2.0]]);
    let both = scenario(empty, &[], &[one_left, all_left]);
    assert_eq!(placed("trc", &both, ONE), ["one"]);
    assert_eq!(placed("minfrag", &both, ONE), ["all"]);
}

#[test]
fn prophet_weighs_both_areas_stage_by_stage() {
    // Network 6 then 6 of 10 left, asked 2 then 8: F = 1 · 4 ÷ 10, O = ½ · 2 ÷ 10.
    let busy = running("r", 60_000, [1.0, 0.0], &[[1.0, 0.0, 4.0, 0.0]; 2]);
    let waits = pending("p", 0, [3.0, 0.0], &[[9.0, 0.0, 2.0, 0.0], [9.0, 0.0, 8.0, 0.0]]);
    let scenario = scenario([4.0, 0.0, 10.0, 5.0], &[busy], &[waits]);
    let judged = judged("prophet", &scenario, "p");
    let parts = judged.detail.unwrap().per_resource;
    assert_close(parts["F"]["network"], 0.4);
    assert_close(parts["O"]["network"], 0.1);
    let network = 0.7 * 0.1 + 0.3 * 0.4;
    assert_close(parts["score"]["network"], network);
    // Disk is not used: F = (1 + ½) · 5 ÷ 5.
    let disk = 0.3 * 1.5;
    assert_close(parts["score"]["disk"], disk);
    assert_close(judged.score.unwrap(), network.hypot(disk));
}

#[test]
fn prophet_asks_each_executor_by_itself_and_takes_the_smallest_norm() {
    let near = pending("near", 59_000, [1.0, 0.0], &[[1.0, 0.0, 9.0, 0.0]]);
    let far = pending("far", 0, [1.0, 0.0], &[[1.0, 0.0, 1.0, 0.0]]);
    let scenario = scenario([1.0, 0.0, 10.0, 0.0], &[], &[far, near]);
    assert_eq!(placed("prophet", &scenario, ALL), ["near"]);
}

/// Four cores of which none is idle, 10 units of network a second.
fn for_ursa(pending: &[Value]) -> Value {
    let busy = running("r", 60_000, [4.0, 0.0], &[[4.0, 0.0, 0.0, 0.0]; 15]);
    let mut scenario = scenario([4.0, 0.0, 10.0, 0.0], &[busy], pending);
    scenario["ursa"] = json!({"ept_s": 20, "nodes": {"node-1": {
        "rates": {"cpu_cores": 2, "network_bytes_per_s": 5, "disk_bytes_per_s": 0},
        "assigned": {"cpu_core_s": 30, "network_bytes": 25, "disk_bytes": 0},
    }}});
    scenario
}

#[test]
fn ursa_takes_rates_and_work_from_its_block() {
    // CPU: APT = 30 ÷ 2, D = 5 ÷ 20; load 4 core-s, Inc = 4 ÷ 2 ÷ 20.
    // Network: APT = 25 ÷ 5, D = 15 ÷ 20; load 120, Inc = 120 ÷ 5 ÷ 20, capped at D.
    let waits = pending("p", 0, [0.0, 0.0], &[[2.0, 0.0, 60.0, 0.0]; 2]);
    let judged = judged("ursa", &for_ursa(&[waits]), "p");
    let detail = judged.detail.unwrap();
    assert_close(detail.per_resource["D"]["cpu"], 0.25);
    assert_close(detail.per_resource["D"]["network"], 0.75);
    assert_close(detail.per_resource["Inc"]["cpu"], 0.1);
    assert_close(detail.per_resource["Inc"]["network"], 0.75);
    let f = 0.25 * 0.1 + 0.75 * 0.75;
    assert_close(detail.numbers["F"], f);
    // A stage of one that is whole, and 60 s of waiting.
    assert_close(judged.score.unwrap() - 160.0, f);
}

#[test]
fn without_a_node_in_its_block_ursa_derives_rates_and_work() {
    let waits = pending("p", 60_000, [0.0, 0.0], &[[2.0, 0.0, 0.0, 0.0]; 2]);
    let mut scenario = for_ursa(&[waits]);
    scenario["ursa"]["nodes"] = json!({});
    let of = |scenario: &Value| judged("ursa", scenario, "p").detail.unwrap().per_resource;
    // 60 core-seconds are left on 4 cores: APT = 15 of 20 s; the load of 4 takes one second.
    let derived = of(&scenario);
    assert_close(derived["D"]["cpu"], 0.25);
    assert_close(derived["Inc"]["cpu"], 0.05);
    // Without the block, EPT is a minute.
    scenario.as_object_mut().unwrap().remove("ursa");
    assert_close(of(&scenario)["D"]["cpu"], 0.75);
}

#[test]
fn ursa_gives_no_work_to_what_is_not_idle_and_an_idle_core_is() {
    let cpu = pending("cpu", 0, [0.0, 0.0], &[[1.0, 0.0, 0.0, 0.0]]);
    let network = pending("network", 0, [0.0, 0.0], &[[0.0, 0.0, 1.0, 0.0]]);
    let mut scenario = for_ursa(&[cpu, network]);
    scenario["ursa"]["nodes"]["node-1"]["assigned"]["cpu_core_s"] = json!(40);
    let refused = judged("ursa", &scenario, "cpu");
    assert_eq!(
        refused.reason.as_deref(),
        Some("cpu demand exceeds what is available by 1.00 cores")
    );
    assert!(judged("ursa", &scenario, "network").fits);
    // Half a core is none.
    scenario["nodes"][0]["running"][0]["demand"] = demand(&[[3.5, 0.0, 0.0, 0.0]; 15]);
    assert!(!judged("ursa", &scenario, "cpu").fits);
    scenario["nodes"][0]["running"][0]["demand"] = demand(&[[3.0, 0.0, 0.0, 0.0]; 15]);
    let idle = judged("ursa", &scenario, "cpu").detail.unwrap();
    assert_close(idle.per_resource["D"]["cpu"], 1.0);
}

#[test]
fn ursa_counts_what_it_has_placed_as_assigned() {
    // Each takes 25 of the 75 units of network work that fit into EPT beside the 25 that are there.
    let names = ["a", "b", "c", "d", "e"];
    let waiting = names.map(|name| pending(name, 0, [0.0, 0.0], &[[0.0, 0.0, 25.0, 0.0]]));
    assert_eq!(placed("ursa", &for_ursa(&waiting), ALL), ["a", "b", "c"]);
}

#[test]
fn ursa_holds_memory_to_every_slot() {
    let waits = pending("p", 0, [0.0, 0.0], &[[0.0, 1.0, 0.0, 0.0], [0.0, 3.0, 0.0, 0.0]]);
    let scenario = scenario([4.0, 2.0, 0.0, 0.0], &[], &[waits]);
    let reason = judged("ursa", &scenario, "p").reason.unwrap();
    assert!(reason.ends_with("from 1 s on"), "{reason}");
}

#[test]
fn ursa_orders_jobs_by_submission_or_by_what_is_left_of_them() {
    let slots = |count: usize| vec![[1.0, 0.0, 0.0, 0.0]; count];
    let long = pending("long-1", 10_000, [0.0, 0.0], &slots(6));
    let more = pending("long-2", 10_000, [0.0, 0.0], &slots(6));
    let short = pending("short-1", 50_000, [0.0, 0.0], &slots(8));
    let scenario = scenario([8.0, 0.0, 0.0, 0.0], &[], &[long, more, short]);
    assert_eq!(placed("ursa", &scenario, ONE), ["long-1"]);
    assert_eq!(placed("ursa-srjf", &scenario, ONE), ["short-1"]);
    // Of 20 core-seconds 8 are left: x = 0.4.
    let rank = judged("ursa-srjf", &scenario, "short-1").detail.unwrap().numbers["rank"];
    assert_close(rank, 1.0 / (1.6 * 0.4));
}

#[test]
fn the_margin_is_for_what_fits_by_demand() {
    let options = Options { margin: 0.5, all: false };
    let waits = pending("p", 0, [4.0, 4.0], &[[3.0; 4]]);
    let scenario = scenario([4.0; 4], &[], &[waits]);
    for (policy, expected) in [
        ("elastane", false),
        ("minfrag", false),
        ("trc", false),
        ("ursa", false),
        ("prophet", true),
    ] {
        let heartbeat = answer(policy, &scenario, options).heartbeats.remove(0);
        assert_eq!(heartbeat.candidates[0].fits, expected, "{policy}");
    }
}

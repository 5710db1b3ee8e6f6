//! What each baseline answers to a scenario, by hand.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "../../rust/sim/tests/common/one_node.rs"]
mod one_node;

use elastane_core::policy::{Policy, PolicyOptions};
use elastane_lab::baselines;
use elastane_sim::Options;
use serde_json::json;

use one_node::{
    ALL, ONE, amounts, answer, assert_close, judged, pending, placed, running, scenario,
};

fn policy(name: &str) -> Box<dyn Policy> {
    let policies = baselines::policies();
    policies.named(name, PolicyOptions::default()).unwrap().policy
}

#[test]
fn tetris_multiplies_the_share_beside_peaks_by_the_peak() {
    // The peak has passed, but Tetris ignores time.
    let busy = running("r", 59_000, [1.0, 0.0], &[[2.0, 0.0, 5.0, 0.0], [1.0, 0.0, 0.0, 0.0]]);
    let cpu = pending("cpu", 0, [1.0, 0.0], &[[2.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]]);
    let network = pending("network", 0, [1.0, 0.0], &[[0.0, 0.0, 6.0, 0.0]]);
    let scenario = scenario([8.0, 0.0, 10.0, 0.0], &[busy], &[network, cpu]);
    let judged = judged("tetris", &scenario, "cpu");
    assert_close(judged.score.unwrap(), 6.0 / 8.0 * (2.0 / 8.0));
    let parts = judged.detail.unwrap().per_resource;
    assert_close(parts["available_share"]["network"], 0.5);
    assert_close(parts["alignment"]["cpu"], 0.1875);
    assert_eq!(placed("tetris", &scenario, ALL), ["cpu"]);
}

#[test]
fn tetris_takes_the_largest_alignment() {
    let small = pending("small", 0, [0.0, 0.0], &[[1.0, 0.0, 0.0, 0.0]]);
    let large = pending("large", 9, [0.0, 0.0], &[[3.0, 0.0, 0.0, 0.0]]);
    let scenario = scenario([8.0, 0.0, 0.0, 0.0], &[], &[small, large]);
    assert_eq!(placed("tetris", &scenario, ONE), ["large"]);
}

#[test]
fn static_and_dynamic_place_by_request_whatever_is_used() {
    let idle = running("r", 60_000, [3.0, 6.0], &[[0.0; 4]]);
    let late = pending("late", 50_000, [1.0, 2.0], &[[9.0; 4]]);
    let early = pending("early", 40_000, [1.0, 2.0], &[[9.0; 4]]);
    let large = pending("large", 0, [1.0, 3.0], &[[0.0; 4]]);
    let scenario = scenario([4.0, 8.0, 1.0, 1.0], &[idle], &[late, early, large]);
    for policy in ["static", "dynamic"] {
        assert_eq!(placed(policy, &scenario, ALL), ["early"], "{policy}");
        let judged = judged(policy, &scenario, "early");
        assert_close(judged.score.unwrap(), 20.0);
    }
    let reason = judged("static", &scenario, "large").reason.unwrap();
    assert!(reason.starts_with("memory demand exceeds what is available"), "{reason}");
}

#[test]
fn capacity_takes_the_application_that_came_first_not_the_executor() {
    // The application "old" has run since 10 s, its next executor was queued at 55 s.
    let old = running("old", 10_000, [1.0, 0.0], &[[1.0, 0.0, 0.0, 0.0]; 100]);
    let next = pending("old-2", 55_000, [1.0, 0.0], &[[0.0; 4]]);
    let new = pending("new-1", 40_000, [1.0, 0.0], &[[0.0; 4]]);
    let scenario = scenario([4.0, 0.0, 0.0, 0.0], &[old], &[new, next]);
    assert_eq!(placed("capacity", &scenario, ONE), ["old-2"]);
    assert_eq!(placed("static", &scenario, ONE), ["new-1"]);
}

#[test]
fn an_application_was_submitted_with_its_earliest_executor() {
    let late = pending("a-1", 55_000, [1.0, 0.0], &[[0.0; 4]]);
    let early = pending("a-2", 10_000, [1.0, 0.0], &[[0.0; 4]]);
    let scenario = scenario([4.0, 0.0, 0.0, 0.0], &[], &[late, early]);
    assert_close(judged("capacity", &scenario, "a-1").score.unwrap(), 50.0);
}

#[test]
fn drf_takes_turns_by_the_dominant_share_over_the_whole_cluster() {
    let executor = |name: &str, asked| pending(name, 0, asked, &[[0.0; 4]]);
    // "a" asks for an eighth of the CPU each time, "b" for a quarter of the memory.
    let waiting = [
        executor("a-1", [1.0, 1.0]),
        executor("a-2", [1.0, 1.0]),
        executor("a-3", [1.0, 1.0]),
        executor("b-1", [1.0, 4.0]),
        executor("b-2", [1.0, 4.0]),
    ];
    let scenario = scenario([8.0, 16.0, 0.0, 0.0], &[], &waiting);
    let order = ["a-1", "b-1", "a-2", "a-3", "b-2"];
    assert_eq!(placed("drf", &scenario, ALL), order);
    let shares = answer("drf", &scenario, ALL).heartbeats.remove(2).candidates;
    assert_close(shares[0].score.unwrap(), 1.0 / 8.0);
    assert_close(shares.last().unwrap().score.unwrap(), 4.0 / 16.0);
}

#[test]
fn drf_counts_executors_on_other_nodes() {
    let mut scenario = scenario(
        [8.0, 0.0, 0.0, 0.0],
        &[],
        &[pending("a-1", 0, [1.0, 0.0], &[[0.0; 4]]), pending("b-1", 1, [1.0, 0.0], &[[0.0; 4]])],
    );
    let other = json!({
        "id": "node-2", "capacity": amounts([8.0, 0.0, 0.0, 0.0]),
        "running": [running("a", 60_000, [2.0, 0.0], &[[0.0; 4]])],
    });
    scenario["nodes"].as_array_mut().unwrap().push(other);
    assert_close(judged("drf", &scenario, "a-1").score.unwrap(), 2.0 / 16.0);
    assert_eq!(placed("drf", &scenario, ONE)[0], "b-1");
}

#[test]
fn watermark_books_more_while_a_node_is_little_used() {
    // All 4 cores are booked; the executor uses `used` of them.
    for (used, expected, factor) in [(2.0, true, 1.5), (2.8, true, 1.25), (3.2, false, 1.0)] {
        let busy = running("r", 60_000, [4.0, 0.0], &[[used, 0.0, 0.0, 0.0]]);
        let waits = pending("p", 0, [1.0, 0.0], &[[9.0; 4]]);
        let scenario = scenario([4.0, 0.0, 0.0, 0.0], &[busy], &[waits]);
        let judged = judged("watermark", &scenario, "p");
        assert_eq!(judged.fits, expected, "{used}");
        if let Some(detail) = judged.detail {
            assert_close(detail.per_resource["factor"]["cpu"], factor);
        }
    }
}

#[test]
fn oversubscribe_books_a_node_twice_and_no_more() {
    let busy = running("r", 60_000, [6.0, 6.0], &[[9.0; 4]]);
    let two = pending("two", 0, [2.0, 2.0], &[[9.0; 4]]);
    let three = pending("three", 0, [2.0, 3.0], &[[0.0; 4]]);
    let scenario = scenario([4.0, 4.0, 1.0, 1.0], &[busy], &[three, two]);
    assert_eq!(placed("oversubscribe", &scenario, ALL), ["two"]);
}

#[test]
fn the_margin_counts_only_for_a_fit_by_demand() {
    let options = Options { margin: 0.5, all: false };
    let waits = pending("p", 0, [4.0, 4.0], &[[3.0; 4]]);
    let scenario = scenario([4.0; 4], &[], &[waits]);
    for (policy, expected) in [
        ("tetris", false),
        ("static", true),
        ("dynamic", true),
        ("capacity", true),
        ("drf", true),
        ("watermark", true),
        ("oversubscribe", true),
    ] {
        let heartbeat = answer(policy, &scenario, options).heartbeats.remove(0);
        assert_eq!(heartbeat.candidates[0].fits, expected, "{policy}");
    }
}

#[test]
fn an_unknown_policy_is_refused_with_all_known_ones() {
    let error = baselines::policies().named("fairest", PolicyOptions::default()).err().unwrap();
    assert_eq!(
        error.to_string(),
        "policy fairest is unknown; the policies are elastane, minfrag, trc, prophet, ursa, \
         ursa-srjf, capacity, drf, tetris, static, dynamic, watermark, oversubscribe-1.5, \
         oversubscribe, oversubscribe-2.5, oversubscribe-3"
    );
}

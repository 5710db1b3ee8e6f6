//! What each policy answers to a scenario, by hand.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use elastane_core::policy::{PolicyOptions, named};
use elastane_sim::{Answer, Candidate, Options, Scenario, what_if};
use serde_json::{Value, json};

const FIGURE_6: &str = include_str!("data/minfrag-figure6.scenario.json");

const ONE: Options = Options {
    margin: 0.0,
    all: false,
};
const ALL: Options = Options {
    margin: 0.0,
    all: true,
};

fn answer(policy: &str, scenario: &Value, options: Options) -> Answer {
    let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
    let policy = named(policy, PolicyOptions::default()).unwrap();
    what_if(&scenario, policy.as_ref(), options)
}

/// Who is placed, in order, until nothing fits.
fn placed(policy: &str, scenario: &Value, options: Options) -> Vec<String> {
    let heartbeats = answer(policy, scenario, options).heartbeats;
    heartbeats
        .into_iter()
        .filter_map(|beat| beat.placed)
        .collect()
}

/// What the first heartbeat says of one executor.
fn judged(policy: &str, scenario: &Value, executor: &str) -> Candidate {
    let candidates = answer(policy, scenario, ONE)
        .heartbeats
        .remove(0)
        .candidates;
    let mut found = candidates
        .into_iter()
        .filter(|one| one.executor == executor);
    found.next().unwrap()
}

/// An amount for each resource.
fn amounts([cpu, memory, network, disk]: [f64; 4]) -> Value {
    json!({
        "cpu_cores": cpu, "memory_bytes": memory,
        "network_bytes_per_s": network, "disk_bytes_per_s": disk,
    })
}

/// Slots of a second.
fn demand(slots: &[[f64; 4]]) -> Value {
    let column = |resource: usize| slots.iter().map(|slot| slot[resource]).collect::<Vec<_>>();
    json!({
        "cpu_cores": column(0), "memory_bytes": column(1),
        "network_bytes_per_s": column(2), "disk_bytes_per_s": column(3),
    })
}

fn request([cpu, memory]: [f64; 2]) -> Value {
    json!({"cpu_cores": cpu, "memory_bytes": memory})
}

fn pending(name: &str, queued_ms: i64, asked: [f64; 2], slots: &[[f64; 4]]) -> Value {
    let application = name.split('-').next();
    json!({
        "id": name, "application": application, "queued_ms": queued_ms,
        "request": request(asked), "demand": demand(slots),
    })
}

fn running(application: &str, start_ms: i64, asked: [f64; 2], slots: &[[f64; 4]]) -> Value {
    json!({
        "id": format!("{application}-r"), "application": application, "start_ms": start_ms,
        "request": request(asked), "demand": demand(slots),
    })
}

/// One node, at 60 s.
fn scenario(capacity: [f64; 4], running: &[Value], pending: &[Value]) -> Value {
    json!({
        "now_ms": 60_000, "slot_ms": 1_000, "pending": pending,
        "nodes": [{"id": "node-1", "capacity": amounts(capacity), "running": running}],
    })
}

fn assert_close(got: f64, expected: f64) {
    assert!((got - expected).abs() < 1e-12, "{got} is not {expected}");
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
    let waits = pending(
        "p",
        0,
        [3.0, 0.0],
        &[[9.0, 0.0, 2.0, 0.0], [9.0, 0.0, 8.0, 0.0]],
    );
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

#[test]
fn tetris_multiplies_what_is_left_beside_peaks_with_the_peak() {
    // The peak has passed, and Tetris knows no time.
    let busy = running(
        "r",
        59_000,
        [1.0, 0.0],
        &[[2.0, 0.0, 5.0, 0.0], [1.0, 0.0, 0.0, 0.0]],
    );
    let cpu = pending(
        "cpu",
        0,
        [1.0, 0.0],
        &[[2.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]],
    );
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
    assert!(
        reason.starts_with("memory demand exceeds what is available"),
        "{reason}"
    );
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
fn an_application_came_with_the_earliest_of_its_executors() {
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
    let shares = answer("drf", &scenario, ALL)
        .heartbeats
        .remove(2)
        .candidates;
    assert_close(shares[0].score.unwrap(), 1.0 / 8.0);
    assert_close(shares.last().unwrap().score.unwrap(), 4.0 / 16.0);
}

#[test]
fn drf_counts_what_runs_on_other_nodes() {
    let mut scenario = scenario(
        [8.0, 0.0, 0.0, 0.0],
        &[],
        &[
            pending("a-1", 0, [1.0, 0.0], &[[0.0; 4]]),
            pending("b-1", 1, [1.0, 0.0], &[[0.0; 4]]),
        ],
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
    // 4 of 4 cores are booked; of 4 cores so many are used.
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
    let waits = pending(
        "p",
        0,
        [0.0, 0.0],
        &[[0.0, 1.0, 0.0, 0.0], [0.0, 3.0, 0.0, 0.0]],
    );
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
    let rank = judged("ursa-srjf", &scenario, "short-1")
        .detail
        .unwrap()
        .numbers["rank"];
    assert_close(rank, 1.0 / (1.6 * 0.4));
}

#[test]
fn the_margin_is_for_what_fits_by_demand() {
    let options = Options {
        margin: 0.5,
        all: false,
    };
    let waits = pending("p", 0, [4.0, 4.0], &[[3.0; 4]]);
    let scenario = scenario([4.0; 4], &[], &[waits]);
    for (policy, expected) in [
        ("elastane", false),
        ("minfrag", false),
        ("trc", false),
        ("tetris", false),
        ("ursa", false),
        ("prophet", true),
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

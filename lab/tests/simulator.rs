//! The simulator under the baselines.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "../../rust/sim/tests/common/simulated.rs"]
mod simulated;
#[path = "../../rust/sim/tests/common/small_cluster.rs"]
mod small_cluster;

use elastane_core::policy::names;
use elastane_lab::baselines;
use elastane_lab::workload::generate;
use elastane_sim::simulator::{Policies, Settings};

use small_cluster::{application, run, workload};

const NEVER_ASKED_IN_VAIN: [&str; 2] = [STATIC, "drf"];

fn known_policies() -> Policies {
    baselines::policies()
}

fn policies() -> impl Iterator<Item = &'static str> {
    let all = known_policies().names().into_iter();
    all.filter(|name| !names().contains(name))
}

/// Placement by request lets peaks coincide, so the contention model takes effect.
const STATIC: &str = "static";

#[test]
fn over_capacity_executors_slow_down_and_a_disk_loses_throughput() {
    let settings = Settings { assignments_per_heartbeat: 2, ..Settings::default() };
    let ended_s = |slots: &[[f64; 4]]| {
        let two = application("a", 0, 2, slots);
        run(&workload(1, vec![two]), STATIC, &settings).applications[0].ended_s
    };
    assert_eq!(ended_s(&[[4.0, 1e9, 0.0, 0.0]; 10]), 60.0);
    // Twice the disk's capacity is wanted: 15 % of its throughput is lost.
    let disk_s = ended_s(&[[0.1, 1e9, 0.0, 100e6]; 10]);
    assert!((disk_s - 60.0 / 0.85).abs() < 1e-6, "{disk_s}");
}

#[test]
fn an_executor_slows_a_busy_one_down_from_its_start_on() {
    let busy = application("busy", 0, 1, &[[4.0, 1e9, 0.0, 0.0]; 10]);
    let late = application("late", 15_000, 1, &[[4.0, 1e9, 0.0, 0.0]; 10]);
    let outcome = run(&workload(1, vec![busy, late]), STATIC, &Settings::default());
    assert_eq!(outcome.applications[0].ended_s, 45.0);
    assert_eq!(outcome.applications[1].ended_s, 60.0);
}

#[test]
fn memory_far_over_capacity_kills_the_latest_executor_which_starts_anew() {
    let mut hungry = application("a", 0, 2, &[[1.0, 7e9, 0.0, 0.0]; 10]);
    hungry.predicted = None;
    let outcome = run(&workload(1, vec![hungry]), STATIC, &Settings::default());
    assert!(outcome.counts.killed > 0);
    assert_eq!(outcome.counts.placed, 2 + outcome.counts.killed);
    assert!(outcome.applications[0].ended_s >= 60.0);
}

#[test]
fn a_container_is_free_for_others_on_the_heartbeat_after_its_end() {
    let first = application("first", 0, 2, &[[2.0, 1e9, 0.0, 0.0]; 3]);
    let settings = Settings { assignments_per_heartbeat: 2, ..Settings::default() };
    let next = application("next", 100, 1, &[[2.0, 1e9, 0.0, 0.0]; 3]);
    let mut work = workload(1, vec![first, next]);
    work.heartbeat_ms = 2_500;
    let outcome = run(&work, STATIC, &settings);
    assert_eq!(outcome.applications[1].started_s, 10.0);
}

#[test]
fn dynamic_allocation_asks_for_twice_as_many_each_second() {
    let work = workload(8, vec![application("a", 0, 7, &[[2.0, 1e9, 0.0, 0.0]; 20])]);
    let started = |policy| run(&work, policy, &Settings::default());
    // 1, 2 and 4 executors: the last four are requested after 2 s and start within a heartbeat.
    let ended_s = started("dynamic").applications[0].ended_s;
    assert!((62.0..63.0).contains(&ended_s), "{ended_s}");
    assert!(started("static").applications[0].ended_s < 61.0);
}

#[test]
fn one_application_in_lock_step_leaves_nothing_to_gain() {
    let lockstep = generate("lockstep", 1).unwrap();
    let makespan_s = |policy| run(&lockstep, policy, &Settings::default()).makespan_s;
    let (minfrag_s, static_s) = (makespan_s("minfrag"), makespan_s(STATIC));
    assert!(minfrag_s >= 0.98 * static_s, "{minfrag_s} against {static_s}");
}

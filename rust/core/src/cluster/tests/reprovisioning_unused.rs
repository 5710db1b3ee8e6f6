//! Demand that a run keeps leaving unused becomes available.

use super::reprovisioning::{
    application, done, enabled, left, one_running, report_progress, run, used, used_all,
    with_window,
};
use super::*;
use crate::reprovision::ReprovisionSettings;

const SLOT: i64 = crate::SLOT_MS as i64;

/// Ten samples of an executor on time that uses this part of its core, from a slot on.
fn leaves_unused(cluster: &mut Cluster, cores: f64, from: i64) {
    for slot in from..from + 10 {
        report_progress(cluster, "c1", slot as f64 / 20.0, slot * SLOT);
        used(cluster, "c1", cores, slot * SLOT);
    }
}

#[test]
fn unused_demand_becomes_available_until_it_is_used() {
    let (mut cluster, node) = one_running(enabled());
    report_progress(&mut cluster, "c1", 0.0, 0);
    leaves_unused(&mut cluster, 0.5, 4);
    assert_eq!(
        left(&mut cluster, node, 1, 13 * SLOT),
        [3.4],
        "half of the core and a fifth of that"
    );
    used(&mut cluster, "c1", 0.6, 14 * SLOT);
    assert_eq!(left(&mut cluster, node, 1, 14 * SLOT), [3.0]);
}

#[test]
fn ten_samples_of_an_executor_on_time_are_enough() {
    let (mut cluster, node) = one_running(enabled());
    report_progress(&mut cluster, "c1", 0.0, 0);
    for slot in 1..=14 {
        assert_eq!(left(&mut cluster, node, 1, slot * SLOT), [3.0], "{slot}");
        used(&mut cluster, "c1", 0.5, slot * SLOT);
        report_progress(&mut cluster, "c1", slot as f64 / 20.0, slot * SLOT);
    }
    // The pace is not measurable before 12 s.
    assert_eq!(left(&mut cluster, node, 1, 14 * SLOT), [3.4]);
}

#[test]
fn a_burst_one_slot_late_is_not_unused() {
    let (mut cluster, node) = one_running(enabled());
    let mut cores = [0.5; 20];
    cores[4] = 3.0;
    run(&mut cluster, node, "c2", &cores, 0);
    report_progress(&mut cluster, "c2", 0.0, 0);
    for slot in 4..14 {
        report_progress(&mut cluster, "c2", slot as f64 / 20.0, slot * SLOT);
        used(&mut cluster, "c2", 0.49, slot * SLOT);
    }
    assert_eq!(done(&mut cluster), []);
    assert_eq!(left(&mut cluster, node, 1, 13 * SLOT), [2.5]);
}

#[test]
fn a_slow_executor_may_be_held_up_and_keeps_its_demand() {
    let (mut cluster, node) = one_running(enabled());
    report_progress(&mut cluster, "c1", 0.0, 0);
    for slot in 4..20 {
        report_progress(&mut cluster, "c1", slot as f64 / 30.0, slot * SLOT);
        used(&mut cluster, "c1", 0.5, slot * SLOT);
    }
    assert_eq!(left(&mut cluster, node, 1, 19 * SLOT), [3.0]);
}

#[test]
fn memory_is_lowered_only_after_its_peak() {
    for (peak_at, lowered) in [(1, true), (18, false)] {
        let (mut cluster, node) =
            cluster_of_one(ClusterSettings { fresh_for_ms: i64::MAX, ..settings() });
        cluster.reprovision_by(Some(ReprovisionSettings::default()));
        let mut slots = vec![Resources::from_array([1.0, 2e9, 0.0, 0.0]); 20];
        slots[peak_at].memory_bytes = 3e9;
        let demands = executors(Demand::series(crate::SLOT_MS, &slots).unwrap(), 0.0);
        let application = application(&mut cluster, demands);
        record(&mut cluster, "c1", application, node, 4, 0);
        report_progress(&mut cluster, "c1", 0.0, 0);
        for slot in 4..14 {
            report_progress(&mut cluster, "c1", slot as f64 / 20.0, slot * SLOT);
            used_all(&mut cluster, "c1", [1.0, 1e9, 0.0, 0.0], slot * SLOT);
        }
        let entry = cluster.node(node).unwrap();
        let memory_bytes = entry.node.expected_at(14 * SLOT).memory_bytes;
        assert_eq!(memory_bytes < 2e9, lowered, "{memory_bytes}");
        assert!(memory_bytes >= 1.2e9, "{memory_bytes}");
    }
}

#[test]
fn an_executor_at_its_own_slower_pace_leaves_nothing_unused() {
    let (mut cluster, node) = with_window();
    used(&mut cluster, "c1", 1.0, 11 * SLOT);
    done(&mut cluster);
    for slot in 12..30 {
        report_progress(&mut cluster, "c1", slot as f64 / 40.0, slot * SLOT);
        used(&mut cluster, "c1", 0.5, slot * SLOT);
    }
    assert_eq!(done(&mut cluster), []);
    assert_eq!(left(&mut cluster, node, 1, 29 * SLOT), [3.0]);
}

#[test]
fn idle_time_is_not_slow() {
    let (mut cluster, node) = one_running(enabled());
    report_progress(&mut cluster, "c1", 0.0, 0);
    for slot in 1..=10 {
        used(&mut cluster, "c1", 0.01, slot * SLOT);
        report_progress(&mut cluster, "c1", 0.0, slot * SLOT);
    }
    assert!(!cluster.reprovision(node, 10 * SLOT));
}

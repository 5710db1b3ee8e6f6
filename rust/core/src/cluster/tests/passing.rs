//! An application waits a bounded time for a node that delays it less.

use super::*;
use crate::cluster::WaitReason;

const PASS_MS: i64 = 3_000;

/// Two nodes of four cores. On the first runs an executor that uses all cores for 12 s; an
/// application waits for an executor that uses two cores for 30 s. With its margin that executor is
/// large, so its CPU is compared in total.
fn one_busy_and_one_idle_node() -> (Cluster, ApplicationId, NodeId, NodeId) {
    let settings = ClusterSettings { pass_ms: PASS_MS, ..settings() };
    let (mut cluster, busy) = cluster_of_one_with(settings, Peaks::Soft);
    let idle = cluster.node_added("node-2:1", request(8, 8));
    cluster.reported(idle, physical(), 0);
    let burst = [4.0, 4.0, 4.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let first = waiting(&mut cluster, "first", learned(&burst, 1.0), ask(1, 1));
    assert!(matches!(place(&mut cluster, "1", first, busy, 0), Commit::Placed(_)));
    cluster.pending(first, Ask { count: 0, ..ask(1, 1) }, 0);
    let second = waiting(&mut cluster, "second", large(), ask(1, 1));
    (cluster, second, busy, idle)
}

fn large() -> Demands {
    let slots = [Resources::from_array([2.0, 1e9, 0.0, 0.0]); 10];
    executors(Demand::series(crate::SLOT_MS, &slots).unwrap(), 0.05)
}

fn names(cluster: &mut Cluster, node: NodeId, now_ms: i64) -> Vec<ApplicationId> {
    cluster.round(node, request(16, 16), now_ms).unwrap()
}

#[test]
fn an_application_passes_on_a_busy_node_and_goes_to_the_idle_one() {
    let (mut cluster, second, busy, idle) = one_busy_and_one_idle_node();
    assert_eq!(names(&mut cluster, busy, 0), []);
    let held = cluster.wait_reason(second, 0);
    // 24 core-seconds lack, and the node does 4 core-seconds a second.
    let expected = WaitReason::Passed { node: busy, better: idle, gain_ms: 6_000 };
    assert_eq!(held, Some(expected));
    assert_eq!(names(&mut cluster, idle, 0), [second]);
}

#[test]
fn an_application_passes_no_longer_than_allowed() {
    let (mut cluster, second, busy, _) = one_busy_and_one_idle_node();
    assert_eq!(names(&mut cluster, busy, 0), []);
    assert_eq!(names(&mut cluster, busy, PASS_MS - 1), []);
    assert_eq!(names(&mut cluster, busy, PASS_MS), [second]);
    assert_eq!(names(&mut cluster, busy, PASS_MS + 1), [second]);
}

#[test]
fn a_gain_no_longer_than_the_wait_is_not_worth_passing() {
    // After 3 s, 9 s of the burst remain and delay by 4.5 s; after 6 s, 3 s.
    for (now_ms, passes) in [(3_000, true), (6_000, false)] {
        let (mut cluster, _, busy, _) = one_busy_and_one_idle_node();
        assert_eq!(names(&mut cluster, busy, now_ms).is_empty(), passes);
    }
}

#[test]
fn a_node_where_the_application_may_not_go_is_no_better_node() {
    let (mut cluster, second, busy, idle) = one_busy_and_one_idle_node();
    cluster.node_resized(idle, request(0, 8));
    assert_eq!(names(&mut cluster, busy, 0), [second], "no room by request");

    let (mut cluster, second, busy, idle) = one_busy_and_one_idle_node();
    let entry = cluster.state.nodes.get_mut(idle).unwrap();
    entry.last_report_ms = Some(-10_001);
    assert_eq!(names(&mut cluster, busy, 0), [second], "silent agent");
}

#[test]
fn without_a_wait_the_first_node_that_fits_is_taken() {
    let (mut cluster, second, busy, _) = one_busy_and_one_idle_node();
    cluster.settings.pass_ms = 0;
    assert_eq!(names(&mut cluster, busy, 0), [second]);
}

#[test]
fn the_next_best_is_listed_behind_many_that_pass() {
    let (mut cluster, second, busy, _) = one_busy_and_one_idle_node();
    for _ in 0..3 * ROUND_LIMIT {
        waiting(&mut cluster, "like", large(), ask(1, 1));
    }
    let modest = waiting(&mut cluster, "modest", learned(&[0.1; 10], 0.1), ask(1, 1));
    assert_eq!(names(&mut cluster, busy, 0), [modest]);
    let named = names(&mut cluster, busy, PASS_MS);
    assert_eq!((named.len(), named[0]), (ROUND_LIMIT, second));
}

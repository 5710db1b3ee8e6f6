//! An executor waits for a node that delays it less, for a bounded time.

use super::*;
use crate::cluster::WaitReason;

const PASS_MS: i64 = 3_000;

/// Two nodes of four cores. An executor that uses all of them for 12 s runs on the first; another
/// one that uses two of them for 30 s waits. With its margin it counts as large, so that its CPU is held
/// to the total over its life.
fn one_busy_and_one_idle_node() -> (Cluster, ApplicationId, NodeId, NodeId) {
    let settings = ClusterSettings {
        pass_ms: PASS_MS,
        ..settings()
    };
    let (mut cluster, busy) = cluster_of_one_with(settings, Peaks::Soft);
    let idle = cluster.node_added("node-2:1", request(8, 8));
    cluster.reported(idle, physical(), 0);
    let burst = [4.0, 4.0, 4.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let first = waiting(&mut cluster, "first", learned(&burst, 1.0), ask(1, 1));
    assert!(matches!(
        place(&mut cluster, "1", first, busy, 0),
        Commit::Placed(_)
    ));
    cluster.pending(
        first,
        Ask {
            count: 0,
            ..ask(1, 1)
        },
        0,
    );
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
fn it_passes_on_a_node_whose_start_up_it_would_meet_and_goes_to_the_idle_one() {
    let (mut cluster, second, busy, idle) = one_busy_and_one_idle_node();
    assert_eq!(names(&mut cluster, busy, 0), []);
    let held = cluster.wait_reason(second, 0);
    // Two cores for 12 s on a node that does four a second.
    let expected = WaitReason::Passed {
        node: busy,
        better: idle,
        gain_ms: 6_000,
    };
    assert_eq!(held, Some(expected));
    assert_eq!(names(&mut cluster, idle, 0), [second]);
}

#[test]
fn it_waits_no_longer_than_allowed_and_then_takes_what_comes() {
    let (mut cluster, second, busy, _) = one_busy_and_one_idle_node();
    assert_eq!(names(&mut cluster, busy, 0), []);
    assert_eq!(names(&mut cluster, busy, PASS_MS - 1), []);
    assert_eq!(names(&mut cluster, busy, PASS_MS), [second]);
    assert_eq!(names(&mut cluster, busy, PASS_MS + 1), [second]);
}

#[test]
fn a_gain_that_is_no_longer_than_the_wait_is_not_waited_for() {
    // 3 s after the start of the first executor 9 s of its burst are left, so 4.5 s are lost; 6 s
    // after it, 3 s.
    for (now_ms, passes) in [(3_000, true), (6_000, false)] {
        let (mut cluster, _, busy, _) = one_busy_and_one_idle_node();
        assert_eq!(names(&mut cluster, busy, now_ms).is_empty(), passes);
    }
}

#[test]
fn a_node_where_it_may_not_go_is_not_waited_for() {
    let (mut cluster, second, busy, idle) = one_busy_and_one_idle_node();
    cluster.node_resized(idle, request(0, 8));
    assert_eq!(names(&mut cluster, busy, 0), [second], "no room by request");

    let (mut cluster, second, busy, idle) = one_busy_and_one_idle_node();
    let entry = cluster.rooms.state.nodes.get_mut(idle).unwrap();
    entry.last_report_ms = Some(-10_001);
    assert_eq!(names(&mut cluster, busy, 0), [second], "silent agent");
}

#[test]
fn with_0_the_first_node_that_fits_is_taken() {
    let (mut cluster, second, busy, _) = one_busy_and_one_idle_node();
    cluster.settings.pass_ms = 0;
    assert_eq!(names(&mut cluster, busy, 0), [second]);
}

#[test]
fn behind_many_that_pass_the_next_best_is_named() {
    let (mut cluster, second, busy, _) = one_busy_and_one_idle_node();
    for _ in 0..3 * ROUND_LIMIT {
        waiting(&mut cluster, "like", large(), ask(1, 1));
    }
    let modest = waiting(&mut cluster, "modest", learned(&[0.1; 10], 0.1), ask(1, 1));
    assert_eq!(names(&mut cluster, busy, 0), [modest]);
    let named = names(&mut cluster, busy, PASS_MS);
    assert_eq!((named.len(), named[0]), (ROUND_LIMIT, second));
}

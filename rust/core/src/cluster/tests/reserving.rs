//! Backfill reservations for applications that go first and do not fit now.

use super::*;
use crate::cluster::WaitReason;
use crate::policy::{ElastanePolicy, Favor};

/// Number of slots in which one of the node's 4 cores is left; then all are.
const BUSY_SLOTS: usize = 10;

fn busy_node_with(favor: Favor, used_cores: &[f64]) -> (Cluster, NodeId) {
    let peaks = Peaks::Strict;
    let mut cluster = Cluster::new(settings(), Box::new(ElastanePolicy { peaks, favor }));
    let node = cluster.node_added("node-1:1", request(8, 8));
    cluster.reported(node, physical(), 0);
    let hog = waiting(&mut cluster, "hog", learned(used_cores, 1.0), ask(1, 1));
    let placed = place(&mut cluster, "hog", hog, node, 0);
    assert!(matches!(placed, Commit::Placed(_)));
    cluster.application_removed(hog);
    (cluster, node)
}

fn busy_node() -> (Cluster, NodeId) {
    busy_node_with(Favor::Balanced, &[3.0; BUSY_SLOTS])
}

fn one_executor() -> Ask {
    Ask { count: 1, ..ask(1, 1) }
}

/// Nine executors with a higher priority than [`many`].
fn urgent() -> Ask {
    Ask { priority: 1, ..ask(1, 1) }
}

/// One executor with this demand; it goes before [`many`].
fn first(cluster: &mut Cluster, cores: &[f64]) -> ApplicationId {
    waiting(cluster, "first", learned(cores, 1.0), one_executor())
}

/// Nine executors with this demand.
fn many(cluster: &mut Cluster, cores: &[f64]) -> ApplicationId {
    waiting(cluster, "many", learned(cores, 1.0), ask(1, 1))
}

fn order(cluster: &mut Cluster, node: NodeId, now_ms: i64) -> Vec<ApplicationId> {
    cluster.reported(node, physical(), now_ms);
    cluster.round(node, request(16, 16), now_ms).unwrap()
}

fn is_listed(cluster: &mut Cluster, node: NodeId, application: ApplicationId) -> bool {
    order(cluster, node, 0).contains(&application)
}

#[test]
fn an_application_that_would_delay_a_planned_start_waits_behind_its_owner() {
    let (mut cluster, node) = busy_node();
    let other = many(&mut cluster, &[1.0; BUSY_SLOTS + 1]);
    let endless = waiting(&mut cluster, "endless", Demands::default(), ask(1, 2));
    assert_eq!(order(&mut cluster, node, 0), [other, endless]);
    let behind = first(&mut cluster, &[4.0; 5]);
    assert_eq!(order(&mut cluster, node, 0), []);
    for held in [other, endless] {
        assert_eq!(cluster.wait_reason(held, 0), Some(WaitReason::Behind { node, behind }));
    }
    assert!(matches!(
        cluster.wait_reason(behind, 0),
        Some(WaitReason::NoFit { node: at, .. }) if at == node
    ));
}

#[test]
fn an_application_that_ends_before_the_planned_start_is_backfilled() {
    let (mut cluster, node) = busy_node();
    first(&mut cluster, &[4.0; 5]);
    let ends_in_time = many(&mut cluster, &[1.0; BUSY_SLOTS]);
    assert_eq!(order(&mut cluster, node, 0), [ends_in_time]);
    cluster.application_removed(ends_in_time);
    let ends_late = many(&mut cluster, &[1.0; BUSY_SLOTS + 1]);
    assert_eq!(order(&mut cluster, node, 0), []);
    assert!(cluster.wait_reason(ends_late, 0).is_some());
}

#[test]
fn an_application_within_the_spare_resources_is_backfilled() {
    for (first_cores, fits_beside) in [(3.0, true), (3.5, false)] {
        let (mut cluster, node) = busy_node();
        first(&mut cluster, &[first_cores; 5]);
        let other = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
        assert_eq!(is_listed(&mut cluster, node, other), fits_beside);
    }
}

#[test]
fn spare_resources_are_compared_slot_by_slot() {
    // The owner needs the whole node in its third slot, so it starts two slots before the node is idle.
    for idle_slot in BUSY_SLOTS - 1..=BUSY_SLOTS + 1 {
        let (mut cluster, node) = busy_node();
        first(&mut cluster, &[0.0, 0.0, 4.0, 1.0]);
        let mut cores = [1.0; BUSY_SLOTS + 5];
        cores[idle_slot] = 0.0;
        let other = many(&mut cluster, &cores);
        let idles_in_the_peak = idle_slot == BUSY_SLOTS;
        assert_eq!(is_listed(&mut cluster, node, other), idles_in_the_peak);
    }
}

#[test]
fn an_application_before_the_owner_is_not_blocked() {
    let (mut cluster, node) = busy_node();
    let demands_more = learned(&[4.0; 5], 1.0);
    let larger = waiting(&mut cluster, "larger", demands_more, ask(1, 1));
    let smaller = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
    assert_eq!(order(&mut cluster, node, 0), [smaller]);
    cluster.pending(larger, urgent(), 0);
    assert_eq!(order(&mut cluster, node, 0), [], "the priority makes the larger one the owner");
}

#[test]
fn a_higher_priority_is_not_blocked_by_a_lower_one() {
    let (mut cluster, node) = busy_node();
    first(&mut cluster, &[4.0; 5]);
    let other = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
    assert!(!is_listed(&mut cluster, node, other));
    cluster.pending(other, urgent(), 0);
    assert!(is_listed(&mut cluster, node, other));
}

#[test]
fn another_queue_is_not_blocked() {
    let (mut cluster, node) = busy_node();
    let behind = first(&mut cluster, &[4.0; 5]);
    let other = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
    cluster.application_moved(other, "root.other");
    assert!(is_listed(&mut cluster, node, other));
    cluster.application_moved(behind, "root.other");
    assert!(!is_listed(&mut cluster, node, other));
}

#[test]
fn a_starving_application_with_room_by_request_is_not_blocked() {
    // By request 7 GB of 8 are left.
    for (memory_gb, is_placed) in [(7, true), (8, false)] {
        let (mut cluster, node) = busy_node_with(Favor::Balanced, &[3.0; 30]);
        let demands = learned(&[1.0; 40], 1.0);
        let other = waiting(&mut cluster, "other", demands, ask(memory_gb, 1));
        let came_ms = 59_000;
        let application =
            Application::new("first", "first", "root.default", learned(&[4.0; 5], 1.0), came_ms);
        let behind = cluster.application_added(application);
        cluster.pending(behind, one_executor(), came_ms);
        assert_eq!(order(&mut cluster, node, 59_999), []);
        let named = order(&mut cluster, node, 60_000);
        assert_eq!(named == [other], is_placed, "{memory_gb} GB");
    }
}

#[test]
fn an_application_listed_first_for_ten_seconds_in_vain_gets_no_reservation() {
    let (mut cluster, node) = busy_node();
    let idle = cluster.node_added("node-2:1", request(8, 8));
    let behind = waiting(&mut cluster, "first", learned(&[4.0; 5], 0.5), ask(1, 1));
    cluster.pending(behind, urgent(), 0);
    let other = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
    assert!(order(&mut cluster, idle, 0).contains(&behind));
    assert_eq!(order(&mut cluster, node, 9_999), []);
    assert_eq!(order(&mut cluster, node, 10_000), [other]);

    let placed = place(&mut cluster, "placed", behind, idle, 10_000);
    assert!(matches!(placed, Commit::Placed(_)));
    assert_eq!(order(&mut cluster, node, 10_000), [], "the owner was placed");
}

#[test]
fn a_changed_request_restarts_the_time_listed_first() {
    let (mut cluster, node) = busy_node();
    let idle = cluster.node_added("node-2:1", request(8, 8));
    let behind = first(&mut cluster, &[4.0; 5]);
    let other = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
    order(&mut cluster, idle, 0);
    let more = |memory_gb| Ask { count: 2, ..ask(memory_gb, 1) };
    cluster.pending(behind, more(1), 5_000);
    assert_eq!(order(&mut cluster, node, 10_000), [other], "a changed count does not");
    cluster.pending(behind, more(2), 10_000);
    assert_eq!(order(&mut cluster, node, 10_000), []);
}

#[test]
fn only_the_favor_for_the_makespan_makes_no_reservations() {
    for favor in Favor::ALL {
        let (mut cluster, node) = busy_node_with(favor, &[3.0; BUSY_SLOTS]);
        first(&mut cluster, &[4.0; 5]);
        let other = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
        let reserves = favor != Favor::Makespan;
        assert_eq!(is_listed(&mut cluster, node, other), !reserves, "{favor:?}");
    }
}

#[test]
fn the_first_three_applications_of_a_queue_get_reservations() {
    for (before_owner, reserves) in [(2, true), (3, false)] {
        let (mut cluster, node) = busy_node();
        for _ in 0..before_owner {
            first(&mut cluster, &[2.0; 5]);
        }
        first(&mut cluster, &[4.0; 5]);
        let other = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
        assert_eq!(is_listed(&mut cluster, node, other), !reserves, "{before_owner}");
    }
}

#[test]
fn an_application_without_an_end_gets_no_reservation() {
    let (mut cluster, node) = busy_node();
    let all_cores = Ask { request: request(1, 8), ..one_executor() };
    let endless = waiting(&mut cluster, "endless", Demands::default(), all_cores);
    let other = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
    assert_eq!(order(&mut cluster, node, 0), [other]);
    assert!(cluster.wait_reason(endless, 0).is_some(), "it does not fit");
}

#[test]
fn an_application_that_does_not_start_within_an_hour_gets_no_reservation() {
    for (busy_slots, reserves) in [(1_200, true), (1_201, false)] {
        let used_cores = vec![3.0; busy_slots];
        let (mut cluster, node) = busy_node_with(Favor::Balanced, &used_cores);
        first(&mut cluster, &[4.0; 5]);
        let other = many(&mut cluster, &vec![1.0; busy_slots + 1]);
        assert_eq!(is_listed(&mut cluster, node, other), !reserves, "{busy_slots}");
    }
}

#[test]
fn an_application_large_in_cpu_is_blocked_too() {
    let policy = ElastanePolicy { peaks: Peaks::Soft, favor: Favor::Balanced };
    let mut cluster = Cluster::new(settings(), Box::new(policy));
    let node = cluster.node_added("node-1:1", request(8, 8));
    cluster.reported(node, physical(), 0);
    let hog = waiting(&mut cluster, "hog", learned(&[3.0; 4], 1.0), ask(1, 1));
    place(&mut cluster, "hog", hog, node, 0);
    cluster.application_removed(hog);
    first(&mut cluster, &[2.0; 40]);
    let other = many(&mut cluster, &[3.5; 30]);
    assert!(!is_listed(&mut cluster, node, other));
}

#[test]
fn an_application_listed_behind_others_was_not_listed_in_vain() {
    let (mut cluster, node) = busy_node();
    let idle = cluster.node_added("node-2:1", request(8, 8));
    let small = first(&mut cluster, &[0.5; 30]);
    let behind = first(&mut cluster, &[4.0; 5]);
    let other = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
    assert_eq!(order(&mut cluster, idle, 0), [small, behind, other]);
    place(&mut cluster, "small", small, idle, 0);
    cluster.application_removed(small);
    assert!(!order(&mut cluster, idle, 0).contains(&behind), "the owner fits no longer");
    assert!(!order(&mut cluster, node, 10_000).contains(&other));
}

#[test]
fn at_most_sixty_four_applications_of_a_queue_are_checked() {
    for (blocked, is_named) in [(63, true), (64, false)] {
        let (mut cluster, node) = busy_node();
        first(&mut cluster, &[4.0; 5]);
        for _ in 0..blocked {
            many(&mut cluster, &[0.5; 2 * BUSY_SLOTS]);
        }
        let ends_before = many(&mut cluster, &[1.0; BUSY_SLOTS]);
        assert_eq!(is_listed(&mut cluster, node, ends_before), is_named, "{blocked}");
    }
}

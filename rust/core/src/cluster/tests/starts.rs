//! Planned starts of applications that go first and do not fit now.

use super::*;
use crate::cluster::{PlannedStart, StartSearch, WaitReason, plan_starts};
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

/// The start of this slot.
fn slots_ms(slots: usize) -> i64 {
    slots as i64 * i64::from(crate::SLOT_MS)
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
    plan_starts(cluster, now_ms);
    cluster.round(node, request(16, 16), now_ms).unwrap()
}

fn is_listed(cluster: &mut Cluster, node: NodeId, application: ApplicationId) -> bool {
    order(cluster, node, 0).contains(&application)
}

#[test]
fn an_application_that_would_delay_a_planned_start_waits_behind_its_owner() {
    let (mut cluster, node) = busy_node();
    let other = many(&mut cluster, &[1.0; BUSY_SLOTS + 1]);
    assert_eq!(order(&mut cluster, node, 0), [other]);
    let endless = waiting(&mut cluster, "endless", Demands::default(), ask(1, 2));
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

/// An idle node, and an application of which one container starts there now and one in 15 s.
fn two_on_an_idle_node() -> (Cluster, NodeId, ApplicationId, Ask) {
    let (mut cluster, node) = busy_node_with(Favor::Balanced, &[0.0]);
    let two = Ask { count: 2, priority: 1, ..ask(1, 1) };
    let owner = waiting(&mut cluster, "first", learned(&[4.0; 5], 1.0), two);
    (cluster, node, owner, two)
}

#[test]
fn an_application_named_first_for_ten_seconds_in_vain_claims_nothing() {
    let (mut cluster, node, owner, two) = two_on_an_idle_node();
    let other = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
    assert_eq!(order(&mut cluster, node, 0), [owner]);
    assert_eq!(order(&mut cluster, node, 9_999), [owner]);
    cluster.pending(owner, two, 10_000);
    assert_eq!(order(&mut cluster, node, 10_000), [owner, other]);

    let placed = place(&mut cluster, "placed", owner, node, 10_000);
    assert!(matches!(placed, Commit::Placed(_)));
    cluster.pending(owner, Ask { count: 1, ..two }, 10_000);
    assert_eq!(order(&mut cluster, node, 10_000), [], "it was placed, and claims for the next one");
}

#[test]
fn a_changed_request_restarts_the_time_named_first() {
    let (mut cluster, node, owner, two) = two_on_an_idle_node();
    let other = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
    order(&mut cluster, node, 0);
    cluster.pending(owner, Ask { count: 3, ..two }, 10_000);
    assert_eq!(order(&mut cluster, node, 10_000), [owner, other], "a changed count does not");
    cluster.pending(owner, Ask { request: request(2, 1), ..two }, 10_000);
    assert_eq!(order(&mut cluster, node, 10_000), [owner]);
}

#[test]
fn only_the_favor_for_the_makespan_plans_no_starts() {
    for favor in Favor::ALL {
        let (mut cluster, node) = busy_node_with(favor, &[3.0; BUSY_SLOTS]);
        first(&mut cluster, &[4.0; 5]);
        let other = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
        let plans = favor != Favor::Makespan;
        assert_eq!(is_listed(&mut cluster, node, other), !plans, "{favor:?}");
    }
}

#[test]
fn the_first_eight_applications_of_a_queue_claim() {
    for (before_owner, claims) in [(7, true), (8, false)] {
        let (mut cluster, node) = busy_node();
        for _ in 0..before_owner {
            waiting(&mut cluster, "small", learned(&[0.01; 5], 0.1), one_executor());
        }
        let owner = first(&mut cluster, &[4.0; 5]);
        let other = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
        assert_eq!(is_listed(&mut cluster, node, other), !claims, "{before_owner}");
        let start = PlannedStart::of(&cluster, owner).unwrap();
        assert_eq!(start.first_ms, slots_ms(BUSY_SLOTS), "the others are planned, too");
    }
}

#[test]
fn an_application_without_an_end_is_not_planned() {
    let (mut cluster, node) = busy_node();
    let all_cores = Ask { request: request(1, 8), ..one_executor() };
    let endless = waiting(&mut cluster, "endless", Demands::default(), all_cores);
    let other = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
    assert_eq!(order(&mut cluster, node, 0), [other]);
    assert!(cluster.wait_reason(endless, 0).is_some(), "it does not fit");
}

#[test]
fn an_application_that_does_not_start_within_an_hour_is_not_planned() {
    for (busy_slots, claims) in [(1_200, true), (1_201, false)] {
        let used_cores = vec![3.0; busy_slots];
        let (mut cluster, node) = busy_node_with(Favor::Balanced, &used_cores);
        first(&mut cluster, &[4.0; 5]);
        let other = many(&mut cluster, &vec![1.0; busy_slots + 1]);
        assert_eq!(is_listed(&mut cluster, node, other), !claims, "{busy_slots}");
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

/// Another node, on which one of 4 cores is left for this many slots.
fn another_busy_node(cluster: &mut Cluster, name: &str, busy_slots: usize) -> NodeId {
    let node = cluster.node_added(name, request(8, 8));
    cluster.reported(node, physical(), 0);
    let hog = waiting(cluster, name, learned(&vec![3.0; busy_slots], 1.0), ask(1, 1));
    assert!(matches!(place(cluster, name, hog, node, 0), Commit::Placed(_)));
    cluster.application_removed(hog);
    node
}

#[test]
fn a_container_claims_the_node_on_which_it_starts_first() {
    let (mut cluster, node) = busy_node();
    let sooner = another_busy_node(&mut cluster, "node-2:1", 4);
    let owner = first(&mut cluster, &[4.0; 5]);
    let other = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
    assert_eq!(order(&mut cluster, node, 0), [other], "it would delay nobody");
    assert_eq!(order(&mut cluster, sooner, 0), []);
    let at_ms = slots_ms(4);
    let planned = PlannedStart { node: sooner, first_ms: at_ms, last_ms: at_ms, containers: 1 };
    assert_eq!(PlannedStart::of(&cluster, owner), Some(planned));
}

#[test]
fn every_container_is_planned_beside_those_before_it() {
    let (mut cluster, node) = busy_node();
    let sooner = another_busy_node(&mut cluster, "node-2:1", 4);
    let three = Ask { count: 3, ..ask(1, 1) };
    let owner = waiting(&mut cluster, "first", learned(&[4.0; 5], 1.0), three);
    let second = waiting(&mut cluster, "second", learned(&[4.0; 6], 1.0), three);
    plan_starts(&mut cluster, 0);
    // On node 2 from the slots 4 and 9 on, on node 1 from 10; then on node 2 from 14, on node 1 from 15, and again.
    let starts = |first_slot, last_slot, node| PlannedStart {
        node,
        first_ms: slots_ms(first_slot),
        last_ms: slots_ms(last_slot),
        containers: 3,
    };
    assert_eq!(PlannedStart::of(&cluster, owner), Some(starts(4, 10, sooner)));
    assert_eq!(PlannedStart::of(&cluster, second), Some(starts(14, 20, sooner)));
    let other = many(&mut cluster, &[1.0; BUSY_SLOTS]);
    assert_eq!(order(&mut cluster, node, 0), [other], "it ends before the start on this node");
}

#[test]
fn what_starts_now_claims_nothing() {
    let (mut cluster, node) = busy_node();
    let owner = first(&mut cluster, &[1.0; 5]);
    let other = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
    assert_eq!(order(&mut cluster, node, 1_000), [owner, other]);
    assert_eq!(PlannedStart::of(&cluster, owner).unwrap().first_ms, 1_000);
}

#[test]
fn who_waits_no_more_claims_nothing() {
    let (mut cluster, node) = busy_node();
    let owner = first(&mut cluster, &[4.0; 5]);
    let other = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
    assert_eq!(order(&mut cluster, node, 0), []);
    cluster.application_removed(owner);
    assert_eq!(PlannedStart::of(&cluster, owner), None);
    let named = cluster.round(node, request(16, 16), 0).unwrap();
    assert_eq!(named, [other], "also before the next plan");
}

#[test]
fn a_container_that_was_skipped_on_a_node_is_planned_on_another_one() {
    let (mut cluster, node) = busy_node();
    let later = another_busy_node(&mut cluster, "node-2:1", BUSY_SLOTS + 5);
    let owner = first(&mut cluster, &[4.0; 5]);
    let planned_on = |cluster: &mut Cluster, now_ms| {
        plan_starts(cluster, now_ms);
        PlannedStart::of(cluster, owner).unwrap().node
    };
    assert_eq!(planned_on(&mut cluster, 0), node);
    cluster.skipped(node, &[owner], 3_000);
    assert_eq!(planned_on(&mut cluster, 3_000), later);
}

#[test]
fn an_application_at_the_maximum_of_its_queue_is_not_planned() {
    let (mut cluster, _) = busy_node();
    let owner = first(&mut cluster, &[4.0; 5]);
    cluster.raise_to_ceiling(0);
    cluster.configure_queues(vec![share("root", 1.0, 1.0), share("root.default", 0.1, 0.1)]);
    plan_starts(&mut cluster, 0);
    assert_eq!(PlannedStart::of(&cluster, owner), None);
}

#[test]
fn a_plan_is_made_anew_only_after_a_change_or_in_another_slot() {
    let (mut cluster, _) = busy_node();
    assert!(StartSearch::of(&mut cluster, 0).is_none(), "nothing waits");
    first(&mut cluster, &[4.0; 5]);
    assert!(StartSearch::of(&mut cluster, 0).is_some());
    assert!(StartSearch::of(&mut cluster, 2_999).is_none());
    assert!(StartSearch::of(&mut cluster, 3_000).is_some());
    cluster.finished("hog");
    assert!(StartSearch::of(&mut cluster, 3_000).is_some());
}

#[test]
fn of_many_nodes_those_with_claims_stay_compared() {
    let (mut cluster, node) = busy_node();
    let owner = first(&mut cluster, &[4.0; 5]);
    plan_starts(&mut cluster, 0);
    for number in 0..200 {
        another_busy_node(&mut cluster, &format!("node-{number}:2"), 2 * BUSY_SLOTS);
    }
    for now_ms in [3_000, 6_000, 9_000] {
        plan_starts(&mut cluster, now_ms);
        assert_eq!(PlannedStart::of(&cluster, owner).unwrap().node, node);
    }
}

#[test]
fn of_many_nodes_the_others_are_compared_in_turn() {
    let (mut cluster, node) = busy_node();
    for number in 0..100 {
        another_busy_node(&mut cluster, &format!("node-{number}:2"), 2 * BUSY_SLOTS);
    }
    let sooner = another_busy_node(&mut cluster, "sooner:1", BUSY_SLOTS - 4);
    let owner = first(&mut cluster, &[4.0; 5]);
    let planned_on = [0, 3_000].map(|now_ms| {
        plan_starts(&mut cluster, now_ms);
        PlannedStart::of(&cluster, owner).unwrap().node
    });
    assert_eq!(planned_on[1], sooner);
    assert_ne!(planned_on[0], sooner, "{node:?} or another one");
}

#[test]
fn no_start_is_said_where_capacity_scheduler_has_no_free_space_for_it() {
    let (mut cluster, _) = busy_node();
    let large = Ask { request: request(8, 1), ..one_executor() };
    let owner = waiting(&mut cluster, "large", learned(&[1.0; 5], 1.0), large);
    plan_starts(&mut cluster, 0);
    assert_eq!(PlannedStart::of(&cluster, owner), None, "of 8 GB 1 is booked");
    cluster.raise_to_ceiling(0);
    plan_starts(&mut cluster, 3_000);
    assert!(PlannedStart::of(&cluster, owner).is_some());
}

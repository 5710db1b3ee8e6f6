//! Who may go to a node with planned starts of others.

mod labels;
mod planned;

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
fn what_a_claim_leaves_spare_follows_starts_and_ends_before_the_next_plan() {
    let (mut cluster, node) = busy_node();
    let owner = first(&mut cluster, &[3.2; 5]);
    let smaller = Ask { count: 1, ..urgent() };
    let smaller = waiting(&mut cluster, "smaller", learned(&[1.5; 5], 1.0), smaller);
    let other = many(&mut cluster, &[0.5; 2 * BUSY_SLOTS]);
    assert_eq!(order(&mut cluster, node, 0), [other]);
    let listed =
        |cluster: &mut Cluster| cluster.round(node, request(16, 16), 0).unwrap() == [other];
    place(&mut cluster, "one", other, node, 0);
    assert!(!listed(&mut cluster), "0.3 cores are spare");
    cluster.finished("one");
    assert!(listed(&mut cluster), "0.8 cores are spare");
    place(&mut cluster, "one", other, node, 0);
    assert!(!listed(&mut cluster));
    cluster.application_removed(smaller);
    assert!(!listed(&mut cluster), "the other claim still leaves 0.3 cores spare");
    cluster.application_removed(owner);
    assert!(listed(&mut cluster), "nobody claims anything");
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

/// An idle node, and an application of which one container starts there now and one in 15 s.
fn two_on_an_idle_node() -> (Cluster, NodeId, ApplicationId, Ask) {
    let (mut cluster, node) = busy_node_with(Favor::Balanced, &[0.0]);
    let two = Ask { count: 2, priority: 1, ..ask(1, 1) };
    let owner = waiting(&mut cluster, "first", learned(&[4.0; 5], 1.0), two);
    (cluster, node, owner, two)
}

#[test]
fn an_application_that_is_skipped_for_ten_seconds_claims_nothing() {
    let (mut cluster, node, owner, two) = two_on_an_idle_node();
    let other = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
    assert_eq!(order(&mut cluster, node, 0), [owner]);
    cluster.skipped(node, &[owner], 0);
    // After a rest of a second it is named again.
    assert_eq!(order(&mut cluster, node, 9_999), [owner]);
    cluster.pending(owner, two, 10_000);
    assert_eq!(order(&mut cluster, node, 10_000), [owner, other]);

    let placed = place(&mut cluster, "placed", owner, node, 10_000);
    assert!(matches!(placed, Commit::Placed(_)));
    cluster.pending(owner, Ask { count: 1, ..two }, 10_000);
    plan_starts(&mut cluster, 10_000);
    assert!(PlannedStart::of(&cluster, owner).is_some(), "it was placed");
}

#[test]
fn an_application_that_is_named_and_not_asked_in_its_turn_claims_on() {
    let (mut cluster, node, owner, two) = two_on_an_idle_node();
    many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
    assert_eq!(order(&mut cluster, node, 0), [owner]);
    cluster.pending(owner, two, 10_000);
    assert_eq!(order(&mut cluster, node, 10_000), [owner], "another queue was served first");
}

#[test]
fn a_changed_request_restarts_the_time_skipped() {
    let (mut cluster, node, owner, two) = two_on_an_idle_node();
    let other = many(&mut cluster, &[1.0; 2 * BUSY_SLOTS]);
    cluster.skipped(node, &[owner], 0);
    cluster.pending(owner, Ask { count: 3, ..two }, 10_000);
    assert_eq!(order(&mut cluster, node, 10_000), [owner, other], "a changed count does not");
    cluster.pending(owner, Ask { request: request(2, 1), ..two }, 10_000);
    assert_eq!(order(&mut cluster, node, 10_000), [owner]);
}

#[test]
fn who_fits_and_has_waited_as_long_as_a_starving_one_waits_for_no_planned_start() {
    // By request nothing is left of the registered 8 GB; the node is raised.
    let (mut cluster, node) = busy_node_with(Favor::Balanced, &[3.0; 30]);
    cluster.raise_to_ceiling(0);
    let other = waiting(&mut cluster, "other", learned(&[1.0; 40], 1.0), ask(8, 1));
    let came_ms = 59_000;
    let demands = learned(&[4.0; 5], 1.0);
    let application = Application::new("first", "first", "root.default", demands, came_ms);
    let first = cluster.application_added(application);
    cluster.pending(first, one_executor(), came_ms);
    assert_eq!(order(&mut cluster, node, 59_999), []);
    assert_eq!(order(&mut cluster, node, 60_000), [other]);
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

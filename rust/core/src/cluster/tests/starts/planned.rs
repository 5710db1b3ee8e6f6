//! Where and when containers start by plan.

use super::*;
use crate::cluster::{KeptNode, drain};

/// Another node with 4 cores. `used_cores` has the number of them that are in use, for each slot from now.
fn another_node_with(cluster: &mut Cluster, name: &str, used_cores: &[f64]) -> NodeId {
    let node = cluster.node_added(name, request(8, 8));
    cluster.reported(node, physical(), 0);
    let hog = waiting(cluster, name, learned(used_cores, 1.0), ask(1, 1));
    assert!(matches!(place(cluster, name, hog, node, 0), Commit::Placed(_)));
    cluster.application_removed(hog);
    node
}

/// Another node, on which one of 4 cores is left for this many slots.
fn another_busy_node(cluster: &mut Cluster, name: &str, busy_slots: usize) -> NodeId {
    another_node_with(cluster, name, &vec![3.0; busy_slots])
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
fn nothing_is_planned_on_a_node_that_is_taken_out() {
    let (mut cluster, node) = busy_node();
    let sooner = another_busy_node(&mut cluster, "node-2:1", 4);
    let owner = first(&mut cluster, &[4.0; 5]);
    drain(&mut cluster, &[sooner]);
    plan_starts(&mut cluster, 0);
    let planned = PlannedStart::of(&cluster, owner).unwrap();
    assert_eq!((planned.node, planned.first_ms), (node, slots_ms(BUSY_SLOTS)));
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
fn a_queue_that_yields_for_now_has_planned_starts() {
    let (mut cluster, node) = busy_node();
    cluster.configure_queues(vec![share("root.default", 0.5, 1.0), share("root.other", 0.5, 1.0)]);
    cluster.raise_to_ceiling(0);
    let large = waiting(&mut cluster, "large", learned(&[0.1; 400], 1.0), ask(8, 1));
    assert!(matches!(place(&mut cluster, "large", large, node, 0), Commit::Placed(_)));
    cluster.application_removed(large);
    let yields = first(&mut cluster, &[4.0; 5]);
    let other = waiting(&mut cluster, "other", Demands::default(), ask(7, 1));
    cluster.application_moved(other, "root.other");
    cluster.bookable_changes(usize::MAX, 0);
    assert_eq!(order(&mut cluster, node, 0), []);
    let small = first(&mut cluster, &[0.1]);
    assert_eq!(order(&mut cluster, node, 0), []);
    assert_eq!(cluster.wait_reason(small, 0), Some(WaitReason::Yields { node }));
    let planned = PlannedStart::of(&cluster, yields).unwrap();
    assert!(planned.first_ms >= slots_ms(BUSY_SLOTS), "{planned:?}");
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
    cluster.configure_queues(Vec::new());
    plan_starts(&mut cluster, slots_ms(1));
    assert!(PlannedStart::of(&cluster, owner).is_some(), "without a maximum it is");
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

#[test]
fn some_containers_start_where_others_have_no_free_space() {
    let (mut cluster, _) = busy_node();
    let tiny = || learned(&[0.1; 5], 0.1);
    let owner = waiting(&mut cluster, "three", tiny(), Ask { count: 3, ..ask(3, 1) });
    let small = waiting(&mut cluster, "small", tiny(), Ask { count: 4, ..ask(1, 1) });
    plan_starts(&mut cluster, 0);
    assert_eq!(PlannedStart::of(&cluster, owner).unwrap().containers, 2, "7 GB are free");
    assert_eq!(PlannedStart::of(&cluster, small).unwrap().containers, 1);
}

#[test]
fn a_claim_counts_from_its_slot_on_whenever_the_plan_was_made() {
    for (slots, is_named) in [(6, true), (7, false)] {
        let (mut cluster, node) = busy_node();
        first(&mut cluster, &[4.0; 5]);
        let other = many(&mut cluster, &vec![1.0; slots]);
        plan_starts(&mut cluster, 0);
        let now_ms = slots_ms(4);
        cluster.reported(node, physical(), now_ms);
        let named = cluster.round(node, request(16, 16), now_ms).unwrap();
        assert_eq!(
            named == [other],
            is_named,
            "{slots} slots from slot 4 on, the claim in slot 10"
        );
    }
}

#[test]
fn a_claim_whose_start_has_passed_holds_until_the_next_plan() {
    let (mut cluster, node) = busy_node();
    let behind = first(&mut cluster, &[4.0; 5]);
    let other = many(&mut cluster, &[1.0; 2]);
    plan_starts(&mut cluster, 0);
    // The executor is late: it still takes 3 of 4 cores.
    let now_ms = slots_ms(BUSY_SLOTS + 1);
    cluster.reported(node, physical(), now_ms);
    assert_eq!(cluster.round(node, request(16, 16), now_ms).unwrap(), []);
    assert_eq!(cluster.wait_reason(other, now_ms), Some(WaitReason::Behind { node, behind }));
}

#[test]
fn who_is_late_is_expected_to_go_on_for_a_quarter_of_that_time() {
    // In slot 10 the first node's executor is late by 8 slots.
    let now_ms = slots_ms(10);
    for (free_on_the_other, is_planned_there) in [(12, true), (15, false)] {
        let (mut cluster, late) = busy_node_with(Favor::Balanced, &[3.0; 2]);
        let on_time = another_busy_node(&mut cluster, "node-2:1", free_on_the_other);
        for node in [late, on_time] {
            cluster.reported(node, physical(), now_ms);
        }
        let owner = first(&mut cluster, &[4.0; 5]);
        plan_starts(&mut cluster, now_ms);
        let start = PlannedStart::of(&cluster, owner).unwrap();
        let expected = match is_planned_there {
            true => (on_time, slots_ms(12)),
            false => (late, slots_ms(10 + 1 + 2)),
        };
        assert_eq!((start.node, start.first_ms), expected);
    }
}

#[test]
fn what_lives_beyond_the_planned_hour_is_in_the_way_there_too() {
    let (mut cluster, _) = busy_node();
    let many_long = Ask { count: 64, ..ask(0, 0) };
    let owner = waiting(&mut cluster, "long", learned(&[1.5; 1_300], 0.01), many_long);
    plan_starts(&mut cluster, 0);
    assert_eq!(PlannedStart::of(&cluster, owner).unwrap().containers, 2, "of 4 cores");
}

#[test]
fn nobody_is_planned_on_a_node_that_is_kept_for_another_one() {
    let policy = ElastanePolicy { peaks: Peaks::Strict, favor: Favor::Balanced };
    let mut cluster = Cluster::new(settings(), Box::new(policy));
    let kept = cluster.node_added("kept:1", request(8, 8));
    cluster.reported(kept, physical(), 0);
    let runs = waiting(&mut cluster, "runs", learned(&[0.1; 100], 3.0), ask(3, 1));
    place(&mut cluster, "1", runs, kept, 0);
    cluster.application_removed(runs);
    let one_large = Ask { count: 1, ..ask(7, 1) };
    let large = waiting(&mut cluster, "large", learned(&[0.1; 10], 7.0), one_large);
    let now_ms = 70_000;
    cluster.reported(kept, physical(), now_ms);
    cluster.round(kept, request(16, 16), now_ms);
    assert_eq!(KeptNode::of(&cluster).unwrap().application, large);
    let other = cluster.node_added("other:1", request(8, 8));
    cluster.reported(other, physical(), now_ms);
    let small = waiting(&mut cluster, "small", learned(&[0.1; 200], 1.0), one_executor());
    plan_starts(&mut cluster, now_ms);
    assert_eq!(PlannedStart::of(&cluster, small).unwrap().node, other);
}

#[test]
fn who_finds_no_start_leaves_the_search_to_the_others() {
    let (mut cluster, _) = busy_node_with(Favor::Balanced, &[4.0; 1_300]);
    for number in 0..63 {
        another_node_with(&mut cluster, &format!("node-{number}:2"), &[4.0; 1_300]);
    }
    for _ in 0..5 {
        first(&mut cluster, &[0.1; 5]);
    }
    let last = Ask { priority: -1, ..ask(1, 1) };
    let idle = waiting(&mut cluster, "needs no CPU", learned(&[0.0; 5], 1.0), last);
    plan_starts(&mut cluster, 0);
    assert!(PlannedStart::of(&cluster, idle).is_some());
}

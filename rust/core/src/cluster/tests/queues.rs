//! What the queues are guaranteed, and what they may take at most.

use super::*;
use crate::resources::Resource;

/// One node of 8 GB, and two queues with half of it each; `root.a` gets at most `maximum_of_a`.
fn two_queues(maximum_of_a: f64) -> (Cluster, NodeId) {
    let (mut cluster, node) = cluster_of_one(settings());
    cluster.configure_queues(vec![
        share("root", 1.0, 1.0),
        share("root.a", 0.5, maximum_of_a),
        share("root.b", 0.5, 1.0),
    ]);
    (cluster, node)
}

fn follow(cluster: &mut Cluster, node: NodeId, from_ms: i64, to_ms: i64) -> u32 {
    for now_ms in (from_ms..=to_ms).step_by(1_000) {
        cluster.reported(node, physical(), now_ms);
        cluster.bookable_changes(usize::MAX, now_ms);
    }
    cluster.node(node).unwrap().bookable.memory_thousandths
}

fn memory(taken: u64, added: u64, at_most: u64) -> Filled {
    Filled { resource: Resource::Memory, taken, added, at_most }
}

/// Needs a third of the 3 GB that it requests.
fn third() -> Demands {
    learned(&[0.2], 1.0)
}

#[test]
fn the_guarantee_of_an_idle_queue_without_a_history_stays_deliverable() {
    let (mut cluster, node) = two_queues(1.0);
    waiting_in(&mut cluster, "root.a", third(), 3);
    let raised = f64::from(follow(&mut cluster, node, 0, 12_000)) / 1e3;
    assert!((raised - 1.0 / (0.5 / 3.0 + 0.5)).abs() < 2e-3, "{raised}");
}

#[test]
fn an_unknown_application_takes_back_what_it_would_fill() {
    let (mut cluster, node) = two_queues(1.0);
    waiting_in(&mut cluster, "root.a", third(), 3);
    waiting_in(&mut cluster, "root.b", third(), 3);
    assert_eq!(follow(&mut cluster, node, 0, 12_000), 2_000);
    waiting_in(&mut cluster, "root.b", Demands::default(), 8);
    assert!(follow(&mut cluster, node, 13_000, 13_000) < 1_900);
}

#[test]
fn a_queue_above_its_guarantee_raises_no_node_while_another_waits_for_its_own() {
    let (mut cluster, node) = two_queues(1.0);
    let large = waiting_in(&mut cluster, "root.a", Demands::default(), 5);
    place(&mut cluster, "1", large, node, 0);
    cluster.application_removed(large);
    waiting_in(&mut cluster, "root.a", learned(&[0.01], 0.01), 1);
    let owed = waiting_in(&mut cluster, "root.b", learned(&[0.2], 3.5), 4);
    follow(&mut cluster, node, 0, 1_000);
    let raised = follow(&mut cluster, node, 2_000, 12_000);
    assert_eq!(raised, 1_000, "3 GB are free, and 3.5 GB are waited for");
    cluster.finished("1");
    assert!(follow(&mut cluster, node, 13_000, 24_000) > 1_000, "the queue has its guarantee");
    cluster.application_removed(owed);
}

#[test]
fn no_node_is_raised_for_what_a_queue_holds_back_while_it_waits_for_its_guarantee() {
    let (mut cluster, node) = two_queues(1.0);
    let large = waiting_in(&mut cluster, "root.a", Demands::default(), 5);
    place(&mut cluster, "1", large, node, 0);
    cluster.application_removed(large);
    let small = waiting_in(&mut cluster, "root.b", learned(&[0.01], 0.01), 3);
    place(&mut cluster, "2", small, node, 0);
    cluster.application_removed(small);
    let held = waiting_in(&mut cluster, "root.b", learned(&[0.01], 0.01), 1);
    cluster.set_standing(held, &[], Standing::Held);
    cluster.pending(held, ask(1, 1), 0);
    let raised = follow(&mut cluster, node, 0, 12_000);
    assert!(raised > 1_000, "nobody else waits: {raised}");
    let owed = waiting_in(&mut cluster, "root.b", learned(&[0.2], 3.5), 4);
    assert_eq!(follow(&mut cluster, node, 13_000, 24_000), 1_000);
    cluster.application_removed(owed);
    assert!(follow(&mut cluster, node, 25_000, 40_000) > 1_000);
}

#[test]
fn the_cluster_is_raised_freely_while_no_queue_is_configured() {
    let (mut cluster, node) = cluster_of_one(settings());
    waiting_in(&mut cluster, "root.a", third(), 3);
    assert_eq!(follow(&mut cluster, node, 0, 12_000), 2_000);
}

#[test]
fn a_queue_takes_at_most_its_maximum_by_demand() {
    let (mut cluster, node) = two_queues(0.5);
    let app = waiting_in(&mut cluster, "root.a", third(), 3);
    follow(&mut cluster, node, 0, 12_000);
    for container in ["1", "2", "3", "4"] {
        let placed = place(&mut cluster, container, app, node, 12_000);
        assert!(matches!(placed, Commit::Placed(_)), "4 GB by demand are half: {placed:?}");
    }
    assert_eq!(cluster.round(node, request(16, 16), 12_000), Some(vec![]));
    let reason = cluster.wait_reason(app, 12_000);
    assert_eq!(reason, Some(WaitReason::AtMaximum { node }));
    let demanded = memory(4 * GB, GB, 4 * GB);
    let limit_use = LimitUse::QueueMaximum { queue: "root.a".into(), demanded };
    assert_eq!(LimitUse::of(&cluster, app, 12_000), Some(limit_use));
    let refused = place(&mut cluster, "5", app, node, 12_000);
    assert_eq!(refused, Commit::Refused(Refusal::QueueAtMaximum("root.a".into())));
    assert_eq!(cluster.headroom(app, 12_000).unwrap().memory_bytes, 0);
    cluster.finished("1");
    assert_eq!(LimitUse::of(&cluster, app, 12_000), None, "3 of 4 GB are in use");
    assert_eq!(cluster.round(node, request(16, 16), 12_000), Some(vec![app]));
    assert_eq!(cluster.headroom(app, 12_000).unwrap().memory_bytes, 3 * GB);
}

#[test]
fn a_maximum_that_is_the_whole_cluster_is_not_exceeded_by_what_fits() {
    let (mut cluster, node) = two_queues(1.0);
    // 5 GB for 10 s, and then 1 GB.
    let slots: Vec<_> = (0..200)
        .map(|slot| if slot < 4 { 5.0 } else { 1.0 } * 1e9)
        .map(|memory| Resources::from_array([0.1, memory, 0.0, 0.0]))
        .collect();
    let demands = executors(Demand::series(crate::SLOT_MS, &slots).unwrap(), 0.0);
    let app = waiting_in(&mut cluster, "root.a", demands, 6);
    cluster.raise_to_ceiling(0);
    for (container, now_ms) in [("1", 0), ("2", 60_000), ("3", 120_000)] {
        cluster.reported(node, physical(), now_ms);
        let placed = place(&mut cluster, container, app, node, now_ms);
        assert!(matches!(placed, Commit::Placed(_)), "peaks of 15 GB do not meet: {placed:?}");
    }
    assert!(cluster.headroom(app, 120_000).unwrap().memory_bytes > 0);
}

#[test]
fn an_application_that_found_no_room_is_told_that_nothing_is_left() {
    let (mut cluster, node) = two_queues(1.0);
    let small = waiting_in(&mut cluster, "root.a", third(), 3);
    follow(&mut cluster, node, -12_000, 0);
    for container in ["1", "2", "3", "4", "5"] {
        let placed = place(&mut cluster, container, small, node, 0);
        assert!(matches!(placed, Commit::Placed(_)), "{placed:?}");
    }
    let large = waiting_in(&mut cluster, "root.b", Demands::default(), 4);
    let headroom = |cluster: &mut Cluster, now_ms| {
        cluster.round(node, request(64, 64), now_ms);
        cluster.headroom(large, now_ms).unwrap().memory_bytes
    };
    assert_ne!(headroom(&mut cluster, 9_000), 0, "each node was not asked yet");
    assert_eq!(headroom(&mut cluster, 10_000), 0);
    for container in ["1", "2", "3", "4", "5"] {
        cluster.finished(container);
    }
    let placed = place(&mut cluster, "6", large, node, 10_500);
    assert!(matches!(placed, Commit::Placed(_)), "{placed:?}");
    assert_ne!(headroom(&mut cluster, 10_500), 0, "the wait begins anew");
}

#[test]
fn an_application_for_which_no_node_is_free_by_request_either_is_told_so_too() {
    let (mut cluster, node) = two_queues(1.0);
    let small = waiting_in(&mut cluster, "root.a", third(), 3);
    follow(&mut cluster, node, -12_000, 0);
    place(&mut cluster, "1", small, node, 0);
    let large = waiting_in(&mut cluster, "root.b", Demands::default(), 4);
    cluster.round(node, request(2, 64), 10_000);
    assert_eq!(cluster.headroom(large, 10_000).unwrap().memory_bytes, 0);
}

#[test]
fn a_queue_gets_what_capacity_scheduler_gives_by_request() {
    let (mut cluster, node) = two_queues(0.5);
    let app = waiting_in(&mut cluster, "root.a", Demands::default(), 3);
    cluster.raise_to_ceiling(0);
    assert!(matches!(place(&mut cluster, "1", app, node, 0), Commit::Placed(_)));
    let refused = place(&mut cluster, "2", app, node, 0);
    assert!(matches!(refused, Commit::Refused(Refusal::QueueAtMaximum(_))), "{refused:?}");
}

#[test]
fn where_no_node_is_raised_capacity_schedulers_own_maxima_hold() {
    let (mut cluster, node) = two_queues(0.5);
    let app = waiting_in(&mut cluster, "root.a", Demands::default(), 4);
    cluster.bookable_changes(usize::MAX, 0);
    for container in ["1", "2"] {
        let placed = place(&mut cluster, container, app, node, 0);
        assert!(matches!(placed, Commit::Placed(_)), "a label may be borrowed: {placed:?}");
    }
}

#[test]
fn a_queue_above_is_a_limit_too() {
    let (mut cluster, node) = cluster_of_one(settings());
    cluster.configure_queues(vec![
        share("root.a", 0.5, 0.25),
        share("root.a.x", 0.25, 1.0),
        share("root.a.y", 0.25, 1.0),
    ]);
    cluster.raise_to_ceiling(0);
    let x = waiting_in(&mut cluster, "root.a.x", Demands::default(), 2);
    let y = waiting_in(&mut cluster, "root.a.y", Demands::default(), 2);
    assert!(matches!(place(&mut cluster, "1", x, node, 0), Commit::Placed(_)));
    let refused = place(&mut cluster, "2", y, node, 0);
    assert_eq!(refused, Commit::Refused(Refusal::QueueAtMaximum("root.a".into())));
    let demanded = memory(2 * GB, 2 * GB, 2 * GB);
    let of_parent = LimitUse::QueueMaximum { queue: "root.a".into(), demanded };
    assert_eq!(LimitUse::of(&cluster, y, 0), Some(of_parent), "that of the queue above");
}

#[test]
fn the_ceiling_of_a_queue_says_whether_it_gets_of_the_surplus() {
    let (mut cluster, node) = two_queues(0.5);
    let max_ratio_by_queue = [("root.a".to_owned(), 1.5)].into();
    cluster.set_exceptions(&Exceptions { max_ratio_by_queue, ..Exceptions::default() });
    let app = waiting_in(&mut cluster, "root.a", third(), 3);
    follow(&mut cluster, node, 0, 12_000);
    for container in ["1", "2"] {
        let placed = place(&mut cluster, container, app, node, 12_000);
        assert!(matches!(placed, Commit::Placed(_)), "{placed:?}");
    }
    let refused = place(&mut cluster, "3", app, node, 12_000);
    assert!(matches!(refused, Commit::Refused(Refusal::QueueAtMaximum(_))), "{refused:?}");
    let requested = memory(6 * GB, 3 * GB, 6 * GB);
    let limit_use = LimitUse::QueueCeiling { queue: "root.a".into(), requested };
    assert_eq!(LimitUse::of(&cluster, app, 12_000), Some(limit_use));
}

#[test]
fn a_queue_that_is_owed_its_guarantee_goes_by_request_at_once() {
    let (mut cluster, node) = two_queues(1.0);
    let hog = waiting_in(&mut cluster, "root.a", learned(&[4.0; 200], 1.0), 5);
    place(&mut cluster, "1", hog, node, 0);
    let app = waiting_in(&mut cluster, "root.b", learned(&[1.0], 1.0), 3);
    assert_eq!(cluster.round(node, request(3, 7), 0), Some(vec![]), "the CPU is in use");
    cluster.bookable_changes(usize::MAX, 0);
    assert_eq!(cluster.round(node, request(3, 7), 0), Some(vec![app]), "5 GB are more than half");
    let Commit::Placed(placement) = place(&mut cluster, "2", app, node, 0) else {
        panic!("its queue is owed 4 GB");
    };
    assert_eq!(placement.reason, PlacedReason::Owed);
}

#[test]
fn a_queue_that_has_its_guarantee_starts_nothing_above_the_registered_size_while_another_waits() {
    let (mut cluster, node) = two_queues(1.0);
    let app = waiting_in(&mut cluster, "root.a", third(), 3);
    follow(&mut cluster, node, 0, 12_000);
    for container in ["1", "2", "3"] {
        assert!(matches!(place(&mut cluster, container, app, node, 12_000), Commit::Placed(_)));
    }
    let owed = waiting_in(&mut cluster, "root.b", Demands::default(), 6);
    follow(&mut cluster, node, 13_000, 13_000);
    assert_eq!(cluster.round(node, request(16, 16), 13_000), Some(vec![]), "5 GB are left");
    assert_eq!(cluster.wait_reason(app, 13_000), Some(WaitReason::Yields { node }));
    let limit_use = LimitUse::Yields {
        to: "root.b".into(),
        guaranteed: memory(0, 0, 4 * GB),
        registered: memory(9 * GB, 3 * GB, 8 * GB),
    };
    assert_eq!(LimitUse::of(&cluster, app, 13_000), Some(limit_use));
    let refused = place(&mut cluster, "4", app, node, 13_000);
    assert_eq!(refused, Commit::Refused(Refusal::QueueYields("root.a".into())));

    cluster.finished("1");
    cluster.finished("2");
    let named = cluster.round(node, request(5, 16), 13_000);
    assert!(named.unwrap().contains(&app), "3 GB are within the registered size");
    cluster.application_removed(owed);
    follow(&mut cluster, node, 14_000, 14_000);
    assert!(matches!(place(&mut cluster, "5", app, node, 14_000), Commit::Placed(_)));
    assert!(matches!(place(&mut cluster, "6", app, node, 14_000), Commit::Placed(_)));
}

#[test]
fn a_queue_owes_itself_nothing() {
    let (mut cluster, node) = two_queues(1.0);
    let hog = waiting_in(&mut cluster, "root.b", learned(&[4.0; 200], 1.0), 2);
    place(&mut cluster, "1", hog, node, 0);
    let app = waiting_in(&mut cluster, "root.b", learned(&[1.0], 1.0), 2);
    cluster.bookable_changes(usize::MAX, 0);
    assert!(!cluster.round(node, request(6, 7), 0).unwrap().contains(&app));
}

#[test]
fn a_moved_application_takes_its_containers_along() {
    let (mut cluster, node) = two_queues(0.5);
    let app = waiting_in(&mut cluster, "root.a", Demands::default(), 4);
    cluster.raise_to_ceiling(0);
    place(&mut cluster, "1", app, node, 0);
    let other = waiting_in(&mut cluster, "root.a", Demands::default(), 1);
    assert!(matches!(place(&mut cluster, "2", other, node, 0), Commit::Refused(_)));
    cluster.application_moved(app, "root.b");
    assert!(matches!(place(&mut cluster, "2", other, node, 0), Commit::Placed(_)));
}

#[test]
fn a_container_counts_at_most_as_its_request() {
    let (mut cluster, node) = two_queues(0.5);
    let hungry = waiting_in(&mut cluster, "root.a", learned(&[3.0], 0.5), 4);
    let small = waiting_in(&mut cluster, "root.a", learned(&[0.1], 0.5), 1);
    cluster.bookable_changes(usize::MAX, 0);
    place(&mut cluster, "1", hungry, node, 0);
    let placed = place(&mut cluster, "2", small, node, 0);
    assert!(matches!(placed, Commit::Placed(_)), "3 cores are 6 vcores, but 1 counts: {placed:?}");
}

#[test]
fn a_node_counts_towards_the_shares_from_its_registration_to_its_end() {
    let (mut cluster, node) = two_queues(0.5);
    let app = waiting_in(&mut cluster, "root.a", Demands::default(), 4);
    cluster.raise_to_ceiling(0);
    assert!(matches!(place(&mut cluster, "1", app, node, 0), Commit::Placed(_)));
    assert_eq!(cluster.round(node, request(4, 7), 0), Some(vec![]), "half of 8 GB are taken");

    let other = cluster.node_added("node-2:1", request(8, 8));
    cluster.reported(other, physical(), 0);
    assert_eq!(cluster.round(other, request(8, 8), 0), Some(vec![app]));
    cluster.node_resized(other, request(0, 8));
    assert_eq!(cluster.round(node, request(4, 7), 0), Some(vec![]));
    cluster.node_resized(other, request(8, 8));
    cluster.node_labelled(other, "gpu");
    assert_eq!(cluster.round(node, request(4, 7), 0), Some(vec![]));
    cluster.node_labelled(other, "");
    assert_eq!(cluster.round(node, request(4, 7), 0), Some(vec![app]));
    cluster.node_removed(other);
    assert_eq!(cluster.round(node, request(4, 7), 0), Some(vec![]));
}

#[test]
fn a_label_that_is_not_exclusive_is_not_raised() {
    let (mut cluster, node) = two_queues(0.5);
    let shared = |queue| QueueShare { is_label_shared: true, ..share(queue, 0.5, 0.5) };
    cluster.configure_queues(vec![shared("root.a"), shared("root.b")]);
    let app = waiting_in(&mut cluster, "root.a", third(), 4);
    assert_eq!(follow(&mut cluster, node, 0, 12_000), 1_000);
    for container in ["1", "2"] {
        let placed = place(&mut cluster, container, app, node, 12_000);
        assert!(matches!(placed, Commit::Placed(_)), "the queue may borrow: {placed:?}");
    }
}

//! A kept node for an application that smaller ones would starve for ever.

use super::*;
use crate::cluster::{WaitReason, drain};

/// The starvation wait and ten seconds.
const KEPT_FROM_MS: i64 = 70_000;

fn order(cluster: &mut Cluster, node: NodeId, now_ms: i64) -> Vec<ApplicationId> {
    cluster.reported(node, physical(), now_ms);
    cluster.round(node, request(16, 16), now_ms).unwrap()
}

fn waiting_since(cluster: &mut Cluster, demands: Demands, ask: Ask, now_ms: i64) -> ApplicationId {
    let application = Application::new("a", "a", "root.default", demands, now_ms);
    let id = cluster.application_added(application);
    cluster.pending(id, ask, now_ms);
    id
}

/// A demand of one core and 3 GB for this long.
fn for_s(seconds: usize) -> Demands {
    learned(&vec![1.0; seconds / 3], 3.0)
}

/// One node of 8 GB with containers of 3 GB that end at 90 s and at 120 s, and an application that
/// has waited for 7 GB since time 0.
fn one_full_node() -> (Cluster, NodeId, ApplicationId) {
    let (mut cluster, node) = cluster_of_one(settings());
    for (container, seconds) in [("1", 90), ("2", 120)] {
        let runs = waiting(&mut cluster, "runs", for_s(seconds), ask(3, 1));
        assert!(matches!(place(&mut cluster, container, runs, node, 0), Commit::Placed(_)));
        cluster.application_removed(runs);
    }
    let large = waiting(&mut cluster, "large", learned(&[1.0; 10], 7.0), ask(7, 1));
    (cluster, node, large)
}

#[test]
fn a_stream_of_small_applications_does_not_starve_a_large_one() {
    let (mut cluster, node, large) = one_full_node();
    let mut running: Vec<(String, i64)> = vec![("1".to_owned(), 90_000), ("2".to_owned(), 120_000)];
    for now_ms in (0..400_000).step_by(3_000) {
        running.retain(|(container, end_ms)| {
            let runs = *end_ms > now_ms;
            if !runs {
                cluster.finished(container);
            }
            runs
        });
        let small = waiting_since(&mut cluster, for_s(60), ask(3, 1), now_ms);
        for id in order(&mut cluster, node, now_ms) {
            let container = format!("{}-{now_ms}", id.0);
            if !matches!(place(&mut cluster, &container, id, node, now_ms), Commit::Placed(_)) {
                continue;
            }
            if id == large {
                assert_eq!(now_ms, 120_000, "the last earlier container has ended");
                return;
            }
            running.push((container, now_ms + 60_000));
        }
        cluster.application_removed(small);
    }
    panic!("the large one was never placed");
}

#[test]
fn only_containers_that_end_before_the_planned_start_go_to_a_kept_node() {
    let (mut cluster, node, large) = one_full_node();
    cluster.finished("1");
    let of = |seconds: usize| learned(&vec![0.1; seconds / 3], 0.1);
    let before_ms = KEPT_FROM_MS - 1_000;
    let short = waiting_since(&mut cluster, of(48), ask(1, 1), before_ms);
    let long = waiting_since(&mut cluster, of(54), ask(1, 1), before_ms);
    let endless = waiting_since(&mut cluster, Demands::default(), ask(1, 1), before_ms);
    let mut before = order(&mut cluster, node, before_ms);
    before.sort_unstable();
    assert_eq!(before, [short, long, endless], "no node is kept yet");

    assert_eq!(order(&mut cluster, node, KEPT_FROM_MS), [short]);
    let kept = KeptNode::of(&cluster).unwrap();
    assert_eq!((kept.node, kept.application), (node, large));
    assert_eq!(kept.start_ms, Some(120_000));
    assert_eq!(cluster.wait_reason(long, KEPT_FROM_MS), Some(WaitReason::Kept(kept)));
    assert_eq!(cluster.wait_reason(endless, KEPT_FROM_MS), Some(WaitReason::Kept(kept)));
    assert_eq!(cluster.wait_reason(large, KEPT_FROM_MS), Some(WaitReason::Keeps(kept)));
}

#[test]
fn only_a_node_with_the_label_asked_for_is_kept() {
    for asked in ["", "gpu"] {
        let (mut cluster, first, large) = one_full_node();
        let labelled = cluster.node_added("node-2:1", request(8, 8));
        cluster.node_labelled(labelled, "gpu");
        let runs = waiting(&mut cluster, "runs", for_s(300), ask(3, 1));
        assert!(matches!(place(&mut cluster, "3", runs, labelled, 0), Commit::Placed(_)));
        cluster.application_removed(runs);
        cluster.set_label(large, asked);
        cluster.pending(large, ask(7, 1), 0);
        cluster.reported(labelled, physical(), KEPT_FROM_MS);
        order(&mut cluster, first, KEPT_FROM_MS);
        let kept = KeptNode::of(&cluster).map(|kept| kept.node);
        assert_eq!(kept, Some(if asked.is_empty() { first } else { labelled }), "{asked}");
    }
}

#[test]
fn a_container_placed_on_nodes_of_another_label_is_no_room_for_the_starving_one() {
    let (mut cluster, first, _) = one_full_node();
    let labelled = cluster.node_added("node-2:1", request(8, 8));
    cluster.node_labelled(labelled, "gpu");
    cluster.reported(labelled, physical(), KEPT_FROM_MS);
    let other = waiting(&mut cluster, "other", for_s(60), ask(7, 1));
    let placed = place(&mut cluster, "3", other, labelled, KEPT_FROM_MS - 1_000);
    assert!(matches!(placed, Commit::Placed(_)), "{placed:?}");
    order(&mut cluster, first, KEPT_FROM_MS);
    assert_eq!(KeptNode::of(&cluster).map(|kept| kept.node), Some(first));
}

#[test]
fn a_higher_priority_goes_to_a_kept_node() {
    let (mut cluster, node, _) = one_full_node();
    cluster.finished("1");
    let urgent = Ask { priority: 1, ..ask(1, 1) };
    let urgent = waiting_since(&mut cluster, Demands::default(), urgent, KEPT_FROM_MS);
    assert_eq!(order(&mut cluster, node, KEPT_FROM_MS), [urgent]);
}

#[test]
fn an_application_that_makes_progress_gets_no_kept_node() {
    let (mut cluster, node, large) = one_full_node();
    let second = cluster.node_added("node-2:1", request(16, 16));
    cluster.reported(second, physical().map(|size| size * 2.0), 0);
    for container in ["master", "executor"] {
        assert!(matches!(place(&mut cluster, container, large, second, 0), Commit::Placed(_)));
    }
    order(&mut cluster, node, KEPT_FROM_MS);
    assert_eq!(KeptNode::of(&cluster), None);
    cluster.finished("executor");
    order(&mut cluster, node, KEPT_FROM_MS + 1_000);
    assert!(KeptNode::of(&cluster).is_some(), "only its master runs");
}

#[test]
fn the_node_with_the_earliest_planned_start_is_kept() {
    let (mut cluster, first, large) = one_full_node();
    let second = cluster.node_added("node-2:1", request(8, 8));
    let small_node = cluster.node_added("node-3:1", request(6, 8));
    for node in [second, small_node] {
        cluster.reported(node, physical(), KEPT_FROM_MS);
    }
    let runs = waiting(&mut cluster, "runs", for_s(99), ask(3, 1));
    place(&mut cluster, "3", runs, second, 0);
    cluster.application_removed(runs);
    order(&mut cluster, first, KEPT_FROM_MS);
    let kept = KeptNode::of(&cluster).unwrap();
    assert_eq!((kept.node, kept.application), (second, large));
    assert_eq!(kept.start_ms, Some(99_000));
}

#[test]
fn no_node_is_kept_that_is_taken_out() {
    let (mut cluster, node, _) = one_full_node();
    drain(&mut cluster, &[node]);
    order(&mut cluster, node, KEPT_FROM_MS);
    assert_eq!(KeptNode::of(&cluster), None);
    drain(&mut cluster, &[]);
    // Where no node can be kept, the application rests for as long as it waited.
    order(&mut cluster, node, KEPT_FROM_MS + 60_000);
    assert_eq!(KeptNode::of(&cluster).map(|kept| kept.node), Some(node), "it stays after all");
}

#[test]
fn a_node_kept_in_vain_is_released_and_the_application_rests() {
    let (mut cluster, node, large) = one_full_node();
    order(&mut cluster, node, KEPT_FROM_MS);
    assert!(KeptNode::of(&cluster).is_some());
    cluster.finished("1");
    cluster.finished("2");
    let named_ms = KEPT_FROM_MS + 1_000;
    let endless = waiting_since(&mut cluster, Demands::default(), ask(2, 1), named_ms);
    assert_eq!(order(&mut cluster, node, named_ms), [large]);
    assert_eq!(order(&mut cluster, node, named_ms + 9_999), [large]);
    assert_eq!(order(&mut cluster, node, named_ms + 10_999), [large, endless]);
    assert_eq!(KeptNode::of(&cluster), None);
    cluster.application_removed(endless);
    // The node was kept for 12 s, so the application rests for 120 s.
    let given_up_ms = named_ms + 10_999;
    order(&mut cluster, node, given_up_ms + 118_000);
    assert_eq!(KeptNode::of(&cluster), None);
    order(&mut cluster, node, given_up_ms + 121_000);
    assert!(KeptNode::of(&cluster).is_some());
}

#[test]
fn no_node_is_kept_for_a_user_to_whom_capacity_scheduler_gives_nothing_more() {
    let (mut cluster, node, large) = one_full_node();
    let at_limit = [large];
    for (after_ms, at_user_limit, is_kept) in [
        (0, &[][..], true),
        (1_000, &at_limit, false),
        (2_000, &at_limit, false),
        (3_000, &[], true),
    ] {
        cluster.reported(node, physical(), KEPT_FROM_MS + after_ms);
        let offer = Offer { at_user_limit, ..Offer::best(node, request(8, 8)) };
        cluster.offer(offer, KEPT_FROM_MS + after_ms);
        assert_eq!(KeptNode::of(&cluster).is_some(), is_kept, "after {after_ms} ms");
    }
}

#[test]
fn the_next_kept_node_is_another_one() {
    let (mut cluster, first, _) = one_full_node();
    let second = cluster.node_added("node-2:1", request(8, 8));
    cluster.reported(second, physical(), 0);
    let runs = waiting(&mut cluster, "runs", for_s(600), ask(3, 1));
    place(&mut cluster, "3", runs, second, 0);
    cluster.application_removed(runs);
    order(&mut cluster, first, KEPT_FROM_MS);
    assert_eq!(KeptNode::of(&cluster).unwrap().node, first, "its containers end earlier");
    // The containers still run after five starvation waits: the prediction was wrong.
    let given_up_ms = KEPT_FROM_MS + 5 * 60_000;
    order(&mut cluster, first, given_up_ms);
    assert_eq!(KeptNode::of(&cluster), None);
    cluster.reported(second, physical(), given_up_ms + 5 * 60_000);
    order(&mut cluster, first, given_up_ms + 5 * 60_000);
    assert!(KeptNode::of(&cluster).is_some());
}

#[test]
fn without_a_predicted_end_a_node_is_kept_without_a_planned_start_and_for_its_owner_alone() {
    let (mut cluster, node) = cluster_of_one(settings());
    let runs = waiting(&mut cluster, "runs", Demands::default(), ask(3, 1));
    place(&mut cluster, "1", runs, node, 0);
    cluster.application_removed(runs);
    let large = waiting(&mut cluster, "large", Demands::default(), ask(7, 1));
    waiting_since(&mut cluster, learned(&[0.1], 0.1), ask(1, 1), KEPT_FROM_MS);
    assert_eq!(order(&mut cluster, node, KEPT_FROM_MS), []);
    assert_eq!(KeptNode::of(&cluster).unwrap().start_ms, None);
    cluster.finished("1");
    assert_eq!(order(&mut cluster, node, KEPT_FROM_MS), [large]);
    place(&mut cluster, "2", large, node, KEPT_FROM_MS);
    assert_eq!(KeptNode::of(&cluster), None, "the owner has its container");
}

#[test]
fn a_silent_node_is_not_kept() {
    let (mut cluster, node, _) = one_full_node();
    let other = cluster.node_added("node-2:1", request(4, 8));
    order(&mut cluster, other, KEPT_FROM_MS);
    assert_eq!(KeptNode::of(&cluster), None, "the other one is too small");
    assert_eq!(order(&mut cluster, node, KEPT_FROM_MS + 60_000), []);
}

#[test]
fn an_application_whose_size_was_placed_elsewhere_waits_for_its_turn() {
    for (memory_gb, keeps) in [(6, true), (7, false)] {
        let (mut cluster, node, _) = one_full_node();
        let second = cluster.node_added("node-2:1", request(8, 8));
        cluster.reported(second, physical(), 65_000);
        let other = waiting(&mut cluster, "b", learned(&[1.0], 1.0), ask(memory_gb, 1));
        let placed = place(&mut cluster, "other", other, second, 65_000);
        assert!(matches!(placed, Commit::Placed(_)));
        cluster.application_removed(other);
        order(&mut cluster, node, KEPT_FROM_MS);
        assert_eq!(KeptNode::of(&cluster).is_some(), keeps, "{memory_gb} GB");
        if !keeps {
            order(&mut cluster, node, 3_600_000);
            assert!(KeptNode::of(&cluster).is_some(), "not for ever");
        }
    }
}

#[test]
fn a_node_is_not_kept_for_an_application_whose_queue_is_at_its_maximum() {
    let (mut cluster, node) = cluster_of_one(settings());
    cluster.configure_queues(vec![share("root.default", 0.5, 0.5), share("root.other", 0.5, 1.0)]);
    cluster.raise_to_ceiling(0);
    let runs = waiting(&mut cluster, "runs", Demands::default(), ask(4, 1));
    assert!(matches!(place(&mut cluster, "1", runs, node, 0), Commit::Placed(_)));
    cluster.application_removed(runs);
    let starves = waiting(&mut cluster, "starves", Demands::default(), ask(1, 1));
    let other = waiting(&mut cluster, "other", Demands::default(), ask(1, 1));
    cluster.application_moved(other, "root.other");
    assert_eq!(order(&mut cluster, node, KEPT_FROM_MS), [other]);
    let reason = cluster.wait_reason(starves, KEPT_FROM_MS);
    assert_eq!(reason, Some(WaitReason::AtMaximum { node }));

    cluster.configure_queues(vec![share("root.default", 0.5, 1.0), share("root.other", 0.5, 1.0)]);
    let rested_ms = KEPT_FROM_MS + 60_000;
    order(&mut cluster, node, rested_ms);
    assert_eq!(KeptNode::of(&cluster).map(|kept| kept.application), Some(starves));
    cluster.configure_queues(vec![share("root.default", 0.5, 0.5), share("root.other", 0.5, 1.0)]);
    order(&mut cluster, node, rested_ms + 1_000);
    assert_eq!(KeptNode::of(&cluster), None);
}

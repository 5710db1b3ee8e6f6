//! Preemption that is held back while nodes have shrunk.

use super::*;

const SILENT_FROM_MS: i64 = 12_000;
const LOWERED_MS: i64 = 23_000;

/// Two nodes of 8 GB and one elsewhere. The first one was raised while both queues waited for containers of 3 GB
/// that need one, `root.a` got `containers` of them there, and then no node reports any more. `root.a` is guaranteed
/// `capacity` of the 16 GB.
fn after_silence(containers: u32, capacity: f64, maximum: f64) -> (Cluster, [NodeId; 3]) {
    let (mut cluster, node) = cluster_of_one(settings());
    let other = cluster.node_added("node-2:1", request(8, 8));
    let elsewhere = cluster.node_added("node-3:1", request(8, 8));
    cluster.node_labelled(elsewhere, "elsewhere");
    let (a, b) = (in_queue(&mut cluster, "root.a"), in_queue(&mut cluster, "root.b"));
    for now_ms in (0..=SILENT_FROM_MS).step_by(1_000) {
        cluster.reported(node, physical(), now_ms);
        cluster.bookable_changes(usize::MAX, now_ms);
    }
    for number in 0..containers {
        let placed = place(&mut cluster, &number.to_string(), a, node, SILENT_FROM_MS);
        assert!(matches!(placed, Commit::Placed(_)), "{placed:?}");
    }
    configure(&mut cluster, capacity, maximum);
    cluster.application_removed(b);
    (cluster, [node, other, elsewhere])
}

fn configure(cluster: &mut Cluster, capacity: f64, maximum: f64) {
    cluster.configure_queues(vec![
        share("root", 1.0, 1.0),
        share("root.a", capacity, maximum),
        share("root.b", 1.0 - capacity, 1.0),
    ]);
}

fn in_queue(cluster: &mut Cluster, queue: &str) -> ApplicationId {
    waiting_in(cluster, queue, learned(&[0.2], 1.0), 3)
}

fn lower(cluster: &mut Cluster, node: NodeId) {
    for now_ms in (SILENT_FROM_MS + 1_000..=LOWERED_MS).step_by(1_000) {
        cluster.bookable_changes(usize::MAX, now_ms);
    }
    assert_eq!(cluster.node(node).unwrap().bookable, BookableRatio::REGISTERED);
}

fn may_preempt(cluster: &mut Cluster, node: NodeId, now_ms: i64) -> bool {
    cluster.may_preempt(Preemption { node, queue: "root.a" }, now_ms)
}

#[test]
fn a_queue_within_its_share_is_not_preempted_while_a_node_comes_down() {
    let (mut cluster, [node, other, elsewhere]) = after_silence(4, 0.5, 1.0);
    assert!(may_preempt(&mut cluster, node, SILENT_FROM_MS), "nothing has shrunk");
    lower(&mut cluster, node);
    assert!(!may_preempt(&mut cluster, node, LOWERED_MS), "12 GB are half of 16 and 8 GB");
    assert!(!may_preempt(&mut cluster, other, LOWERED_MS), "a node of its label has shrunk");
    assert!(may_preempt(&mut cluster, elsewhere, LOWERED_MS), "none of its label has");
    assert!(may_preempt(&mut cluster, node, LOWERED_MS + 301_000), "not for ever");
    cluster.finished("0");
    cluster.finished("1");
    assert!(may_preempt(&mut cluster, node, LOWERED_MS), "it has come down");
}

#[test]
fn a_queue_above_its_share_is_preempted() {
    let (mut cluster, [node, ..]) = after_silence(4, 0.49, 1.0);
    lower(&mut cluster, node);
    assert!(may_preempt(&mut cluster, node, LOWERED_MS), "12 GB of 24");
}

#[test]
fn a_queue_within_its_maximum_by_demand_is_not_preempted_when_nodes_shrink() {
    let (mut cluster, [node, ..]) = after_silence(2, 0.1, 0.3);
    assert!(may_preempt(&mut cluster, node, SILENT_FROM_MS), "nothing has shrunk");
    lower(&mut cluster, node);
    assert!(!may_preempt(&mut cluster, node, LOWERED_MS), "6 GB are more than 4.8, and need 2");
    assert!(may_preempt(&mut cluster, node, LOWERED_MS + 301_000), "not for ever");

    configure(&mut cluster, 0.1, 0.12);
    assert!(may_preempt(&mut cluster, node, LOWERED_MS), "2 GB of demand are more than 1.9");
    configure(&mut cluster, 0.1, 0.5);
    assert!(may_preempt(&mut cluster, node, LOWERED_MS), "6 GB are within the maximum");
}

#[test]
fn a_queue_that_waits_for_its_guarantee_gets_it_by_preemption() {
    let (mut cluster, [node, ..]) = after_silence(2, 0.1, 0.3);
    lower(&mut cluster, node);
    let b = in_queue(&mut cluster, "root.b");
    cluster.bookable_changes(usize::MAX, LOWERED_MS);
    assert!(may_preempt(&mut cluster, node, LOWERED_MS));
    cluster.application_removed(b);
    cluster.bookable_changes(usize::MAX, LOWERED_MS);
    assert!(!may_preempt(&mut cluster, node, LOWERED_MS));
}

#[test]
fn shrinking_again_does_not_prolong_a_hold_and_the_next_one_begins_as_long_after_it() {
    let (mut cluster, [node, other, _]) = after_silence(2, 0.1, 0.3);
    lower(&mut cluster, node);
    let (a, _) = cluster.applications().find(|(_, it)| &*it.queue == "root.a").unwrap();
    cluster.pending(a, Ask { count: 0, ..ask(3, 1) }, LOWERED_MS);
    let b = in_queue(&mut cluster, "root.b");
    // The other node goes up and down.
    let shrink = |cluster: &mut Cluster, at_ms: i64| {
        cluster.pending(b, ask(3, 1), at_ms - 1_000);
        cluster.reported(other, physical(), at_ms - 1_000);
        cluster.bookable_changes(usize::MAX, at_ms - 1_000);
        assert!(cluster.node(other).unwrap().bookable.is_raised());
        cluster.pending(b, Ask { count: 0, ..ask(3, 1) }, at_ms);
        cluster.bookable_changes(usize::MAX, at_ms);
        assert!(!cluster.node(other).unwrap().bookable.is_raised());
    };
    // With the queues the nodes may book less: the hold began with the first step down.
    let began_ms = SILENT_FROM_MS + 1_000;
    for after_ms in (20_000..600_000).step_by(10_000) {
        shrink(&mut cluster, began_ms + after_ms);
        let may_preempt = may_preempt(&mut cluster, node, began_ms + after_ms);
        assert_eq!(may_preempt, after_ms > 300_000, "{after_ms}");
    }
    let next_ms = began_ms + 600_000;
    shrink(&mut cluster, next_ms);
    assert!(!may_preempt(&mut cluster, node, next_ms), "a hold of its own");
    shrink(&mut cluster, next_ms + 200_000);
    assert!(may_preempt(&mut cluster, node, next_ms + 301_000), "not for ever");
}

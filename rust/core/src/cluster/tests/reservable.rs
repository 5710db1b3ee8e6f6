//! Applications that are offered a node to be reserved by CapacityScheduler.

use super::*;

/// A node with 2 GB free, and the ids of waiting applications that ask for so many GB, in the order of age.
fn cluster(asks_gb: &[u64]) -> (Cluster, NodeId, Vec<ApplicationId>) {
    let (mut cluster, node) = cluster_of_one(settings());
    let old = waiting(&mut cluster, "old", Demands::default(), ask(6, 6));
    assert!(matches!(place(&mut cluster, "c", old, node, 0), Commit::Placed(_)));
    cluster.pending(old, Ask { count: 0, ..ask(6, 6) }, 0);
    let names = asks_gb.iter().enumerate();
    let of = |(name, gb): (usize, &u64)| {
        waiting(&mut cluster, &name.to_string(), Demands::default(), ask(*gb, 1))
    };
    let ids = names.map(of).collect();
    (cluster, node, ids)
}

fn best(cluster: &mut Cluster, node: NodeId) -> Vec<ApplicationId> {
    cluster.round(node, request(2, 2), 0).unwrap()
}

fn fitting(cluster: &mut Cluster, node: NodeId) -> Vec<ApplicationId> {
    let free = request(2, 2);
    let naming = Naming::Fitting;
    cluster
        .offer(Offer { node, free, free_countables: &[], at_user_limit: &[], naming }, 0)
        .unwrap()
}

#[test]
fn the_oldest_that_does_not_fit_comes_after_those_that_fit() {
    let (mut cluster, node, ids) = cluster(&[3, 4, 2]);
    assert_eq!(best(&mut cluster, node), [ids[2], ids[0]]);
    assert_eq!(fitting(&mut cluster, node), ids, "with another order CapacityScheduler chooses");
}

#[test]
fn a_higher_priority_comes_before_age() {
    let (mut cluster, node, ids) = cluster(&[3, 4]);
    cluster.pending(ids[1], Ask { priority: 1, ..ask(4, 1) }, 0);
    assert_eq!(best(&mut cluster, node), [ids[1]]);
}

#[test]
fn a_node_is_not_reserved_for_what_never_fits_there() {
    let (mut cluster, node, ids) = cluster(&[9, 8]);
    assert_eq!(best(&mut cluster, node), [ids[1]]);
}

#[test]
fn no_node_is_reserved_once_anything_is_known_of_a_waiting_application() {
    let (mut cluster, node, ids) = cluster(&[3, 2]);
    let kind = ContainerKind::DEFAULT_EXECUTOR;
    cluster.set_prediction(ids[1], kind, learned(&[0.5], 1.0).of(kind).cloned());
    assert_eq!(best(&mut cluster, node), [ids[1]]);
    assert_eq!(fitting(&mut cluster, node), [ids[1]]);
}

#[test]
fn no_raised_node_is_reserved() {
    let (mut cluster, node, _) = cluster(&[3]);
    cluster.raise_to_ceiling(0);
    assert_eq!(best(&mut cluster, node), []);
}

#[test]
fn an_application_that_was_skipped_does_not_hide_the_next() {
    let (mut cluster, node, ids) = cluster(&[3, 4]);
    cluster.skipped(node, &[ids[0]], 0);
    assert_eq!(best(&mut cluster, node), [ids[1]]);
}

#[test]
fn seventeen_that_fit_leave_none_to_reserve_for() {
    let mut asks_gb = vec![3];
    asks_gb.extend([1; 17]);
    let (mut cluster, node, ids) = cluster(&asks_gb);
    let best = best(&mut cluster, node);
    assert_eq!(best.len(), ROUND_LIMIT);
    assert!(!best.contains(&ids[0]));
}

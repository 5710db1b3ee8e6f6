//! Containers beyond a node's registered memory.

use super::*;

/// Containers "1", "2", … of these sizes in GB, started in this order on a node of 8 GB.
fn started(gb: &[u64]) -> (Cluster, NodeId) {
    let (mut cluster, node) = cluster_of_one(settings());
    for (number, gb) in gb.iter().enumerate() {
        let name = (number + 1).to_string();
        let app = waiting(&mut cluster, &name, learned(&[0.1], 0.5), ask(*gb, 1));
        let placed = place(&mut cluster, &name, app, node, number as i64);
        assert!(matches!(placed, Commit::Placed(_)), "{name}: {placed:?}");
    }
    (cluster, node)
}

fn overcommitted(cluster: &Cluster, node: NodeId) -> Vec<&str> {
    let named = cluster.overcommitted(node).into_iter();
    named.map(|(id, _)| id).collect()
}

#[test]
fn containers_that_fit_by_request_in_order_of_start_are_not_overcommitted() {
    let (mut cluster, node) = started(&[3, 5, 2, 2]);
    assert_eq!(overcommitted(&cluster, node), ["3", "4"]);
    cluster.finished("1");
    assert_eq!(overcommitted(&cluster, node), ["4"], "5 + 2 GB fit now");
}

#[test]
fn no_container_is_overcommitted_where_all_fit() {
    let (cluster, node) = started(&[3, 5]);
    assert_eq!(overcommitted(&cluster, node), [""; 0]);
}

#[test]
fn a_container_that_outlived_the_resource_manager_keeps_its_place() {
    let (mut cluster, node) = started(&[6]);
    let app = waiting(&mut cluster, "old", learned(&[0.1], 0.5), ask(4, 1));
    let outlived = CommitRequest {
        container: "old",
        application: app,
        node,
        kind: ContainerKind::DEFAULT_EXECUTOR,
        request: request(4, 1),
        may_refuse: false,
        start_ms: -1,
    };
    cluster.commit(outlived, 10);
    assert_eq!(overcommitted(&cluster, node), ["1"]);
}

//! A commit takes what rounds prepared only while that is of the same container.

use super::*;

/// A node with 3 of its 4 cores free, and an application whose container of 1 core fits there by the latest round.
fn after_a_round() -> (Cluster, NodeId, ApplicationId) {
    let (mut cluster, node) = cluster_of_one(settings());
    let first = waiting(&mut cluster, "first", learned(&[1.0], 1.0), ask(1, 1));
    place(&mut cluster, "0", first, node, 0);
    let app = waiting(&mut cluster, "a", learned(&[1.0], 1.0), ask(1, 1));
    assert!(cluster.round(node, request(8, 8), 0).unwrap().contains(&app));
    (cluster, node, app)
}

fn commit(cluster: &mut Cluster, app: ApplicationId, node: NodeId, memory_gb: u64) -> Commit {
    let commit = CommitRequest {
        container: "1",
        application: app,
        node,
        kind: ContainerKind::DEFAULT_EXECUTOR,
        request: request(memory_gb, 1),
        may_refuse: true,
        start_ms: 0,
    };
    cluster.commit(commit, 0)
}

fn predict(cluster: &mut Cluster, app: ApplicationId, demands: &Demands) {
    let kind = ContainerKind::DEFAULT_EXECUTOR;
    cluster.set_prediction(app, kind, demands.of(kind).cloned());
}

#[test]
fn a_prediction_after_the_round_is_what_the_commit_is_checked_by() {
    let (mut cluster, node, app) = after_a_round();
    predict(&mut cluster, app, &learned(&[4.0], 1.0));
    let refused = commit(&mut cluster, app, node, 1);
    assert!(matches!(refused, Commit::Refused(Refusal::NoFit(_))), "{refused:?}");
    predict(&mut cluster, app, &learned(&[3.0], 1.0));
    let Commit::Placed(placed) = commit(&mut cluster, app, node, 1) else { panic!("it fits") };
    assert_eq!(placed.reason, PlacedReason::Fits);
}

#[test]
fn a_commit_of_another_request_than_the_asks_is_checked_by_its_own() {
    let (mut cluster, node) = cluster_of_one(settings());
    let first = waiting(&mut cluster, "first", Demands::default(), ask(5, 1));
    place(&mut cluster, "0", first, node, 0);
    let app = waiting(&mut cluster, "a", Demands::default(), ask(1, 1));
    assert!(cluster.round(node, request(8, 8), 0).unwrap().contains(&app));
    let refused = commit(&mut cluster, app, node, 4);
    assert!(matches!(refused, Commit::Refused(Refusal::NoFit(_))), "{refused:?}");
}

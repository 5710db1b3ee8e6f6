//! Changes of the prediction for a waiting application.

use super::*;

#[test]
fn a_waiting_application_is_placed_by_its_current_prediction() {
    let (mut cluster, node) = cluster_of_one(settings());
    let free = request(16, 16);
    let runs = waiting(&mut cluster, "runs", Demands::default(), ask(5, 1));
    assert!(matches!(place(&mut cluster, "1", runs, node, 0), Commit::Placed(_)));
    cluster.application_removed(runs);
    // By its request it does not fit beside the running container.
    let app = waiting(&mut cluster, "a", Demands::default(), ask(5, 1));
    assert_eq!(cluster.round(node, free, 0), Some(vec![]));

    let executor = ContainerKind::DEFAULT_EXECUTOR;
    let predicted = learned(&[1.0; 5], 1.0).of(executor).cloned();
    let others = [ContainerKind::ApplicationMaster, ContainerKind::Executor { priority: 1 }];
    for other in others {
        cluster.set_prediction(app, other, predicted.clone());
        assert_eq!(
            cluster.round(node, free, 0),
            Some(vec![]),
            "the prediction was for its {other}"
        );
    }
    cluster.set_prediction(app, executor, predicted);
    assert_eq!(cluster.round(node, free, 0), Some(vec![app]));
    cluster.set_prediction(app, executor, None);
    assert_eq!(cluster.round(node, free, 0), Some(vec![]));
}

#[test]
fn a_prediction_for_an_ended_application_is_ignored() {
    let (mut cluster, _) = cluster_of_one(settings());
    let app = waiting(&mut cluster, "a", Demands::default(), ask(5, 1));
    cluster.application_removed(app);
    let executor = ContainerKind::DEFAULT_EXECUTOR;
    let predicted = learned(&[1.0], 1.0).of(executor).cloned();
    cluster.set_prediction(app, executor, predicted);
    assert_eq!(cluster.applications().count(), 0);
}

#[test]
fn executors_of_two_priorities_are_placed_and_planned_by_their_own_demands() {
    let (mut cluster, node) = cluster_of_one(settings());
    let free = request(16, 16);
    let [small, large] = [0, 1].map(|priority| ContainerKind::Executor { priority });
    let demands = [(small, 1.0), (large, 3.0)].map(|(kind, cores)| {
        let learned = learned(&[cores; 5], cores);
        (kind, learned.of(ContainerKind::DEFAULT_EXECUTOR).unwrap().clone())
    });
    let of = |kind| Ask { kind, ..ask(2, 1) };
    let app = waiting(&mut cluster, "a", Demands::from_iter(demands), of(large));
    let start = |cluster: &mut Cluster, container, kind| {
        let commit = CommitRequest {
            container,
            application: app,
            node,
            kind,
            request: request(2, 1),
            may_refuse: true,
            start_ms: 0,
        };
        matches!(cluster.commit(commit, 0), Commit::Placed(_))
    };
    assert!(start(&mut cluster, "large", large));
    // One of four cores is left, enough for a small executor.
    assert_eq!(cluster.round(node, free, 0), Some(vec![]));
    assert!(!start(&mut cluster, "too much", large));
    cluster.pending(app, of(small), 0);
    assert_eq!(cluster.round(node, free, 0), Some(vec![app]));
    assert!(start(&mut cluster, "small", small));
    let memory = |container: &str| cluster.predicted_demand(container).unwrap().peak().memory_bytes;
    assert_eq!([memory("small"), memory("large")], [1e9, 3e9]);
}

#[test]
fn executors_of_an_unknown_priority_are_planned_at_their_request() {
    let (mut cluster, node) = cluster_of_one(settings());
    let unknown = Ask { kind: ContainerKind::Executor { priority: 7 }, ..ask(5, 1) };
    let app = waiting(&mut cluster, "a", learned(&[1.0; 5], 1.0), unknown);
    let commit = CommitRequest {
        container: "1",
        application: app,
        node,
        kind: unknown.kind,
        request: unknown.request,
        may_refuse: true,
        start_ms: 0,
    };
    let Commit::Placed(placement) = cluster.commit(commit, 0) else {
        panic!("it fits an empty node");
    };
    assert_eq!(placement.container.basis, None);
}

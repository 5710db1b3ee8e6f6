//! Containers that started before their node's size was measured.

use super::reprovisioning::report_progress;
use super::*;

fn measured() -> Resources {
    Resources::from_array([4.0, 8e9, 1e9, 2e8])
}

/// A node with a container that is planned by its request, and one whose demand has every resource.
fn with_two(report_first: bool) -> (Cluster, NodeId) {
    let mut cluster = Cluster::new(settings(), Box::new(MinFrag { peaks: Peaks::Strict }));
    let node = cluster.node_added("node-1:1", request(8, 8));
    if report_first {
        cluster.reported(node, measured(), 9_000);
    }
    let slots = [Resources::from_array([3.0, 2e9, 5e8, 1e8]); 100];
    let demands = executors(Demand::series(crate::SLOT_MS, &slots).unwrap(), 0.1);
    let known = waiting(&mut cluster, "known", demands, ask(3, 1));
    let unknown = waiting(&mut cluster, "unknown", Demands::default(), ask(2, 2));
    record(&mut cluster, "1", known, node, 3, 0);
    record(&mut cluster, "2", unknown, node, 2, 0);
    if !report_first {
        cluster.reported(node, measured(), 9_000);
    }
    (cluster, node)
}

#[test]
fn what_ran_before_the_first_report_is_planned_as_if_it_had_started_after_it() {
    let (before, node) = with_two(true);
    let (mut after, _) = with_two(false);
    let planned = |cluster: &Cluster, at_ms| cluster.node(node).unwrap().node.expected_at(at_ms);
    for at_ms in [9_000, 60_000, 400_000] {
        assert_eq!(planned(&after, at_ms), planned(&before, at_ms), "{at_ms}");
    }
    assert_eq!(planned(&after, 9_000).network_bytes_per_s, 5e8);
    for id in ["1", "2"] {
        let taken_by = |cluster: &Cluster| cluster.container(id).unwrap().taken_by.clone();
        assert_eq!(taken_by(&after), taken_by(&before), "{id}");
    }
    for id in ["1", "2"] {
        after.finished(id);
    }
    assert_eq!(planned(&after, 9_000), Resources::ZERO);
}

#[test]
fn a_size_that_is_reported_again_plans_nothing_anew() {
    let (mut cluster, node) = with_two(true);
    let start_ms = |cluster: &Cluster| {
        let container = cluster.container("1").unwrap();
        cluster.node(node).unwrap().node.get(container.executor).unwrap().start_ms
    };
    report_progress(&mut cluster, "1", 0.5, 30_000);
    let moved_ms = start_ms(&cluster);
    assert_ne!(moved_ms, 0, "it is ahead of its prediction");
    cluster.reported(node, measured(), 31_000);
    assert_eq!(start_ms(&cluster), moved_ms);
    let larger = Resources { cpu_cores: 6.0, ..measured() };
    cluster.reported(node, larger, 32_000);
    assert_eq!(start_ms(&cluster), moved_ms, "what is corrected stays so");
}

#[test]
fn what_ran_already_is_recorded_as_such() {
    let (mut cluster, node) = with_two(true);
    let app = waiting(&mut cluster, "third", Demands::default(), ask(1, 1));
    let reason = |commit| match commit {
        Commit::Placed(placement) => placement.reason,
        other => panic!("{other:?}"),
    };
    let commit = CommitRequest {
        container: "3",
        application: app,
        node,
        kind: ContainerKind::DEFAULT_EXECUTOR,
        request: request(1, 1),
        may_refuse: false,
        start_ms: 0,
    };
    assert_eq!(reason(cluster.commit(commit, 9_000)), PlacedReason::RanAlready);
    assert_eq!(reason(cluster.commit(commit, 0)), PlacedReason::NotAsked);
}

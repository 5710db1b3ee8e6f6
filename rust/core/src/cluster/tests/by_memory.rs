//! Booking by memory alone (DefaultResourceCalculator): virtual cores are requested and not counted.

use super::*;

fn cluster_by_memory() -> (Cluster, NodeId) {
    cluster_of_one(ClusterSettings { virtual_cores_count: false, ..settings() })
}

#[test]
fn an_unknown_application_fills_a_node_as_capacity_scheduler_would() {
    let (mut cluster, node) = cluster_by_memory();
    let app = waiting(&mut cluster, "a", Demands::default(), ask(1, 4));
    for container in ["1", "2", "3", "4", "5", "6", "7", "8"] {
        assert_eq!(cluster.round(node, request(16, 8), 0), Some(vec![app]));
        assert!(matches!(place(&mut cluster, container, app, node, 0), Commit::Placed(_)));
    }
    assert_eq!(cluster.round(node, request(8, 8), 0), Some(vec![]));
}

#[test]
fn a_request_for_more_virtual_cores_than_a_node_has_is_admitted_when_starving() {
    let (mut cluster, node) = cluster_by_memory();
    let hog = waiting(&mut cluster, "hog", learned(&[4.0; 100], 1.0), ask(1, 1));
    place(&mut cluster, "1", hog, node, 0);
    let app = waiting(&mut cluster, "a", learned(&[1.0], 1.0), ask(3, 10));
    let order = |cluster: &mut Cluster, now_ms| {
        cluster.reported(node, physical(), now_ms);
        let order = cluster.round(node, request(7, 8), now_ms).unwrap();
        order.contains(&app)
    };
    assert!(!order(&mut cluster, 59_999));
    assert!(order(&mut cluster, 60_000));
}

#[test]
fn containers_without_a_profile_are_weighed_by_their_virtual_cores() {
    let (mut cluster, node) = cluster_of_one(settings());
    let small = waiting(&mut cluster, "small", Demands::default(), ask(1, 1));
    let large = waiting(&mut cluster, "large", Demands::default(), ask(1, 3));
    place(&mut cluster, "1", small, node, 0);
    place(&mut cluster, "2", large, node, 0);
    let weights: Vec<_> = cluster
        .limits_on(node)
        .unwrap()
        .plans(&PlanSettings::default(), LIMITS_CPU, 0)
        .into_iter()
        .map(|(container, steps)| (container, steps[0].limits.cpu_weight_cores.unwrap()))
        .collect();
    assert_eq!(weights, [("1", 1.0), ("2", 3.0)]);
}

//! Settings that change while the cluster runs.

use super::*;

const OBSERVE: ClusterSettings = ClusterSettings {
    enforce: false,
    virtual_cores_count: true,
    max_ratio: 2.0,
    fresh_for_ms: 10_000,
    grow_every_ms: 3_000,
    starvation_wait_ms: 60_000,
};

fn go_on_by(cluster: &mut Cluster, settings: ClusterSettings) {
    cluster.go_on_by(settings, Box::new(MinFrag { peaks: Peaks::Strict }));
}

/// The changes of bookable capacity after reports and calls each second.
fn follow(cluster: &mut Cluster, node: NodeId, from_ms: i64, to_ms: i64) -> Vec<BookableChange> {
    let step = |now_ms| {
        cluster.reported(node, physical(), now_ms);
        cluster.bookable_changes(usize::MAX, now_ms)
    };
    (from_ms..=to_ms).step_by(1_000).flat_map(step).collect()
}

/// A node of 8 GB, of which containers that request 3 GB and need one have booked 12 GB.
fn overbooked() -> (Cluster, NodeId, ApplicationId) {
    let (mut cluster, node) = cluster_of_one(settings());
    let app = waiting(&mut cluster, "a", learned(&[0.2; 200], 1.0), ask(3, 1));
    follow(&mut cluster, node, 0, 12_000);
    for container in ["1", "2", "3", "4"] {
        let placed = place(&mut cluster, container, app, node, 12_000);
        assert!(matches!(placed, Commit::Placed(_)), "{placed:?}");
    }
    (cluster, node, app)
}

#[test]
fn a_node_returns_to_its_registered_size_when_enforce_is_left_and_is_decided_until_then() {
    let (mut cluster, node, app) = overbooked();
    go_on_by(&mut cluster, OBSERVE);
    assert!(cluster.decides(node, 12_500), "it is still raised");
    assert!(cluster.round(node, request(4, 4), 12_500).is_some());

    let changes = cluster.bookable_changes(usize::MAX, 13_000);
    let [BookableChange { ratio: BookableRatio::PHYSICAL, because, .. }] = changes[..] else {
        panic!("{changes:?}");
    };
    assert_eq!(because, Resized::NotEnforced);
    assert!(!cluster.decides(node, 13_000));
    assert_eq!(cluster.round(node, request(4, 4), 13_000), None);
    assert!(cluster.container("4").is_some(), "its containers stay");
    assert_eq!(follow(&mut cluster, node, 14_000, 60_000), []);
    let preemption = Preemption { node, queue: "root.default" };
    cluster.configure_queues(vec![share("root.default", 1.0, 1.0)]);
    assert!(!cluster.may_preempt(preemption, 60_000), "nor are they preempted for the lower size");
    let placed = place(&mut cluster, "5", app, node, 60_000);
    assert!(matches!(placed, Commit::Placed(_)), "CapacityScheduler decides alone: {placed:?}");
}

#[test]
fn a_node_is_raised_once_enforce_is_switched_on() {
    let (mut cluster, node) = cluster_of_one(OBSERVE);
    waiting(&mut cluster, "a", learned(&[0.5], 1.0), ask(3, 1));
    assert_eq!(follow(&mut cluster, node, 0, 12_000), []);
    go_on_by(&mut cluster, settings());
    assert!(cluster.decides(node, 12_500));
    assert!(!follow(&mut cluster, node, 13_000, 25_000).is_empty());
    assert_eq!(cluster.node(node).unwrap().bookable.memory_thousandths, 2_000);
}

#[test]
fn a_lower_ceiling_lowers_nodes_to_what_is_booked() {
    let (mut cluster, node, app) = overbooked();
    cluster.pending(app, Ask { count: 9, ..ask(3, 1) }, 12_000);
    go_on_by(&mut cluster, ClusterSettings { max_ratio: 1.0, ..settings() });
    follow(&mut cluster, node, 13_000, 30_000);
    let bookable = cluster.node(node).unwrap().bookable;
    assert_eq!(bookable, BookableRatio::PHYSICAL);
}

#[test]
fn another_policy_orders_the_next_round() {
    let (mut cluster, node) = cluster_of_one(settings());
    let small = waiting(&mut cluster, "small", learned(&[0.2; 20], 1.0), ask(3, 1));
    let large = waiting(&mut cluster, "large", learned(&[3.0; 20], 5.0), ask(6, 1));
    assert_eq!(cluster.round(node, request(8, 8), 0), Some(vec![large, small]), "MinFrag");
    let by_demand = crate::policy::named("elastane", PolicyOptions::default()).unwrap();
    cluster.go_on_by(settings(), by_demand);
    assert_eq!(cluster.round(node, request(8, 8), 0), Some(vec![small, large]), "least work first");
}

//! Bookable capacity, and who decides about a node.

use super::*;

#[test]
fn capacity_scheduler_decides_in_observe_and_without_a_fresh_report() {
    let observe = ClusterSettings { enforce: false, ..settings() };
    let (mut cluster, node) = cluster_of_one(observe);
    let app = waiting(&mut cluster, "a", Demands::default(), ask(3, 1));
    assert_eq!(cluster.round(node, request(16, 16), 0), None);
    assert!(cluster.bookable_changes(usize::MAX, 0).is_empty());

    let (mut cluster, node) = cluster_of_one(settings());
    let silent_app = waiting(&mut cluster, "a", Demands::default(), ask(9, 1));
    assert_eq!(cluster.round(node, request(16, 16), 10_001), None);
    let Commit::Placed(placement) = place(&mut cluster, "1", silent_app, node, 10_001) else {
        panic!("the core does not decide about a silent node");
    };
    assert_eq!(placement.reason, PlacedReason::CapacityScheduler);
    assert_eq!(app, silent_app);
}

#[test]
fn bookable_capacity_follows_the_reports() {
    let (mut cluster, node) = cluster_of_one(settings());
    let change = |thousandths| vec![BookableChange { node, thousandths }];
    assert_eq!(cluster.bookable_changes(usize::MAX, 0), change(2_000));
    assert_eq!(cluster.bookable_changes(usize::MAX, 10_000), []);
    assert_eq!(cluster.bookable_changes(usize::MAX, 10_001), change(1_000));
    cluster.reported(node, physical(), 12_000);
    assert_eq!(cluster.bookable_changes(0, 12_000), [], "limit 0");
    assert_eq!(cluster.bookable_changes(1, 12_000), change(2_000));
}

#[test]
fn a_queue_within_its_share_is_not_preempted_while_a_node_comes_down() {
    let (mut cluster, node) = cluster_of_one(settings());
    cluster.bookable_changes(usize::MAX, 0);
    let app = waiting(&mut cluster, "a", learned(&[1.0], 1.0), ask(3, 1));
    for container in ["1", "2", "3"] {
        place(&mut cluster, container, app, node, 0);
    }
    assert!(cluster.may_preempt(0.5, request(8, 4)), "nothing has shrunk");
    cluster.bookable_changes(usize::MAX, 20_000);
    assert!(!cluster.may_preempt(0.5, request(8, 4)), "half of 16 GB");
    assert!(cluster.may_preempt(0.5, request(9, 4)), "more memory");
    assert!(cluster.may_preempt(0.5, request(8, 9)), "more vcores");
    cluster.finished("1");
    assert!(cluster.may_preempt(0.5, request(8, 4)), "it has come down");
}

#[test]
fn a_silent_node_that_is_still_raised_is_not_left_to_capacity_scheduler() {
    let (mut cluster, node) = cluster_of_one(settings());
    cluster.bookable_changes(usize::MAX, 0);
    let app = waiting(&mut cluster, "a", Demands::default(), ask(5, 1));
    place(&mut cluster, "1", app, node, 0);
    assert!(matches!(place(&mut cluster, "2", app, node, 10_500), Commit::Refused(_)));
    cluster.bookable_changes(usize::MAX, 10_500);
    assert_eq!(cluster.round(node, request(3, 7), 10_500), None);
}

#[test]
fn uncounted_virtual_cores_neither_starve_nor_overbook() {
    let by_memory = ClusterSettings { virtual_cores_count: false, ..settings() };
    let (mut cluster, node) = cluster_of_one(by_memory);
    let hog = waiting(&mut cluster, "hog", learned(&[4.0; 100], 1.0), ask(1, 8));
    place(&mut cluster, "1", hog, node, 0);
    let app = waiting(&mut cluster, "a", learned(&[1.0], 1.0), ask(3, 8));
    assert!(matches!(place(&mut cluster, "2", app, node, 60_000), Commit::Placed(_)));
    assert!(!cluster.node(node).unwrap().is_overbooked());
}

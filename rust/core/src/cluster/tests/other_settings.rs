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

fn apply_settings(cluster: &mut Cluster, settings: ClusterSettings) {
    cluster.apply_settings(settings, Box::new(MinFrag { peaks: Peaks::Strict }));
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
    apply_settings(&mut cluster, OBSERVE);
    assert!(cluster.decides(node, 12_500), "it is still raised");
    assert!(cluster.round(node, request(4, 4), 12_500).is_some());

    let changes = cluster.bookable_changes(usize::MAX, 13_000);
    let [BookableChange { ratio: BookableRatio::REGISTERED, because, .. }] = changes[..] else {
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
    apply_settings(&mut cluster, settings());
    assert!(cluster.decides(node, 12_500));
    assert!(!follow(&mut cluster, node, 13_000, 25_000).is_empty());
    assert_eq!(cluster.node(node).unwrap().bookable.memory_thousandths, 2_000);
}

#[test]
fn a_lower_ceiling_holds_at_once_whatever_is_booked() {
    let (mut cluster, node, app) = overbooked();
    cluster.pending(app, Ask { count: 9, ..ask(3, 1) }, 12_000);
    apply_settings(&mut cluster, ClusterSettings { max_ratio: 1.0, ..settings() });
    follow(&mut cluster, node, 13_000, 30_000);
    let bookable = cluster.node(node).unwrap().bookable;
    assert_eq!(bookable, BookableRatio::REGISTERED);
}

#[test]
fn another_policy_orders_the_next_round() {
    let (mut cluster, node) = cluster_of_one(settings());
    let small = waiting(&mut cluster, "small", learned(&[0.2; 20], 1.0), ask(3, 1));
    let large = waiting(&mut cluster, "large", learned(&[3.0; 20], 5.0), ask(6, 1));
    assert_eq!(cluster.round(node, request(8, 8), 0), Some(vec![large, small]), "MinFrag");
    let by_demand = crate::policy::named("elastane", PolicyOptions::default()).unwrap();
    cluster.apply_settings(settings(), by_demand);
    assert_eq!(cluster.round(node, request(8, 8), 0), Some(vec![small, large]), "least work first");
}

#[test]
fn peaks_that_may_not_coincide_under_another_policy_do_not() {
    let (mut cluster, node) = cluster_of_one_with(settings(), Peaks::Soft);
    let app = waiting(&mut cluster, "a", learned(&[1.5; 20], 1.0), ask(1, 1));
    place(&mut cluster, "1", app, node, 0);
    place(&mut cluster, "2", app, node, 0);
    assert_eq!(cluster.round(node, request(6, 6), 0), Some(vec![app]), "soft");
    apply_settings(&mut cluster, settings());
    assert_eq!(cluster.round(node, request(6, 6), 0), Some(Vec::new()));
}

/// Nodes of 8 GB, of which these are named: with applications that prove more everywhere.
fn cluster_of_three(exceptions: &Exceptions) -> (Cluster, [NodeId; 3]) {
    let mut cluster = Cluster::new(OBSERVE, Box::new(MinFrag { peaks: Peaks::Strict }));
    cluster.set_exceptions(exceptions);
    let nodes = ["a:1", "b:1", "c:1"].map(|name| cluster.node_added(name, request(8, 8)));
    let many = Ask { count: 90, ..ask(3, 1) };
    for label in ["", "canary", "gpu"] {
        let app = waiting(&mut cluster, label, learned(&[0.5], 1.0), many);
        cluster.set_label(app, label);
        cluster.pending(app, many, 0);
    }
    (cluster, nodes)
}

/// Which nodes the core decides about, and which are raised, after reports and calls each second.
fn enforced(cluster: &mut Cluster, nodes: [NodeId; 3], from_ms: i64) -> [bool; 3] {
    for now_ms in (from_ms..=from_ms + 12_000).step_by(1_000) {
        for node in nodes {
            cluster.reported(node, physical(), now_ms);
        }
        cluster.bookable_changes(usize::MAX, now_ms);
    }
    let decided = nodes.map(|node| cluster.decides(node, from_ms + 12_000));
    let raised = nodes.map(|node| cluster.node(node).unwrap().bookable.is_raised());
    assert_eq!(decided, raised);
    let rounds = nodes.map(|node| cluster.round(node, request(16, 16), from_ms + 12_000));
    assert_eq!(decided, rounds.map(|round| round.is_some()));
    decided
}

#[test]
fn named_nodes_are_enforced_while_the_others_are_observed() {
    let enforced_nodes = ["A", "b:1", "c:2"].map(str::to_owned).into();
    let exceptions = Exceptions { enforced_nodes, ..Exceptions::default() };
    let (mut cluster, nodes) = cluster_of_three(&exceptions);
    assert_eq!(enforced(&mut cluster, nodes, 0), [true, true, false], "c has another port");
    cluster.set_exceptions(&Exceptions::default());
    assert_eq!(enforced(&mut cluster, nodes, 13_000), [false; 3]);
    apply_settings(&mut cluster, settings());
    assert_eq!(enforced(&mut cluster, nodes, 26_000), [true; 3]);
}

#[test]
fn a_label_has_a_mode_of_its_own_and_a_node_takes_it_with_the_label() {
    let enforce_by_label = [("canary".to_owned(), true), ("gpu".to_owned(), false)].into();
    let exceptions = Exceptions { enforce_by_label, ..Exceptions::default() };
    let (mut cluster, nodes) = cluster_of_three(&exceptions);
    cluster.node_labelled(nodes[0], "canary");
    cluster.node_labelled(nodes[1], "gpu");
    assert_eq!(enforced(&mut cluster, nodes, 0), [true, false, false]);
    apply_settings(&mut cluster, settings());
    assert_eq!(enforced(&mut cluster, nodes, 13_000), [true, false, true]);
    cluster.node_labelled(nodes[0], "gpu");
    assert_eq!(enforced(&mut cluster, nodes, 26_000), [false, false, true]);
}

#[test]
fn time_in_observe_counts_neither_as_a_pause_nor_as_a_wait() {
    let (mut cluster, node) = cluster_of_one(settings());
    let app = waiting(&mut cluster, "a", learned(&[0.5], 1.0), ask(3, 1));
    cluster.bookable_changes(usize::MAX, 0);
    apply_settings(&mut cluster, OBSERVE);
    for now_ms in (1_000..=100_000).step_by(1_000) {
        cluster.bookable_changes(usize::MAX, now_ms);
    }
    // CapacityScheduler places what it placed without a question to the core.
    let placed = CommitRequest {
        container: "1",
        application: app,
        node,
        kind: ContainerKind::DEFAULT_EXECUTOR,
        request: request(3, 1),
        may_refuse: false,
        start_ms: 95_000,
    };
    assert!(matches!(cluster.commit(placed, 95_000), Commit::Placed(_)));
    apply_settings(&mut cluster, settings());
    assert_eq!(cluster.bookable_changes(usize::MAX, 101_000), [], "its agent is silent");
    assert!(!cluster.decides(node, 101_000));
    assert_eq!(cluster.application(app).unwrap().waiting_since_ms, 95_000);
}

#[test]
fn what_observed_nodes_hold_counts_beside_a_guarantee() {
    let enforced_nodes = ["a".to_owned()].into();
    let exceptions = Exceptions { enforced_nodes, ..Exceptions::default() };
    let mut cluster = Cluster::new(OBSERVE, Box::new(MinFrag { peaks: Peaks::Strict }));
    cluster.set_exceptions(&exceptions);
    let nodes = ["a:1", "b:1"].map(|name| cluster.node_added(name, request(8, 8)));
    let shares = ["root.left", "root.right"].map(|queue| share(queue, 0.5, 1.0));
    cluster.configure_queues(shares.into());
    for node in nodes {
        cluster.reported(node, physical(), 0);
    }
    // The left queue holds what it asked for, on both nodes, and the right one may want its half.
    let full = waiting_in(&mut cluster, "root.left", learned(&[0.1; 200], 3.0), 3);
    for (container, node) in [("1", nodes[0]), ("2", nodes[0]), ("3", nodes[1]), ("4", nodes[1])] {
        assert!(matches!(place(&mut cluster, container, full, node, 0), Commit::Placed(_)));
    }
    cluster.pending(full, Ask { count: 0, ..ask(3, 1) }, 0);
    waiting_in(&mut cluster, "root.left", learned(&[0.1; 200], 0.1), 3);
    for now_ms in (0..=12_000).step_by(1_000) {
        cluster.reported(nodes[0], physical(), now_ms);
        cluster.reported(nodes[1], physical(), now_ms);
        cluster.bookable_changes(usize::MAX, now_ms);
    }
    let bookable = cluster.node(nodes[0]).unwrap().bookable;
    assert_eq!(bookable.memory_thousandths, 1_000, "none of the memory is to spare");
}

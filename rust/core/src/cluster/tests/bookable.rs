//! Bookable capacity, and who decides about a node.

use super::*;

fn memory(memory_thousandths: u32) -> BookableRatio {
    BookableRatio { memory_thousandths, ..BookableRatio::REGISTERED }
}

/// A node of 8 GB and an application whose containers request 3 GB and need one of them.
fn cluster_and_learned() -> (Cluster, NodeId, ApplicationId) {
    let (mut cluster, node) = cluster_of_one(settings());
    let app = waiting(&mut cluster, "a", learned(&[0.5], 1.0), ask(3, 1));
    (cluster, node, app)
}

/// The ratio after reports and calls each second, from one time to another.
fn follow(cluster: &mut Cluster, node: NodeId, from_ms: i64, to_ms: i64) -> BookableRatio {
    for now_ms in (from_ms..=to_ms).step_by(1_000) {
        cluster.reported(node, physical(), now_ms);
        cluster.bookable_changes(usize::MAX, now_ms);
    }
    cluster.node(node).unwrap().bookable
}

#[test]
fn capacity_scheduler_decides_in_observe_and_without_a_fresh_report() {
    let observe = ClusterSettings { enforce: false, ..settings() };
    let (mut cluster, node) = cluster_of_one(observe);
    let app = waiting(&mut cluster, "a", learned(&[0.5], 1.0), ask(3, 1));
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
fn a_node_is_not_raised_for_what_nobody_knows() {
    let (mut cluster, node) = cluster_of_one(settings());
    let app = waiting(&mut cluster, "a", Demands::default(), ask(3, 1));
    place(&mut cluster, "1", app, node, 0);
    assert_eq!(follow(&mut cluster, node, 0, 20_000), BookableRatio::REGISTERED);
}

#[test]
fn a_node_grows_to_what_waits_and_fits_and_falls_at_once_with_its_reports() {
    let (mut cluster, node, _) = cluster_and_learned();
    let change = |from, ratio, because| vec![BookableChange { node, from, ratio, because }];
    let registered_size = BookableRatio::REGISTERED;
    assert_eq!(cluster.bookable_changes(0, 0), [], "limit 0");
    assert_eq!(
        cluster.bookable_changes(1, 0),
        change(registered_size, memory(1_250), Resized::ByDemand)
    );
    assert_eq!(follow(&mut cluster, node, 1_000, 2_000), memory(1_250), "every 3 s");
    assert_eq!(follow(&mut cluster, node, 3_000, 12_000), memory(2_000), "up to the ceiling");
    assert_eq!(cluster.bookable_changes(usize::MAX, 14_000), []);
    assert_eq!(cluster.bookable_changes(usize::MAX, 16_900), []);
    assert_eq!(cluster.bookable_changes(usize::MAX, 19_800), []);
    let lowered = cluster.bookable_changes(usize::MAX, 22_001);
    let expected = change(memory(2_000), registered_size, Resized::Unreported);
    assert_eq!(lowered, expected, "10 s after the last report");
}

#[test]
fn a_node_that_was_short_of_memory_takes_nothing_above_its_registered_size_for_five_minutes() {
    let (mut cluster, node, app) = cluster_and_learned();
    assert_eq!(follow(&mut cluster, node, 0, 12_000), memory(2_000));
    for container in ["1", "2", "3"] {
        assert!(matches!(place(&mut cluster, container, app, node, 12_000), Commit::Placed(_)));
    }
    cluster.ran_short(node, 13_000);
    let short = cluster.bookable_changes(usize::MAX, 13_000);
    assert_eq!(short.iter().map(|it| it.because).collect::<Vec<_>>(), [Resized::ShortOfMemory]);
    assert_eq!(short[0].ratio, memory(1_125), "the 9 GB that are booked stay");
    cluster.finished("3");
    // Before the node is resized again.
    let why = RegisteredOnly::ShortOfMemory;
    assert_eq!(cluster.round(node, request(3, 3), 13_500), Some(vec![]));
    let reason = cluster.wait_reason(app, 13_500);
    assert_eq!(reason, Some(WaitReason::RegisteredOnly { node, why }));
    let Some(LimitUse::RegisteredOnly { registered, until_ms, .. }) =
        LimitUse::of(&cluster, app, 13_500)
    else {
        panic!("{:?}", LimitUse::of(&cluster, app, 13_500));
    };
    assert_eq!((registered.taken, registered.added), (6 * GB, 3 * GB));
    assert_eq!((registered.at_most, until_ms), (8 * GB, Some(313_000)));
    let refused = place(&mut cluster, "4", app, node, 13_500);
    assert_eq!(refused, Commit::Refused(Refusal::RegisteredOnly(why)));
    assert_eq!(follow(&mut cluster, node, 14_000, 312_000), BookableRatio::REGISTERED);
    cluster.finished("2");
    assert!(matches!(place(&mut cluster, "4", app, node, 312_000), Commit::Placed(_)));
    assert_eq!(follow(&mut cluster, node, 313_000, 322_000).memory_thousandths, 2_000);
    assert!(matches!(place(&mut cluster, "5", app, node, 322_000), Commit::Placed(_)));
}

#[test]
fn a_node_is_raised_only_as_far_as_containers_wait() {
    let (mut cluster, node, app) = cluster_and_learned();
    cluster.pending(app, Ask { count: 3, ..ask(3, 1) }, 0);
    assert_eq!(follow(&mut cluster, node, 0, 12_000), memory(1_125), "three containers of 3 GB");
}

#[test]
fn a_node_is_raised_for_an_application_that_its_queue_holds_back_and_no_round_names_it() {
    let (mut cluster, node, app) = cluster_and_learned();
    cluster.set_standing(app, &[], Standing::Held);
    cluster.pending(app, Ask { count: 3, ..ask(3, 1) }, 0);
    assert_eq!(follow(&mut cluster, node, 0, 80_000), memory(1_125), "as if it waited");
    for naming in [Naming::Best, Naming::Rest, Naming::Fitting] {
        let offer =
            Offer { node, free: request(16, 16), free_countables: &[], at_user_limit: &[], naming };
        assert_eq!(cluster.offer(offer, 80_000), Some(vec![]), "{naming:?}");
    }
    assert_eq!(cluster.wait_reason(app, 80_000), Some(WaitReason::Held));

    cluster.set_standing(app, &[], Standing::Ordered);
    cluster.pending(app, ask(3, 1), 80_000);
    assert_eq!(cluster.round(node, request(16, 16), 80_000), Some(vec![app]));
    let waits_since_ms = cluster.application(app).unwrap().waiting_since_ms;
    assert_eq!(waits_since_ms, 80_000, "its time with the queue does not let it starve");

    cluster.set_standing(app, &[], Standing::Held);
    cluster.pending(app, Ask { count: 0, ..ask(3, 1) }, 81_000);
    assert_eq!(cluster.wait_reason(app, 81_000), None, "it asks for nothing");
}

#[test]
fn what_runs_below_its_request_leaves_room_that_can_be_booked() {
    let (mut cluster, node, app) = cluster_and_learned();
    place(&mut cluster, "1", app, node, 0);
    place(&mut cluster, "2", app, node, 0);
    cluster.pending(app, Ask { count: 0, ..ask(3, 1) }, 0);
    let registered_memory = BookableRatio::REGISTERED.memory_thousandths;
    let ratio = follow(&mut cluster, node, 0, 12_000);
    assert_eq!(
        ratio.memory_thousandths - registered_memory,
        500,
        "6 GB that need 2, and 6 GB left"
    );
}

#[test]
fn a_queue_that_got_the_last_of_its_containers_waits_for_its_guarantee_no_more() {
    let (mut cluster, node, app) = cluster_and_learned();
    cluster.configure_queues(vec![share("root.default", 1.0, 1.0)]);
    cluster.pending(app, Ask { count: 3, ..ask(3, 1) }, 0);
    assert_eq!(follow(&mut cluster, node, 0, 3_000), memory(1_125), "three containers of 3 GB");
    place(&mut cluster, "1", app, node, 3_000);
    place(&mut cluster, "2", app, node, 3_000);
    cluster.pending(app, Ask { count: 0, ..ask(3, 1) }, 3_000);
    let ratio = follow(&mut cluster, node, 4_000, 4_000);
    assert!(ratio.memory_thousandths >= 1_125, "6 GB that need 2, and 6 GB left: {ratio:?}");
}

#[test]
fn a_node_whose_cpu_is_in_use_is_not_raised_however_little_memory_is() {
    let (mut cluster, node) = cluster_of_one(settings());
    let hog = waiting(&mut cluster, "hog", learned(&[4.0; 200], 0.1), ask(1, 1));
    place(&mut cluster, "1", hog, node, 0);
    assert_eq!(follow(&mut cluster, node, 0, 12_000), BookableRatio::REGISTERED);
}

#[test]
fn nodes_are_raised_for_what_asks_for_their_label() {
    for (asked, ratio) in [("", 1_000), ("gpu", 2_000), ("fpga", 1_000)] {
        let (mut cluster, node, app) = cluster_and_learned();
        cluster.node_labelled(node, "gpu");
        cluster.set_label(app, asked);
        cluster.pending(app, ask(3, 1), 0);
        assert_eq!(follow(&mut cluster, node, 0, 12_000), memory(ratio), "{asked}");
    }
}

#[test]
fn labels_have_ceilings_of_their_own() {
    let (mut cluster, node, app) = cluster_and_learned();
    cluster.node_labelled(node, "gpu");
    cluster.set_label(app, "gpu");
    cluster.pending(app, ask(3, 1), 0);
    let max_ratio_by_label = [("gpu".to_owned(), 1.5)].into();
    cluster.set_exceptions(&Exceptions { max_ratio_by_label, ..Exceptions::default() });
    assert_eq!(follow(&mut cluster, node, 0, 12_000), memory(1_500));
}

#[test]
fn a_pause_of_the_process_lowers_no_node() {
    let (mut cluster, node, _) = cluster_and_learned();
    assert_eq!(follow(&mut cluster, node, 0, 12_000), memory(2_000));
    assert_eq!(cluster.bookable_changes(usize::MAX, 72_000), [], "a minute's pause");
    for now_ms in (73_000..=82_000).step_by(1_000) {
        assert_eq!(cluster.bookable_changes(usize::MAX, now_ms), []);
    }
    assert_eq!(cluster.bookable_changes(usize::MAX, 82_001).len(), 1, "no report since");
}

#[test]
fn no_container_goes_to_a_node_that_registered_less() {
    let (mut cluster, node, _) = cluster_and_learned();
    let large = waiting(&mut cluster, "large", learned(&[0.1], 0.1), ask(9, 1));
    follow(&mut cluster, node, 0, 12_000);
    let named = cluster.round(node, request(16, 16), 12_000).unwrap();
    assert!(!named.contains(&large), "{named:?}");
    let refused = place(&mut cluster, "1", large, node, 12_000);
    assert_eq!(refused, Commit::Refused(Refusal::LargerThanNode));
}

#[test]
fn a_silent_node_that_is_still_raised_is_not_left_to_capacity_scheduler() {
    let (mut cluster, node, _) = cluster_and_learned();
    cluster.bookable_changes(usize::MAX, 0);
    let unknown = waiting(&mut cluster, "unknown", Demands::default(), ask(5, 1));
    place(&mut cluster, "1", unknown, node, 0);
    assert!(matches!(place(&mut cluster, "2", unknown, node, 10_500), Commit::Refused(_)));
    for now_ms in (1_000..=10_000).step_by(1_000).chain([10_500]) {
        cluster.bookable_changes(usize::MAX, now_ms);
    }
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

#[test]
fn nodes_that_go_down_come_before_nodes_that_go_up() {
    let (mut cluster, first) = cluster_of_one(settings());
    let second = cluster.node_added("node-2:1", request(8, 8));
    cluster.reported(second, physical(), 0);
    waiting(&mut cluster, "a", learned(&[0.2], 1.0), ask(3, 1));
    assert_eq!(
        cluster.bookable_changes(1, 0).iter().map(|it| it.node).collect::<Vec<_>>(),
        [first]
    );
    cluster.bookable_changes(1, 1_000);
    assert!(cluster.node(second).unwrap().bookable.is_raised());
    // The second one is silent from now on, and the first one may go up again.
    for now_ms in (2_000..=11_000).step_by(1_000) {
        cluster.reported(first, physical(), now_ms);
        assert_eq!(cluster.bookable_changes(0, now_ms), [], "limit 0");
    }
    let changes = cluster.bookable_changes(1, 11_000);
    assert_eq!(changes.iter().map(|it| it.node).collect::<Vec<_>>(), [second]);
    assert!(!cluster.node(second).unwrap().bookable.is_raised());
}

#[test]
fn where_raising_is_forbidden_no_node_is_raised_and_raised_ones_come_down() {
    let (mut cluster, node, _) = cluster_and_learned();
    cluster.forbid_raising(true);
    assert_eq!(follow(&mut cluster, node, 0, 12_000), BookableRatio::REGISTERED);
    cluster.forbid_raising(false);
    assert_eq!(follow(&mut cluster, node, 13_000, 25_000), memory(2_000));
    cluster.forbid_raising(true);
    assert_eq!(follow(&mut cluster, node, 26_000, 26_000), BookableRatio::REGISTERED, "at once");
}

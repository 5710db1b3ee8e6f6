//! When waiting applications are expected to start.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use proptest::prelude::*;

use super::*;
use crate::SLOT_MS;
use crate::cluster::{ExpectedStart, StartForecast, plan_starts};
use crate::policy::{ElastanePolicy, Favor};

mod long_queues;

/// Two nodes of 8 GB where CapacityScheduler decides.
fn observed() -> (Cluster, [NodeId; 2]) {
    let settings = ClusterSettings { enforce: false, ..settings() };
    let (mut cluster, first) = cluster_of_one(settings);
    let second = cluster.node_added("node-2:1", request(8, 8));
    (cluster, [first, second])
}

/// Runs for this number of slots and holds what it requests.
fn lasting(slots: usize) -> Demands {
    learned(&vec![0.5; slots], 0.5)
}

/// A container of this size runs from time 0 on.
fn runs(cluster: &mut Cluster, node: NodeId, demands: Demands, memory_gb: u64) -> ApplicationId {
    let app = waiting(cluster, "runs", demands, ask(memory_gb, 1));
    let container = format!("{app:?}");
    record(cluster, &container, app, node, memory_gb, 0);
    cluster.pending(app, Ask { count: 0, ..ask(1, 1) }, 0);
    app
}

/// Waits for one container since `since_ms`.
fn waits(cluster: &mut Cluster, demands: Demands, memory_gb: u64, since_ms: i64) -> ApplicationId {
    let app = Application::new("waits", "waits", "root.default", demands, since_ms);
    let app = cluster.application_added(app);
    cluster.pending(app, Ask { count: 1, ..ask(memory_gb, 1) }, since_ms);
    app
}

fn expected(cluster: &Cluster, now_ms: i64) -> impl Fn(ApplicationId) -> Option<ExpectedStart> {
    let starts = StartForecast::of(cluster, now_ms).run();
    move |id| starts.get(&id).copied()
}

fn at(slots: i64) -> Option<ExpectedStart> {
    Some(ExpectedStart { at_ms: slots * i64::from(SLOT_MS), is_rough: false })
}

#[test]
fn each_starts_when_there_is_room_for_it_and_for_those_before_it() {
    let (mut cluster, [first, second]) = observed();
    runs(&mut cluster, first, lasting(10), 8);
    runs(&mut cluster, second, lasting(30), 8);
    let large = waits(&mut cluster, lasting(100), 6, 0);
    let behind = waits(&mut cluster, lasting(100), 6, 0);
    let small = waits(&mut cluster, lasting(100), 2, 0);
    let expected = expected(&cluster, 0);
    assert_eq!(expected(large), at(10));
    assert_eq!(expected(behind), at(30));
    assert_eq!(expected(small), at(10), "it has room beside the first one");
}

#[test]
fn those_that_start_end_again() {
    let (mut cluster, [first, second]) = observed();
    runs(&mut cluster, first, lasting(10), 8);
    runs(&mut cluster, second, lasting(1_000), 8);
    waits(&mut cluster, lasting(7), 8, 0);
    let behind = waits(&mut cluster, lasting(1), 8, 0);
    assert_eq!(expected(&cluster, 0)(behind), at(17));
}

#[test]
fn an_end_that_is_not_predicted_is_guessed_and_told() {
    let (mut cluster, [first, second]) = observed();
    runs(&mut cluster, first, Demands::default(), 8);
    runs(&mut cluster, second, lasting(1_000), 8);
    let other = runs(&mut cluster, second, Demands::default(), 0);
    cluster.application_moved(other, "root.b");
    let app = waits(&mut cluster, lasting(1), 8, 200_000);
    let rough = Some(ExpectedStart { at_ms: 400_000, is_rough: true });
    assert_eq!(expected(&cluster, 200_000)(app), rough, "as long again as it has run");
}

#[test]
fn only_what_needs_an_end_that_is_not_predicted_is_rough() {
    let (mut cluster, [first, second]) = observed();
    runs(&mut cluster, second, lasting(1_000), 8);
    runs(&mut cluster, first, Demands::default(), 4);
    runs(&mut cluster, first, lasting(50), 2);
    let large = waits(&mut cluster, lasting(1_000), 6, 0);
    let small = waits(&mut cluster, lasting(1), 2, 0);
    let expected = expected(&cluster, 0);
    assert_eq!(expected(small), at(0), "2 GB are free");
    let rough = ExpectedStart { at_ms: 60_000, is_rough: true };
    assert_eq!(expected(large), Some(rough), "they are not enough without the other 4 GB");
}

#[test]
fn one_that_could_start_and_does_not_is_held_up_by_something_unknown() {
    let (mut cluster, [first, _]) = observed();
    runs(&mut cluster, first, lasting(20), 8);
    let held_up = waits(&mut cluster, lasting(1), 8, 0);
    assert_eq!(expected(&cluster, 0)(held_up), at(0));
    let behind = waits(&mut cluster, lasting(1), 8, 11_000);
    let expected = expected(&cluster, 11_000);
    assert_eq!(expected(held_up), None);
    let now = Some(ExpectedStart { at_ms: 11_000, is_rough: false });
    assert_eq!(expected(behind), now, "nobody takes the other node");
}

#[test]
fn a_queue_at_its_maximum_waits_for_its_own_containers() {
    let (mut cluster, [first, _]) = observed();
    cluster.configure_queues(vec![
        share("root", 1.0, 1.0),
        share("root.default", 0.5, 0.5),
        share("root.b", 0.5, 1.0),
    ]);
    runs(&mut cluster, first, lasting(10), 4);
    runs(&mut cluster, first, lasting(20), 4);
    let app = waits(&mut cluster, lasting(1), 8, 0);
    assert_eq!(expected(&cluster, 0)(app), at(20), "the other node is empty");
    cluster.application_moved(app, "root.b");
    assert_eq!(expected(&cluster, 0)(app), at(0));
}

/// A node of each label: none, `gpu` and, not exclusive, `old`. Each is full for 10, 20 and 30 slots.
fn labelled() -> Cluster {
    let (mut cluster, [plain, gpu]) = observed();
    let old = cluster.node_added("node-3:1", request(8, 8));
    cluster.node_labelled(gpu, "gpu");
    cluster.node_labelled(old, "old");
    let of_label = |label: &str| QueueShare {
        label: label.to_owned(),
        is_label_shared: label == "old",
        ..share("root.default", 1.0, 1.0)
    };
    cluster.configure_queues(["", "gpu", "old"].map(of_label).into());
    for (node, slots) in [(plain, 10), (gpu, 20), (old, 30)] {
        runs(&mut cluster, node, lasting(slots), 8);
    }
    cluster
}

fn waits_for_label(cluster: &mut Cluster, label: &str) -> ApplicationId {
    let app = Application::new("waits", "waits", "root.default", lasting(1_000), 0);
    let app = cluster.application_added(app);
    cluster.set_label(app, label);
    cluster.pending(app, Ask { count: 1, ..ask(8, 1) }, 0);
    app
}

#[test]
fn each_starts_on_a_node_with_the_label_that_it_asks_for() {
    let mut cluster = labelled();
    let apps = ["gpu", "old", "", ""].map(|label| waits_for_label(&mut cluster, label));
    let expected = expected(&cluster, 0);
    let [gpu, old, none, behind] = apps.map(expected);
    assert_eq!([gpu, old, none], [at(20), at(30), at(10)]);
    assert_eq!(behind, at(1_010), "it waits for the one before it");
}

#[test]
fn nodes_with_a_label_that_is_not_exclusive_are_lent() {
    let mut cluster = labelled();
    let apps = ["", "", ""].map(|label| waits_for_label(&mut cluster, label));
    let expected = expected(&cluster, 0);
    let [first, second, third] = apps.map(expected);
    assert_eq!([first, second], [at(10), at(30)]);
    assert_eq!(third, at(1_010), "the other label's node takes nobody");
}

#[test]
fn one_that_asks_for_a_label_that_no_node_has_is_not_expected() {
    let mut cluster = labelled();
    let app = waits_for_label(&mut cluster, "fpga");
    assert_eq!(expected(&cluster, 0)(app), None);
}

#[test]
fn a_held_application_starts_when_a_master_of_its_queue_ends() {
    let slots = vec![Resources::from_array([0.1, 1e9, 0.0, 0.0]); 15];
    let master = Predicted::of(
        Demand::series(SLOT_MS, &slots).unwrap(),
        0.0,
        Basis::Profile("profile".into()),
    );
    let known = Demands::from_iter([(ContainerKind::ApplicationMaster, master)]);
    assert_eq!(start_behind_a_master(known), at(15));
    let rough = Some(ExpectedStart { at_ms: 60_000, is_rough: true });
    assert_eq!(start_behind_a_master(Demands::default()), rough);
}

/// When an application is expected to start that is held while this one's application master runs.
fn start_behind_a_master(demands: Demands) -> Option<ExpectedStart> {
    let (mut cluster, [first, _]) = observed();
    let running = waiting(&mut cluster, "runs", demands, ask(1, 1));
    let commit = CommitRequest {
        container: "master",
        application: running,
        node: first,
        kind: ContainerKind::ApplicationMaster,
        request: request(1, 1),
        may_refuse: false,
        start_ms: 0,
    };
    cluster.commit(commit, 0);
    cluster.pending(running, Ask { count: 0, ..ask(1, 1) }, 0);
    let held = waits(&mut cluster, lasting(1), 1, 0);
    cluster.set_standing(held, &[], Standing::Held);
    let master = ContainerKind::ApplicationMaster;
    cluster.pending(held, Ask { kind: master, count: 1, ..ask(1, 1) }, 0);
    expected(&cluster, 0)(held)
}

#[test]
fn where_the_core_decides_it_waits_for_its_demand_and_starves_at_last() {
    let (mut cluster, node) = cluster_of_one(settings());
    let busy = learned(&[4.0; 1_000], 1.0);
    runs(&mut cluster, node, busy, 2);
    let app = waits(&mut cluster, learned(&[2.0; 5], 1.0), 2, 0);
    let starves = settings().starvation_wait_ms;
    let start = ExpectedStart { at_ms: starves, is_rough: false };
    assert_eq!(expected(&cluster, 0)(app), Some(start));
}

#[test]
fn a_plan_that_is_earlier_counts() {
    let policy = ElastanePolicy { peaks: Peaks::Strict, favor: Favor::Balanced };
    let mut cluster = Cluster::new(settings(), Box::new(policy));
    let node = cluster.node_added("node-1:1", request(8, 8));
    cluster.reported(node, physical(), 0);
    let mut cores = vec![3.0; 5];
    cores.resize(25, 0.5);
    runs(&mut cluster, node, learned(&cores, 1.0), 1);
    let app = waits(&mut cluster, learned(&[3.5; 10], 1.0), 1, 0);
    assert_eq!(expected(&cluster, 0)(app), at(20), "it starves after a minute");
    plan_starts(&mut cluster, 0);
    assert_eq!(expected(&cluster, 0)(app), at(5), "the peak is over");
}

#[test]
fn a_node_that_holds_more_than_its_size_has_room_once_that_has_ended() {
    let (mut cluster, [first, second]) = observed();
    runs(&mut cluster, second, lasting(1_000), 8);
    for slots in [10, 20] {
        runs(&mut cluster, first, lasting(slots), 6);
    }
    let app = waits(&mut cluster, lasting(1), 6, 0);
    assert_eq!(expected(&cluster, 0)(app), at(20));
}

#[test]
fn without_any_node_nothing_is_expected() {
    let (mut cluster, nodes) = observed();
    let app = waits(&mut cluster, lasting(1), 1, 0);
    let mut forecast = StartForecast::new(&cluster, 0);
    nodes.iter().for_each(|node| forecast.add_node(&cluster, *node));
    nodes.iter().for_each(|node| cluster.node_removed(*node));
    let ask = cluster.application(app).and_then(|it| it.waiting).unwrap();
    forecast.add_waiting(&cluster, app, &ask);
    assert_eq!(forecast.run().get(&app), None);
}

#[test]
fn a_node_that_is_drained_takes_nobody() {
    let (mut cluster, [first, second]) = observed();
    runs(&mut cluster, first, lasting(10), 8);
    drain(&mut cluster, &[second]);
    let app = waits(&mut cluster, lasting(1), 8, 0);
    assert_eq!(expected(&cluster, 0)(app), at(10));
}

#[test]
fn what_ends_on_a_drained_node_gives_its_queue_room() {
    let (mut cluster, [first, second]) = observed();
    cluster.configure_queues(vec![share("root", 1.0, 1.0), share("root.default", 0.5, 0.5)]);
    runs(&mut cluster, second, lasting(10), 8);
    drain(&mut cluster, &[second]);
    let app = waits(&mut cluster, lasting(1), 8, 0);
    assert_eq!(expected(&cluster, 0)(app), at(10));
    assert!(cluster.node(first).unwrap().containers().next().is_none());
}

proptest! {
    /// Containers that fill a node are served like people at counters: first come, first served.
    #[test]
    fn equal_containers_are_served_as_at_counters(
        running in proptest::collection::vec(1_usize..50, 1..6),
        lengths in proptest::collection::vec(1_usize..50, 1..20),
    ) {
        let settings = ClusterSettings { enforce: false, ..settings() };
        let mut cluster = Cluster::new(settings, Box::new(MinFrag { peaks: Peaks::Strict }));
        let mut counters = BinaryHeap::new();
        for (number, slots) in running.into_iter().enumerate() {
            let node = cluster.node_added(&format!("node-{number}:1"), request(8, 8));
            runs(&mut cluster, node, lasting(slots), 8);
            counters.push(Reverse(slots as i64));
        }
        let mut served = Vec::new();
        for slots in lengths {
            let app = waits(&mut cluster, lasting(slots), 8, 0);
            let Reverse(free) = counters.pop().unwrap();
            counters.push(Reverse(free + slots as i64));
            served.push((app, free));
        }
        let expected = expected(&cluster, 0);
        for (app, free) in served {
            prop_assert_eq!(expected(app), at(free));
        }
    }
}

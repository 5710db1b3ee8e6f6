//! The cluster's behaviour as a scheduler sees it.

use super::*;
use crate::demand::Demand;
use crate::fit::Peaks;
use crate::plan::PlanSettings;
use crate::policy::{MinFrag, PolicyOptions};
use elastane_protocol::{CanLimit, Step};

mod bookable;
mod by_memory;
mod churn;
mod countables;
mod deadlines;
mod forecast;
mod foreseeing;
mod grid;
mod guarantee;
mod keeping;
mod known_rows;
mod measured_size;
mod other_settings;
mod overcommitting;
mod overdue;
mod owed_flows;
mod planned_anew;
mod preempting;
mod queue_modes;
mod queues;
mod remaining;
mod reprovisioning;
mod reprovisioning_ends;
mod reprovisioning_slot_by_slot;
mod reprovisioning_throttled;
mod reprovisioning_unused;
mod reservable;
mod rows;
mod skipping;
mod starts;
mod starts_slot_by_slot;
mod starving;
mod turns;
mod users;

const GB: u64 = 1_000_000_000;
const LIMITS_CPU: CanLimit = CanLimit {
    cpu: true,
    memory: false,
    disk: false,
    network_sent: false,
    network_received: false,
};

impl<'a> NodeLimits<'a> {
    /// Of every container that is limited, by id.
    fn plans(
        &self,
        settings: &PlanSettings,
        can_limit: CanLimit,
        now_ms: i64,
    ) -> Vec<(&'a str, Vec<Step>)> {
        let all = self.containers();
        let plans = all.map(|(id, _, limits)| (&**id, limits.steps(settings, can_limit, now_ms)));
        let mut plans: Vec<_> = plans.filter(|(_, steps)| !steps.is_empty()).collect();
        plans.sort_unstable_by_key(|(id, _)| *id);
        plans
    }
}

fn settings() -> ClusterSettings {
    ClusterSettings {
        enforce: true,
        virtual_cores_count: true,
        max_ratio: 2.0,
        fresh_for_ms: 10_000,
        grow_every_ms: 3_000,
        starvation_wait_ms: 60_000,
    }
}

fn request(memory_gb: u64, vcores: u32) -> Request {
    Request { memory_bytes: memory_gb * GB, vcores }
}

fn ask(memory_gb: u64, vcores: u32) -> Ask {
    Ask {
        kind: ContainerKind::DEFAULT_EXECUTOR,
        priority: 0,
        request: request(memory_gb, vcores),
        count: 9,
    }
}

/// 8 GB and 8 vcores registered, 4 cores and 8 GB measured at time 0.
fn cluster_of_one(settings: ClusterSettings) -> (Cluster, NodeId) {
    cluster_of_one_with(settings, Peaks::Strict)
}

fn cluster_of_one_with(settings: ClusterSettings, peaks: Peaks) -> (Cluster, NodeId) {
    let mut cluster = Cluster::new(settings, Box::new(MinFrag { peaks }));
    let node = cluster.node_added("node-1:1", request(8, 8));
    cluster.reported(node, physical(), 0);
    (cluster, node)
}

fn physical() -> Resources {
    Resources::from_array([4.0, 8e9, 0.0, 0.0])
}

fn learned(cpu_cores: &[f64], memory_gb: f64) -> Demands {
    let slots: Vec<_> = cpu_cores
        .iter()
        .map(|cores| Resources::from_array([*cores, memory_gb * 1e9, 0.0, 0.0]))
        .collect();
    executors(Demand::series(crate::SLOT_MS, &slots).unwrap(), 0.0)
}

fn executors(demand: Demand, margin: f64) -> Demands {
    let predicted = Predicted::of(demand, margin, Basis::Profile("profile".into()));
    Demands::from_iter([(ContainerKind::DEFAULT_EXECUTOR, predicted)])
}

/// A queue's share of the nodes without a label.
fn share(queue: &str, capacity: f64, maximum: f64) -> QueueShare {
    QueueShare {
        queue: queue.to_owned(),
        is_leaf: queue != "root",
        capacity,
        maximum,
        ..QueueShare::default()
    }
}

fn waiting(cluster: &mut Cluster, name: &str, demands: Demands, ask: Ask) -> ApplicationId {
    let id = cluster.application_added(Application::new(name, name, "root.default", demands, 0));
    cluster.pending(id, ask, 0);
    id
}

/// An application of a queue that waits for containers of this size.
fn waiting_in(
    cluster: &mut Cluster,
    queue: &str,
    demands: Demands,
    memory_gb: u64,
) -> ApplicationId {
    let app = waiting(cluster, queue, demands, ask(memory_gb, 1));
    cluster.application_moved(app, queue);
    app
}

fn place(
    cluster: &mut Cluster,
    container: &str,
    application: ApplicationId,
    node: NodeId,
    now_ms: i64,
) -> Commit {
    let request = cluster
        .application(application)
        .and_then(|application| application.waiting)
        .unwrap()
        .request;
    cluster.commit(
        CommitRequest {
            container,
            application,
            node,
            kind: ContainerKind::DEFAULT_EXECUTOR,
            request,
            may_refuse: true,
            start_ms: now_ms,
        },
        now_ms,
    )
}

/// Records a container that the core may not refuse.
fn record(
    cluster: &mut Cluster,
    container: &str,
    application: ApplicationId,
    node: NodeId,
    memory_gb: u64,
    start_ms: i64,
) -> Commit {
    let commit = CommitRequest {
        container,
        application,
        node,
        kind: ContainerKind::DEFAULT_EXECUTOR,
        request: request(memory_gb, 1),
        may_refuse: false,
        start_ms,
    };
    cluster.commit(commit, start_ms)
}

#[test]
fn an_unknown_application_is_planned_at_its_request_within_the_physical_size() {
    let (mut cluster, node) = cluster_of_one(settings());
    let app = waiting(&mut cluster, "a", Demands::default(), ask(3, 1));
    for container in ["1", "2"] {
        assert_eq!(cluster.round(node, request(16, 16), 0), Some(vec![app]));
        assert!(matches!(place(&mut cluster, container, app, node, 0), Commit::Placed(_)));
    }
    assert_eq!(cluster.round(node, request(10, 14), 0), Some(vec![]));
    let Commit::Refused(refusal) = place(&mut cluster, "3", app, node, 0) else {
        panic!("a third container of 3 GB does not fit 8 GB");
    };
    assert_eq!(refusal.to_string(), "memory demand exceeds what is available by 953.7 MiB");
}

#[test]
fn a_learned_application_exceeds_the_physical_size_by_request_but_not_by_demand() {
    let (mut cluster, node) = cluster_of_one(settings());
    let app = waiting(&mut cluster, "a", learned(&[1.0, 1.0], 1.0), ask(3, 1));
    for container in ["1", "2", "3", "4"] {
        let Commit::Placed(placement) = place(&mut cluster, container, app, node, 0) else {
            panic!("container {container} fits by its demand");
        };
        assert_eq!(placement.reason, PlacedReason::Fits);
    }
    assert!(cluster.node(node).unwrap().is_overbooked());
    let Commit::Refused(refusal) = place(&mut cluster, "5", app, node, 0) else {
        panic!("four cores are taken");
    };
    assert!(refusal.to_string().starts_with("cpu"), "{refusal}");
    assert!(matches!(place(&mut cluster, "5", app, node, 6_000), Commit::Refused(_)));
    cluster.finished("1");
    assert!(matches!(place(&mut cluster, "5", app, node, 6_000), Commit::Placed(_)));
}

#[test]
fn priority_orders_the_fitting_applications_before_the_policy() {
    let (mut cluster, node) = cluster_of_one(settings());
    let small = waiting(&mut cluster, "small", learned(&[1.0], 1.0), ask(1, 1));
    let large = waiting(&mut cluster, "large", learned(&[3.0], 6.0), ask(1, 1));
    let free = request(16, 16);
    assert_eq!(cluster.round(node, free, 0), Some(vec![large, small]));
    let urgent = Ask { priority: 5, ..ask(1, 1) };
    cluster.pending(small, urgent, 0);
    assert_eq!(cluster.round(node, free, 0), Some(vec![small, large]));
}

#[test]
fn an_ask_above_the_free_space_is_left_out_so_that_no_node_is_reserved() {
    let (mut cluster, node) = cluster_of_one(settings());
    waiting(&mut cluster, "a", learned(&[1.0], 1.0), ask(3, 1));
    assert_eq!(cluster.round(node, request(2, 16), 0), Some(vec![]));
    assert_eq!(cluster.round(node, request(16, 0), 0), Some(vec![]));
}

#[test]
fn each_queue_lists_its_best_few() {
    let (mut cluster, node) = cluster_of_one(settings());
    for _ in 0..40 {
        waiting(&mut cluster, "a", learned(&[2.0], 1.0), ask(1, 1));
    }
    let other = waiting(&mut cluster, "b", learned(&[0.1], 0.1), ask(1, 1));
    cluster.application_moved(other, "root.other");
    let order = cluster.round(node, request(16, 16), 0).unwrap();
    assert_eq!(order.len(), ROUND_LIMIT + 1);
    assert!(order.contains(&other));
}

#[test]
fn no_application_starves_with_room_by_request() {
    let (mut cluster, node) = cluster_of_one(settings());
    let hog = waiting(&mut cluster, "hog", learned(&[4.0; 100], 1.0), ask(1, 1));
    place(&mut cluster, "1", hog, node, 0);
    cluster.pending(hog, Ask { count: 0, ..ask(1, 1) }, 0);
    let app = waiting(&mut cluster, "a", learned(&[1.0], 1.0), ask(3, 1));
    cluster.reported(node, physical(), 59_000);
    assert_eq!(cluster.round(node, request(16, 16), 59_999), Some(vec![]));
    assert_eq!(cluster.round(node, request(16, 16), 60_000), Some(vec![app]));
    let Commit::Placed(placement) = place(&mut cluster, "2", app, node, 60_000) else {
        panic!("it has waited for a minute");
    };
    assert_eq!(placement.reason, PlacedReason::Starving);
    assert_eq!(
        cluster.round(node, request(16, 16), 60_000),
        Some(vec![]),
        "its wait begins anew with each container"
    );
}

#[test]
fn a_container_reported_twice_is_booked_once_and_its_end_undoes_it() {
    let (mut cluster, node) = cluster_of_one(settings());
    let app = waiting(&mut cluster, "a", learned(&[1.0], 1.0), ask(3, 1));
    let before = cluster.node(node).unwrap().clone();
    place(&mut cluster, "1", app, node, 0);
    place(&mut cluster, "1", app, node, 0);
    assert_eq!(cluster.node(node).unwrap().booked, request(3, 1));
    cluster.finished("1");
    assert_eq!(cluster.node(node).unwrap().booked, before.booked);
    assert_eq!(cluster.node(node).unwrap().node, before.node);
}

#[test]
fn a_requests_cores_follow_the_physical_cores() {
    let (cluster, node) = cluster_of_one(settings());
    assert_eq!(cluster.node(node).unwrap().request_resources(request(1, 2)).cpu_cores, 1.0);
}

#[test]
fn an_application_without_a_profile_gets_an_equal_share_of_the_cpu() {
    let (mut cluster, node) = cluster_of_one(settings());
    let unknown = waiting(&mut cluster, "unknown", Demands::default(), ask(1, 1));
    let known = waiting(&mut cluster, "known", learned(&[1.0, 0.5], 1.0), ask(1, 1));
    place(&mut cluster, "1", unknown, node, 0);
    place(&mut cluster, "2", known, node, 0);
    let plans = cluster.limits_on(node).unwrap().plans(&PlanSettings::default(), LIMITS_CPU, 0);
    assert_eq!(plans[0].0, "1");
    assert_eq!(plans[0].1[0].limits.cpu_weight_cores.unwrap(), 2.0);
    let weights: Vec<_> =
        plans[1].1.iter().map(|step| step.limits.cpu_weight_cores.unwrap()).collect();
    assert_eq!(weights, [1.0, 0.5]);
}

#[test]
fn with_its_margin_a_demand_still_fits_an_empty_node() {
    let (mut cluster, node) = cluster_of_one(settings());
    let slots = [Resources::from_array([3.9, 7.9e9, 0.0, 0.0])];
    let demands = executors(Demand::series(crate::SLOT_MS, &slots).unwrap(), 0.5);
    let app = waiting(&mut cluster, "a", demands, ask(8, 1));
    assert_eq!(cluster.round(node, request(8, 8), 0), Some(vec![app]));
}

#[test]
fn an_application_master_waits_a_minute_at_most_for_running_applications_that_lack_memory() {
    let settings = ClusterSettings { starvation_wait_ms: 180_000, ..settings() };
    let (mut cluster, node) = cluster_of_one(settings);
    let free = request(16, 16);
    let runs = waiting(&mut cluster, "runs", Demands::default(), ask(5, 1));
    place(&mut cluster, "1", runs, node, 0);
    let master = Ask { kind: ContainerKind::ApplicationMaster, ..ask(1, 1) };
    let starts = waiting(&mut cluster, "starts", Demands::default(), master);
    let elsewhere = waiting(&mut cluster, "elsewhere", Demands::default(), master);
    cluster.application_moved(elsewhere, "root.other");

    let both = Some(vec![starts, elsewhere]);
    assert_eq!(cluster.round(node, free, 0), both, "no round has refused anyone yet");
    assert_eq!(cluster.round(node, free, 0), Some(vec![elsewhere]));
    cluster.reported(node, physical(), 59_999);
    assert_eq!(cluster.round(node, free, 59_999), Some(vec![elsewhere]));
    assert_eq!(cluster.round(node, free, 60_000), both, "not for ever");

    let nothing = |ask| Ask { count: 0, ..ask };
    cluster.pending(runs, nothing(ask(5, 1)), 60_000);
    cluster.pending(starts, nothing(master), 60_000);
    cluster.pending(starts, master, 60_000);
    assert_eq!(cluster.round(node, free, 60_000), both, "no application lacks memory");
}

#[test]
fn on_equal_scores_the_first_application_gets_all_its_executors_first() {
    let (mut cluster, node) = cluster_of_one(settings());
    let first = waiting(&mut cluster, "first", Demands::default(), ask(1, 1));
    let second = waiting(&mut cluster, "second", Demands::default(), ask(1, 1));
    place(&mut cluster, "1", first, node, 1_000);
    let order = cluster.round(node, request(16, 16), 1_000);
    assert_eq!(order, Some(vec![first, second]));
}

#[test]
fn peaks_that_may_coincide_let_starts_overlap() {
    let start_then_idle = || learned(&[4.0, 0.5, 0.5], 1.0);
    for (peaks, fits) in [(Peaks::Strict, false), (Peaks::Soft, true)] {
        let (mut cluster, node) = cluster_of_one_with(settings(), peaks);
        let app = waiting(&mut cluster, "a", start_then_idle(), ask(1, 1));
        place(&mut cluster, "1", app, node, 0);
        let order = cluster.round(node, request(16, 16), 0).unwrap();
        assert_eq!(order.contains(&app), fits, "{peaks:?}");
    }
}

#[test]
fn an_applications_allocation_is_the_sum_of_its_running_requests() {
    let (mut cluster, node) = cluster_of_one(settings());
    let app = waiting(&mut cluster, "a", Demands::default(), ask(2, 1));
    place(&mut cluster, "1", app, node, 0);
    place(&mut cluster, "2", app, node, 0);
    let held = |cluster: &Cluster| {
        let application = cluster.application(app).unwrap();
        (application.running, application.allocated)
    };
    assert_eq!(held(&cluster), (2, request(4, 2)));
    cluster.finished("1");
    assert_eq!(held(&cluster), (1, request(2, 1)));
    cluster.node_removed(node);
    assert_eq!(held(&cluster), (0, request(0, 0)));
}

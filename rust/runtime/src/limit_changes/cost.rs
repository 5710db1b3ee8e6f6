//! What comparing limits adds to the answer to a report of 50 containers.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that prints its figures")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use elastane_core::cluster::{
    Application, Basis, ClusterSettings, CommitRequest, Demands, Predicted, Request,
};
use elastane_core::policy::{self, PolicyOptions};
use elastane_core::{ContainerKind, Demand, Resources, SLOT_MS};
use elastane_protocol::{Capacity, Usage};

use super::*;

const CONTAINERS: usize = 50;
const REPORTS: usize = 400;
const GB: u64 = 1 << 30;
const NODE: Request = Request { memory_bytes: 256 * GB, vcores: 64 };
const REQUEST: Request = Request { memory_bytes: 4 * GB, vcores: 1 };

#[test]
#[ignore = "the bound is that of an optimized build: make bench-limits"]
fn comparing_limits_takes_less_than_half_of_the_time_of_planning_them() {
    let mut too_long = Vec::new();
    for (case, changed, cores) in
        [("none_changes", 0, [0.5, 0.5]), ("all_change", CONTAINERS, [0.5, 1.0])]
    {
        let (planned_us, compared_us) = medians_us(cores, changed);
        let added_us = compared_us - planned_us;
        println!(
            "limits case={case} containers={CONTAINERS} planned_us={planned_us:.1} compared_us={compared_us:.1} \
             added_us={added_us:.1}"
        );
        if added_us > planned_us / 2.0 {
            too_long.push(case);
        }
    }
    assert_eq!(too_long, [""; 0]);
}

/// The median times of the same answers, without and with the comparison. `changed` is the number of containers whose
/// limits change with each report.
fn medians_us(cores: [f64; 2], changed: usize) -> (f64, f64) {
    let settings = all_limits();
    let (mut cluster, node) = cluster(cores);
    let report = report();
    let mut changes = LimitChanges::default();
    let (mut planned, mut compared) = (Vec::new(), Vec::new());
    for number in 0..REPORTS {
        let now_ms = i64::from(SLOT_MS) * number as i64;
        cluster.reported(node, capacity(), now_ms);
        planned.push(time(|| plan(&cluster, &settings, node, report.can_limit, now_ms)));
        compared
            .push(time(|| changes.reply(&cluster, &settings, node, &report, &[], now_ms).plans));
        let of_this = changes.by_node[&node].containers.values();
        let newest = of_this.filter_map(|it| it.changes().next());
        let new = newest.filter(|it| it.at_ms == now_ms).count();
        assert_eq!(new, if number == 0 { CONTAINERS } else { changed }, "report {number}");
    }
    (median_us(planned), median_us(compared))
}

/// The answer as it would be if no change were looked for.
fn plan(
    cluster: &Cluster,
    settings: &PlanSettings,
    node: NodeId,
    can_limit: CanLimit,
    now_ms: i64,
) -> Vec<ContainerPlan> {
    let limits = cluster.limits_on(node).unwrap();
    let plans = limits.containers().map(|(id, _, limits)| ContainerPlan {
        container: id.to_string(),
        steps: limits.steps(settings, can_limit, now_ms),
    });
    let mut plans: Vec<_> = plans.filter(|plan| !plan.steps.is_empty()).collect();
    plans.sort_unstable_by(|a, b| a.container.cmp(&b.container));
    plans
}

fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let begun = Instant::now();
    black_box(work());
    begun.elapsed()
}

fn median_us(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6
}

/// One node with the containers of one application, whose profile goes back and forth between these in each slot.
fn cluster(cores: [f64; 2]) -> (Cluster, NodeId) {
    let settings = ClusterSettings {
        enforce: true,
        virtual_cores_count: true,
        max_ratio: 2.0,
        fresh_for_ms: 10_000,
        grow_every_ms: 3_000,
        starvation_wait_ms: 60_000,
    };
    let policy = policy::named("elastane", PolicyOptions::default()).unwrap();
    let mut cluster = Cluster::new(settings, policy);
    let node = cluster.node_added("node-1:8041", NODE);
    cluster.reported(node, capacity(), 0);
    let slot = |at: usize| Resources::from_array([cores[at % 2], 2e9, cores[at % 2] * 1e6, 1e6]);
    let slots: Vec<_> = (0..2 * REPORTS).map(slot).collect();
    let demand = Demand::series(SLOT_MS, &slots).unwrap();
    let predicted = Predicted::of(demand, 0.1, Basis::Profile("profile".into()));
    let kind = ContainerKind::DEFAULT_EXECUTOR;
    let demands = Demands::from_iter([(kind, predicted)]);
    let application = Application::new("application_1_0001", "nightly", "root.etl", demands, 0);
    let application = cluster.application_added(application);
    for number in 0..CONTAINERS {
        let commit = CommitRequest {
            container: &format!("container_1763000000000_0001_01_{number:06}"),
            application,
            node,
            kind,
            request: REQUEST,
            may_refuse: false,
            start_ms: 0,
        };
        cluster.commit(commit, 0);
    }
    (cluster, node)
}

fn all_limits() -> PlanSettings {
    PlanSettings {
        cpu_cap_ratio: Some(1.5),
        limits_memory: true,
        disk_cap_ratio: Some(1.5),
        network_cap_ratio: Some(1.5),
        ..PlanSettings::default()
    }
}

fn capacity() -> Resources {
    Resources::from_array([64.0, NODE.memory_bytes as f64, 1e9, 1e9])
}

fn report() -> Report {
    Report {
        agent_run: 1,
        sequence: 0,
        can_limit: CanLimit {
            cpu: true,
            memory: true,
            disk: true,
            network_sent: true,
            network_received: true,
        },
        capacity: Capacity {
            cpu_cores: 64.0,
            memory_bytes: NODE.memory_bytes,
            network_bytes_per_s: 1_000_000_000,
            disk_bytes_per_s: 1_000_000_000,
        },
        containers_usage: Usage::default(),
        node_usage: Usage::default(),
        pressure: None,
        memory_victims: Vec::new(),
        decommissioned: Vec::new(),
        containers: Vec::new(),
    }
}

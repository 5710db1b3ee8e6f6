//! Planned starts that others may not delay. The answer comes from the scheduler's own `Cluster`.
//!
//! The cluster considers the first waiting executor of each application. It counts in whole bytes and
//! nano-cores, and in slots of [`elastane_core::SLOT_MS`].

use std::collections::{BTreeMap, BTreeSet};

use elastane_core::by_plan::ByPlan;
use elastane_core::cluster::{
    Application, ApplicationId, Ask, Basis, CommitRequest, Demands, NodeId, Predicted, Request,
    WaitReason, plan_starts,
};
use elastane_core::{Cluster, ClusterSettings, ContainerKind, Demand, Node, Resources};

use crate::scenario::Pending;

/// Nothing is refused by request: the policy decides that.
const ALL_FREE: Request = Request { memory_bytes: u64::MAX, vcores: u32::MAX };

/// In a scenario, no application starves.
const SETTINGS: ClusterSettings = ClusterSettings {
    enforce: true,
    virtual_cores_count: true,
    max_ratio: 1.0,
    fresh_for_ms: i64::MAX,
    grow_every_ms: i64::MAX,
    starvation_wait_ms: i64::MAX,
};

/// The cluster's answer for the applications that wait.
#[derive(Debug, Default)]
pub(super) struct PlannedStarts<'a> {
    /// The applications allowed on the node.
    named: BTreeSet<&'a str>,
    /// For each application, the one whose planned start it would delay.
    behind: BTreeMap<&'a str, &'a str>,
}

impl<'a> PlannedStarts<'a> {
    /// For a heartbeat of the node `on`.
    pub(super) fn new<'n>(
        by: ByPlan,
        nodes: impl Iterator<Item = &'n Node>,
        on: usize,
        waiting: &[&'a Pending],
        margin: f64,
        now_ms: i64,
    ) -> Self {
        let mut cluster = Cluster::new(SETTINGS, Box::new(by));
        let numbers: Vec<_> = nodes
            .enumerate()
            .map(|(number, node)| add_node(&mut cluster, number, node, now_ms))
            .collect();
        let mut names: BTreeMap<ApplicationId, &'a str> = BTreeMap::new();
        for (next, executors) in in_order(waiting) {
            let demands = predicted(&next.demand, margin);
            let queued_ms = next.queued_ms;
            let application = Application::new(&next.id, &next.id, "queue", demands, queued_ms);
            let id = cluster.application_added(application);
            let ask = Ask {
                kind: ContainerKind::DEFAULT_EXECUTOR,
                priority: 0,
                request: request_of(next.request),
                count: executors,
            };
            cluster.pending(id, ask, queued_ms);
            names.insert(id, &next.application);
        }
        plan_starts(&mut cluster, now_ms);
        let order = numbers.get(on).and_then(|on| cluster.round(*on, ALL_FREE, now_ms));
        let order = order.unwrap_or_default();
        let name = |id: ApplicationId| names.get(&id).copied();
        let behind =
            names.iter().filter_map(|(id, waits)| match cluster.wait_reason(*id, now_ms) {
                Some(WaitReason::Behind { behind, .. }) => Some((*waits, name(behind)?)),
                _ => None,
            });
        Self { behind: behind.collect(), named: order.into_iter().filter_map(name).collect() }
    }

    /// Whether a fitting executor of an application is allowed on the node.
    pub(super) fn allows(&self, application: &str) -> bool {
        self.named.contains(application)
    }

    /// The application whose planned start this one would delay.
    pub(super) fn behind(&self, application: &str) -> Option<&'a str> {
        self.behind.get(application).copied()
    }
}

/// The node with its running executors, each as an application of its own, since a demand belongs to an
/// application.
fn add_node(cluster: &mut Cluster, number: usize, node: &Node, now_ms: i64) -> NodeId {
    let name = format!("node-{number}");
    let on = cluster.node_added(&name, request_of(node.capacity));
    cluster.reported(on, node.capacity, now_ms);
    for (number, executor) in node.running().enumerate() {
        let id = format!("{name}-{number}");
        let demands = predicted(&executor.demand, 0.0);
        let application = Application::new(&id, &id, "running", demands, executor.start_ms);
        let commit = CommitRequest {
            container: &id,
            application: cluster.application_added(application),
            node: on,
            kind: ContainerKind::DEFAULT_EXECUTOR,
            request: Request::default(),
            may_refuse: false,
            start_ms: executor.start_ms,
        };
        cluster.commit(commit, now_ms);
    }
    on
}

/// The first waiting executor of each application and the number of waiting ones, in the order of the
/// applications.
fn in_order<'a>(waiting: &[&'a Pending]) -> Vec<(&'a Pending, u32)> {
    let mut next: BTreeMap<&str, (&Pending, u32)> = BTreeMap::new();
    let came = |executor: &Pending| (executor.queued_ms, executor.id.clone());
    for executor in waiting {
        let (first, executors) = next.entry(&executor.application).or_insert((executor, 0));
        *executors += 1;
        if came(executor) < came(first) {
            *first = executor;
        }
    }
    let mut next: Vec<_> = next.into_values().collect();
    next.sort_by_cached_key(|(first, _)| came(first));
    next
}

fn predicted(demand: &Demand, margin: f64) -> Demands {
    let predicted = Predicted::of(demand.clone(), margin, Basis::Profile("scenario".into()));
    Demands::from_iter([(ContainerKind::DEFAULT_EXECUTOR, predicted)])
}

fn request_of(amounts: Resources) -> Request {
    Request {
        memory_bytes: amounts.memory_bytes.ceil() as u64,
        vcores: amounts.cpu_cores.ceil() as u32,
    }
}

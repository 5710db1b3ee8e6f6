//! The state reported by YARN and the agents: nodes, applications and running containers.

mod application;
mod bookings;
mod container;
mod countables;
mod demands;
mod enforced;
mod last_round;
mod node;
mod node_plan;
mod nodes;
mod queue_modes;
mod request;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub use crate::ids::{ApplicationId, NodeId};
pub use application::{Application, Ask, Standing, applications_after};
pub use bookings::RunningContainer;
pub use container::{Commit, CommitRequest, Container, PlacedReason, Placement, Refusal};
pub use countables::Countables;
pub use demands::{Basis, Demands, Observed, Predicted};
pub use last_round::{Considered, Verdict};
pub use node::{NodeEntry, RegisteredOnly};
pub use nodes::drain;
pub use request::Request;

pub(crate) use node_plan::PlanState;
pub(crate) use nodes::Nodes;
use queue_modes::QueueModes;

use super::settings::ClusterSettings;
use crate::demand::Demand;
use crate::node::ExecutorId;
use crate::running::Running;

pub(crate) type Applications = BTreeMap<ApplicationId, Application>;

#[derive(Debug, Default)]
pub(crate) struct State {
    /// Whether CapacityScheduler counts and books virtual cores.
    pub(crate) virtual_cores_count: bool,
    pub(crate) nodes: Nodes,
    pub(crate) applications: Applications,
    next_application: u32,
    /// By YARN's id.
    pub(crate) containers: HashMap<Arc<str>, Container>,
    next_executor: u64,
    queue_modes: QueueModes,
}

impl State {
    pub(crate) fn new(settings: &ClusterSettings) -> Self {
        let virtual_cores_count = settings.virtual_cores_count;
        let mut state = Self { virtual_cores_count, ..Self::default() };
        state.nodes.enforce(settings.enforce);
        state
    }

    /// Takes over the modes of queues; gives the applications for which that changes something.
    pub(crate) fn observe_queues(
        &mut self,
        enforce_by_path: BTreeMap<String, bool>,
    ) -> Vec<ApplicationId> {
        let modes = QueueModes::new(enforce_by_path);
        let changed = self.applications.iter_mut().filter_map(|(id, application)| {
            let by_queue = modes.observes(&application.queue);
            application.demands.observe_by_queue(by_queue).then_some(*id)
        });
        let changed = changed.collect();
        self.queue_modes = modes;
        changed
    }

    /// An application is in another queue from now on; false if it is unknown.
    pub(crate) fn move_application(&mut self, application: ApplicationId, queue: &str) -> bool {
        let Some(entry) = self.applications.get_mut(&application) else {
            return false;
        };
        entry.queue = queue.into();
        entry.demands.observe_by_queue(self.queue_modes.observes(queue));
        true
    }

    pub(crate) fn add_application(&mut self, mut application: Application) -> ApplicationId {
        application.demands.observe_by_queue(self.queue_modes.observes(&application.queue));
        let id = ApplicationId(self.next_application);
        self.next_application += 1;
        self.applications.insert(id, application);
        id
    }

    pub(crate) fn next_executor(&mut self) -> ExecutorId {
        let id = ExecutorId(self.next_executor);
        self.next_executor += 1;
        id
    }

    /// Whether a container's application is in observe.
    pub(crate) fn is_observed(&self, container: &Container) -> bool {
        let application = self.applications.get(&container.application);
        application.is_some_and(|application| application.demands.are_withheld())
    }

    /// Equal versions mean that no container started or ended in between: the first number only
    /// grows, and while it stays the second only falls.
    pub(crate) fn containers_version(&self) -> (u64, usize) {
        (self.next_executor, self.containers.len())
    }

    pub(crate) fn measured_memory(&mut self, container: &str, memory_bytes: f64) {
        if let Some(container) = self.containers.get(container)
            && let Some(entry) = self.nodes.get_mut(container.node)
        {
            entry.plan.measured(&mut entry.node, container.executor, memory_bytes);
        }
    }

    /// A container starts on its node.
    pub(crate) fn start(&mut self, id: &str, container: Container, demand: Demand, now_ms: i64) {
        if let Some(application) = self.applications.get_mut(&container.application) {
            application.running += 1;
            if container.profile().is_none() && !application.demands.are_withheld() {
                application.unprofiled.insert(container.executor, container.node);
            }
            application.allocated = application.allocated.plus(container.request);
        }
        let id: Arc<str> = id.into();
        if let Some(entry) = self.nodes.get_mut(container.node) {
            let executor = Running::new(container.start_ms, demand);
            entry.plan.insert(&mut entry.node, container.executor, executor, now_ms);
            entry.containers.insert(container.executor, Arc::clone(&id));
            let booked = container.request.bookable(self.virtual_cores_count);
            entry.booked = entry.booked.plus(booked);
        }
        self.containers.insert(id, container);
    }

    /// A container ended; the caller has removed it from `containers`.
    pub(crate) fn end(&mut self, container: &Container) {
        if let Some(entry) = self.nodes.get_mut(container.node) {
            entry.plan.remove(&mut entry.node, container.executor);
            entry.containers.remove(&container.executor);
            let booked = container.request.bookable(self.virtual_cores_count);
            entry.booked = entry.booked.minus(booked);
            entry.forget_lowered_if_down();
        }
        if let Some(application) = self.applications.get_mut(&container.application) {
            application.running = application.running.saturating_sub(1);
            application.unprofiled.remove(&container.executor);
            application.allocated = application.allocated.minus(container.request);
        }
    }

    /// The containers of a node with their ids.
    pub(crate) fn containers_on<'a>(
        &'a self,
        entry: &'a NodeEntry,
    ) -> impl Iterator<Item = (&'a Arc<str>, &'a Container)> {
        let ids = entry.containers.values();
        ids.filter_map(|id| Some((id, self.containers.get(id)?)))
    }

    pub(crate) fn overcommitted(&self, node: NodeId) -> Vec<(&str, &Container)> {
        let Some(entry) = self.nodes.get(node) else {
            return Vec::new();
        };
        let containers = self.containers_on(entry).map(|(id, container)| (&**id, container));
        let mut containers: Vec<_> = containers.collect();
        containers.sort_by_key(|(_, container)| (container.start_ms, container.executor));
        let mut requested_bytes: u64 = 0;
        let fitting = containers
            .iter()
            .take_while(|(_, container)| {
                requested_bytes = requested_bytes.saturating_add(container.request.memory_bytes);
                requested_bytes <= entry.registered.memory_bytes
            })
            .count();
        containers.split_off(fitting)
    }
}

//! The cluster as the scheduler told it: nodes, applications, containers, and what is decided about
//! them.
//!
//! [`Cluster`] is plain state: whoever owns it hands in `now` and every event, and gets decisions
//! with their reasons.

mod admission;
mod application;
mod bookable;
mod container;
mod contest;
mod elsewhere;
mod first;
mod held;
mod hold;
mod kept;
mod node_entry;
mod notes;
mod overcommitted;
mod plan;
mod planned_start;
mod prospect;
mod quick;
mod remaining;
mod reprovisioning;
mod round;
mod scores;
mod screen;
mod spread;
mod sums;
mod waiting;
mod window;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub use admission::Refusal;
pub use application::{Application, ApplicationId, Ask, Demands, Held, Predicted};
pub use bookable::BookableChange;
pub use container::{Commit, CommitRequest, Container, PlacedReason, Placement};
pub use kept::KeptNode;
pub use node_entry::{NodeEntry, NodeId, Request};
pub use round::ROUND_LIMIT;

use crate::container_kind::ContainerKind;
use crate::plan::{LimitPlan, PlanSettings};
use crate::policy::Policy;
use crate::resources::Resources;
use crate::running::Running;
use bookable::BookableWatch;
use elastane_protocol::{CanLimit, Limits, Step};
use kept::Keeping;
use remaining::Remaining;
use reprovisioning::Reprovisioning;
use spread::Stacks;
use waiting::{Row, WaitingTable};

/// So many steps, some 37 bytes each, leave room in a message of 256 KiB for hundreds of ids.
const MOST_STEPS_OF_A_NODE: usize = 6_000;

/// What the administrator set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusterSettings {
    /// Whether decisions act; otherwise everything is CapacityScheduler's.
    pub enforce: bool,
    /// Whether CapacityScheduler counts virtual cores; with its DefaultResourceCalculator it books
    /// by memory alone.
    pub virtual_cores_count: bool,
    /// Bookable over registered capacity while a node's agent reports freshly.
    pub max_ratio: f64,
    /// A report that is older than this is stale, in milliseconds.
    pub fresh_for_ms: i64,
    /// How long an application waits before it passes as CapacityScheduler would have it.
    pub starvation_wait_ms: i64,
    /// How long an application may pass on nodes for one that delays it less, in milliseconds, and
    /// how much sooner its work has to be done there; 0 takes the first node that it fits.
    pub pass_ms: i64,
}

/// Nodes, applications and containers of one cluster.
pub struct Cluster {
    settings: ClusterSettings,
    policy: Box<dyn Policy>,
    nodes: BTreeMap<NodeId, NodeEntry>,
    node_by_name: HashMap<String, NodeId>,
    applications: BTreeMap<ApplicationId, Application>,
    waiting: WaitingTable,
    containers: HashMap<Arc<str>, Container>,
    bookable_watch: BookableWatch,
    stacks: Stacks,
    keeping: Keeping,
    remaining: Remaining,
    reprovisioning: Reprovisioning,
    /// The sum over all nodes.
    registered: Request,
    next_node: u32,
    next_application: u32,
    next_executor: u64,
}

impl Cluster {
    /// An empty cluster.
    #[must_use]
    pub fn new(settings: ClusterSettings, policy: Box<dyn Policy>) -> Self {
        Self {
            settings,
            policy,
            nodes: BTreeMap::new(),
            node_by_name: HashMap::new(),
            applications: BTreeMap::new(),
            waiting: WaitingTable::default(),
            containers: HashMap::new(),
            bookable_watch: BookableWatch::default(),
            stacks: Stacks::default(),
            keeping: Keeping::default(),
            remaining: Remaining::default(),
            reprovisioning: Reprovisioning::default(),
            registered: Request::default(),
            next_node: 0,
            next_application: 0,
            next_executor: 0,
        }
    }

    /// What the administrator set.
    #[must_use]
    pub fn settings(&self) -> &ClusterSettings {
        &self.settings
    }

    /// A node registered. One of the same name that was not removed is taken to be gone.
    pub fn node_added(&mut self, name: &str, registered: Request) -> NodeId {
        if let Some(former) = self.node_by_name.get(name).copied() {
            self.node_removed(former);
        }
        let id = NodeId(self.next_node);
        self.next_node += 1;
        self.nodes.insert(id, NodeEntry::new(name, registered));
        self.registered = self.registered.plus(registered);
        self.node_by_name.insert(name.to_owned(), id);
        id
    }

    /// The registered size of a node changed.
    pub fn node_resized(&mut self, node: NodeId, registered: Request) {
        if let Some(entry) = self.nodes.get_mut(&node) {
            self.registered = self.registered.minus(entry.registered).plus(registered);
            entry.resize(registered);
        }
    }

    /// A node is gone, and what ran on it.
    pub fn node_removed(&mut self, node: NodeId) {
        self.window_lost(node);
        if let Some(entry) = self.nodes.remove(&node) {
            self.node_by_name.remove(&entry.name);
            self.registered = self.registered.minus(entry.registered);
            self.bookable_watch.forget(node, entry.last_report_ms);
            for container in entry.containers.values() {
                self.finished(container);
            }
        }
    }

    /// A node by its number.
    #[must_use]
    pub fn node(&self, node: NodeId) -> Option<&NodeEntry> {
        self.nodes.get(&node)
    }

    /// A node by YARN's name for it.
    #[must_use]
    pub fn node_named(&self, name: &str) -> Option<NodeId> {
        self.node_by_name.get(name).copied()
    }

    /// All nodes.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &NodeEntry)> {
        self.nodes.iter().map(|(id, entry)| (*id, entry))
    }

    /// An application was added. Its demands are resampled to slots of [`SLOT_MS`](crate::SLOT_MS).
    pub fn application_added(&mut self, mut application: Application) -> ApplicationId {
        let id = ApplicationId(self.next_application);
        self.next_application += 1;
        application.demands = application.demands.on_grid();
        application.row = application
            .waiting
            .map(|ask| self.waiting.add(id, &application, ask));
        self.applications.insert(id, application);
        self.remaining.changed();
        id
    }

    /// What is known about the containers of one kind of an application is this from now on; none means
    /// its request. Containers that run stay as they were placed.
    pub fn foreseen(
        &mut self,
        application: ApplicationId,
        kind: ContainerKind,
        predicted: Option<Predicted>,
    ) {
        let Some(entry) = self.applications.get_mut(&application) else {
            return;
        };
        let predicted = predicted.map(Predicted::on_grid);
        if !entry.demands.set(kind, predicted) {
            return;
        }
        self.remaining.changed();
        if let (Some(row), Some(ask)) = (entry.row, entry.waiting)
            && ask.kind == kind
        {
            self.waiting.foreseen(row, &entry.demands);
        }
    }

    /// An application was moved to another queue.
    pub fn application_moved(&mut self, application: ApplicationId, queue: &str) {
        if let Some(entry) = self.applications.get_mut(&application) {
            queue.clone_into(&mut entry.queue);
            if let Some(row) = entry.row {
                self.waiting.move_to_queue(row, queue);
            }
        }
    }

    /// An application ended.
    pub fn application_removed(&mut self, application: ApplicationId) -> Option<Application> {
        let mut removed = self.applications.remove(&application)?;
        self.remaining.changed();
        if let Some(row) = removed.row.take() {
            self.remove_row(row);
        }
        Some(removed)
    }

    /// What an application waits for now.
    pub fn pending(&mut self, application: ApplicationId, ask: Ask, now_ms: i64) {
        let Some(entry) = self.applications.get_mut(&application) else {
            return;
        };
        let request = ask.request.bookable(self.settings.virtual_cores_count);
        entry.ask(Ask { request, ..ask }, now_ms);
        self.remaining.changed();
        match (entry.waiting, entry.row) {
            (Some(ask), Some(row)) => self.waiting.change(row, ask, &entry.demands),
            (Some(ask), None) => entry.row = Some(self.waiting.add(application, entry, ask)),
            (None, row) => {
                entry.row = None;
                if let Some(row) = row {
                    self.remove_row(row);
                }
            }
        }
    }

    fn remove_row(&mut self, row: Row) {
        let moved = self.waiting.remove(row);
        if let Some(moved) = moved.and_then(|id| self.applications.get_mut(&id)) {
            moved.row = Some(row);
        }
    }

    /// An application by its number.
    #[must_use]
    pub fn application(&self, application: ApplicationId) -> Option<&Application> {
        self.applications.get(&application)
    }

    /// All applications.
    pub fn applications(&self) -> impl Iterator<Item = (ApplicationId, &Application)> {
        self.applications.iter().map(|(id, entry)| (*id, entry))
    }

    /// A container by YARN's id.
    #[must_use]
    pub fn container(&self, container: &str) -> Option<&Container> {
        self.containers.get(container)
    }

    /// A node's agent reported: its physical size, and that it is there.
    pub fn reported(&mut self, node: NodeId, capacity: Resources, now_ms: i64) {
        if let Some(entry) = self.nodes.get_mut(&node) {
            self.bookable_watch
                .reported(node, entry.last_report_ms, now_ms);
            entry.reported(capacity, now_ms);
        }
    }

    /// What a container was last seen to hold of memory, in bytes.
    pub fn measured_memory(&mut self, container: &str, memory_bytes: f64) {
        if let Some(container) = self.containers.get(container)
            && let Some(entry) = self.nodes.get_mut(&container.node)
        {
            entry
                .plan
                .measured(&mut entry.node, container.executor, memory_bytes);
        }
    }

    /// The limits of every container of a node, from `now_ms` on, for an agent that can limit this.
    /// A container without an entry is not limited.
    ///
    /// Nobody knows what an executor without a profile uses: only its CPU is weighed, by the part of
    /// the node that its virtual cores are of all that run there, so that it neither starves nor
    /// pushes aside the others.
    pub fn limit_plans(
        &self,
        node: NodeId,
        settings: &PlanSettings,
        can_limit: CanLimit,
        now_ms: i64,
    ) -> Vec<(&str, Vec<Step>)> {
        let Some(entry) = self.nodes.get(&node) else {
            return Vec::new();
        };
        let vcores = |container: &Container| f64::from(container.request.vcores.max(1));
        let all_vcores: f64 = entry
            .containers
            .values()
            .filter_map(|id| self.containers.get(id))
            .map(vcores)
            .sum();
        let share_of_vcores =
            |container: &Container| entry.node.capacity.cpu_cores * vcores(container) / all_vcores;
        let most_steps = MOST_STEPS_OF_A_NODE / entry.containers.len().max(1);
        let mut plans: Vec<_> = entry
            .containers
            .values()
            .filter_map(|id| {
                let container = self.containers.get(id)?;
                let running = planned(entry, container)?;
                let steps = if container.profile.is_some() {
                    let plan = LimitPlan {
                        settings,
                        can_limit,
                        most_steps,
                        margin: container.margin,
                        request: entry.request_resources(container.request),
                    };
                    plan.steps(&running, now_ms)
                } else if can_limit.cpu {
                    vec![Step {
                        offset_ms: 0,
                        limits: Limits {
                            cpu_weight_cores: Some(share_of_vcores(container) as f32),
                            ..Limits::default()
                        },
                    }]
                } else {
                    Vec::new()
                };
                (!steps.is_empty()).then_some((id.as_ref(), steps))
            })
            .collect();
        plans.sort_unstable_by_key(|(id, _)| *id);
        plans
    }

    /// Whether decisions about this node are the core's: mode `enforce` and a fresh report. Also
    /// while it is still raised after its agent fell silent: CapacityScheduler alone would fill it
    /// above its physical size in the moment before it is lowered.
    #[must_use]
    pub fn decides(&self, node: NodeId, now_ms: i64) -> bool {
        self.nodes
            .get(&node)
            .is_some_and(|entry| decides(&self.settings, entry, now_ms))
    }
}

/// What a container's limits follow. Where nothing else is known of its progress, its start is the
/// moment itself and not that of the slot which it lies in.
fn planned(entry: &NodeEntry, container: &Container) -> Option<Running> {
    let mut running = entry.node.get(container.executor)?.clone();
    if entry.counts_from_its_start(container) {
        running.start_ms = container.start_ms;
    }
    Some(running)
}

fn decides(settings: &ClusterSettings, entry: &NodeEntry, now_ms: i64) -> bool {
    settings.enforce
        && (entry.is_fresh(settings.fresh_for_ms, now_ms) || entry.bookable_thousandths > 1_000)
}

#[cfg(test)]
mod tests;

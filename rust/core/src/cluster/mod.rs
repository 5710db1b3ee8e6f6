//! The cluster as the scheduler told it: nodes, applications, containers, and what is decided about
//! them.
//!
//! [`Cluster`] is plain state: whoever owns it hands in `now` and every event, and gets decisions with
//! their reasons. It is a facade: each room below owns its state and is given what else it needs.

mod correction;
mod patience;
mod plan;
mod ranking;
mod rooms;
mod round;
mod settings;
mod state;
mod waiting;

pub use patience::KeptNode;
pub use round::{ROUND_LIMIT, WaitReason};
pub use settings::ClusterSettings;
pub use state::{
    Application, ApplicationId, Ask, BookableChange, Commit, CommitRequest, Container, Demands,
    NodeEntry, NodeId, PlacedReason, Placement, Predicted, Refusal, Request,
};

use crate::container_kind::ContainerKind;
use crate::demand::Demand;
use crate::plan::PlanSettings;
use crate::policy::Policy;
use crate::progress::Progress;
use crate::reprovision::{ReprovisionSettings, Reprovisioned, Used};
use crate::resources::Resources;
use elastane_protocol::{CanLimit, Step};
use ranking::Judge;
use rooms::Rooms;
use round::Round;

/// Nodes, applications and containers of one cluster.
pub struct Cluster {
    settings: ClusterSettings,
    policy: Box<dyn Policy>,
    rooms: Rooms,
}

impl Cluster {
    /// An empty cluster.
    #[must_use]
    pub fn new(settings: ClusterSettings, policy: Box<dyn Policy>) -> Self {
        Self {
            settings,
            policy,
            rooms: Rooms::new(settings.virtual_cores_count),
        }
    }

    /// What the administrator set.
    #[must_use]
    pub fn settings(&self) -> &ClusterSettings {
        &self.settings
    }

    /// A node registered. One of the same name that was not removed is taken to be gone.
    pub fn node_added(&mut self, name: &str, registered: Request) -> NodeId {
        if let Some(former) = self.node_named(name) {
            self.node_removed(former);
        }
        self.rooms.state.nodes.add(name, registered)
    }

    /// The registered size of a node changed.
    pub fn node_resized(&mut self, node: NodeId, registered: Request) {
        self.rooms.state.nodes.resize(node, registered);
    }

    /// A node is gone, and what ran on it.
    pub fn node_removed(&mut self, node: NodeId) {
        self.rooms.node_removed(node);
    }

    /// A node's agent reported: its physical size, and that it is there.
    pub fn reported(&mut self, node: NodeId, capacity: Resources, now_ms: i64) {
        self.rooms.state.nodes.reported(node, capacity, now_ms);
    }

    /// A node by its number.
    #[must_use]
    pub fn node(&self, node: NodeId) -> Option<&NodeEntry> {
        self.rooms.state.nodes.get(node)
    }

    /// A node by YARN's name for it.
    #[must_use]
    pub fn node_named(&self, name: &str) -> Option<NodeId> {
        self.rooms.state.nodes.named(name)
    }

    /// All nodes.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &NodeEntry)> {
        self.rooms.state.nodes.iter()
    }

    /// An application was added. Its demands are resampled to slots of [`SLOT_MS`](crate::SLOT_MS).
    pub fn application_added(&mut self, application: Application) -> ApplicationId {
        self.rooms.application_added(application)
    }

    /// What is predicted of the containers of one kind of an application from now on; none means that
    /// they are planned at their request. Containers that run stay as they were placed.
    pub fn foreseen(
        &mut self,
        application: ApplicationId,
        kind: ContainerKind,
        predicted: Option<Predicted>,
    ) {
        self.rooms.foreseen(application, kind, predicted);
    }

    /// An application was moved to another queue.
    pub fn application_moved(&mut self, application: ApplicationId, queue: &str) {
        self.rooms.application_moved(application, queue);
    }

    /// An application ended.
    pub fn application_removed(&mut self, application: ApplicationId) -> Option<Application> {
        self.rooms.application_removed(application)
    }

    /// What an application waits for now.
    pub fn pending(&mut self, application: ApplicationId, ask: Ask, now_ms: i64) {
        self.rooms.pending(application, ask, now_ms);
    }

    /// An application by its number.
    #[must_use]
    pub fn application(&self, application: ApplicationId) -> Option<&Application> {
        self.rooms.state.applications.get(application)
    }

    /// All applications.
    pub fn applications(&self) -> impl Iterator<Item = (ApplicationId, &Application)> {
        self.rooms.state.applications.iter()
    }

    /// A container by YARN's id.
    #[must_use]
    pub fn container(&self, container: &str) -> Option<&Container> {
        self.rooms.state.containers.get(container)
    }

    /// What a container was last seen to hold of memory, in bytes.
    pub fn measured_memory(&mut self, container: &str, memory_bytes: f64) {
        self.rooms.state.measured_memory(container, memory_bytes);
    }

    /// Whether decisions about this node are the core's.
    #[must_use]
    pub fn decides(&self, node: NodeId, now_ms: i64) -> bool {
        let entry = self.rooms.state.nodes.get(node);
        entry.is_some_and(|entry| entry.is_decided(&self.settings, now_ms))
    }

    /// The applications whose next container fits `node` now and over time, in the order in which they
    /// are to be tried; none where CapacityScheduler is to decide. `free` is what it may still book.
    pub fn round(
        &mut self,
        node: NodeId,
        free: Request,
        now_ms: i64,
    ) -> Option<Vec<ApplicationId>> {
        Round {
            settings: &self.settings,
            policy: self.policy.as_ref(),
            rooms: &mut self.rooms,
            node,
            free,
            now_ms,
        }
        .name_applications()
    }

    /// Checks and records a container in one step, so that two rounds on one node cannot both take what
    /// is left.
    pub fn commit(&mut self, commit: CommitRequest<'_>, now_ms: i64) -> Commit {
        let judge = Judge::of(self.policy.as_ref());
        round::commit(&self.settings, judge, &mut self.rooms, &commit, now_ms)
    }

    /// A container ended, or its commit was refused elsewhere.
    pub fn finished(&mut self, container: &str) -> Option<Container> {
        self.rooms.ended(container)
    }

    /// Why an application's next container was not placed when it was last looked at; none when it waits
    /// for nothing, or was not refused.
    pub fn wait_reason(&mut self, application: ApplicationId, now_ms: i64) -> Option<WaitReason> {
        let judge = Judge::of(self.policy.as_ref());
        round::wait_reason(judge, &mut self.rooms, application, now_ms)
    }

    /// From now on no node is kept free. A round then changes nothing but notes and passing, so that a
    /// simulation may leave out those in which nothing is placed.
    pub fn keep_no_nodes(&mut self) {
        self.rooms.keeper.turn_off();
    }

    /// The node that is kept free, if any.
    #[must_use]
    pub fn kept_node(&self) -> Option<KeptNode> {
        self.rooms.keeper.kept(&self.rooms.waiting)
    }

    /// The nodes whose bookable capacity has to change, at most `limit` of them: up to the configured
    /// ratio while the agent reports freshly, back to the registered size when it doesn't.
    pub fn bookable_changes(&mut self, limit: usize, now_ms: i64) -> Vec<BookableChange> {
        let nodes = &mut self.rooms.state.nodes;
        nodes.bookable_changes(&self.settings, limit, now_ms)
    }

    /// Whether CapacityScheduler may preempt a container of a queue with this share of the cluster. While
    /// a node that was lowered comes down, a queue keeps what is within its share of the former size.
    #[must_use]
    pub fn may_preempt(&self, absolute_capacity: f64, used: Request) -> bool {
        let nodes = self.rooms.state.nodes.entries();
        state::may_preempt(&self.settings, nodes, absolute_capacity, used)
    }

    /// The containers of a node, in order of start, that CapacityScheduler alone would not have started
    /// while those before them run: with them requests pass the node's registered memory.
    #[must_use]
    pub fn overcommitted(&self, node: NodeId) -> Vec<(&str, &Container)> {
        self.rooms.state.overcommitted(node)
    }

    /// The limits of every container of a node, from `now_ms` on, for an agent that can limit this. A
    /// container without an entry is not limited.
    pub fn limit_plans(
        &self,
        node: NodeId,
        settings: &PlanSettings,
        can_limit: CanLimit,
        now_ms: i64,
    ) -> Vec<(&str, Vec<Step>)> {
        let lent_to = self.rooms.corrections.lent_to(node);
        let state = &self.rooms.state;
        plan::limit_plans(state, node, lent_to, settings, can_limit, now_ms)
    }

    /// From now on running containers are reprovisioned; they are not unless this is called.
    pub fn reprovision_by(&mut self, settings: ReprovisionSettings) {
        self.rooms.corrections.reprovision_by(settings);
    }

    /// What was predicted for a container when it started; none where nothing is, or it is not there.
    #[must_use]
    pub fn predicted_demand(&self, container: &str) -> Option<&Demand> {
        let rooms = &self.rooms;
        rooms.corrections.predicted_demand(&rooms.state, container)
    }

    /// The corrected demand of a container over its predicted one: 1 where nothing was corrected.
    #[must_use]
    pub fn corrected_by(&self, container: &str) -> Resources {
        self.rooms.corrections.factors(&self.rooms.state, container)
    }

    /// How far a container is: what it is expected to use follows that from now on, instead of the time
    /// since its start. Returns whether what its node has left changed.
    pub fn progressed(&mut self, container: &str, progress: Progress, now_ms: i64) -> bool {
        let rooms = &mut self.rooms;
        rooms
            .corrections
            .progressed(&mut rooms.state, container, progress, now_ms)
    }

    /// What a container used. Samples have to come in the order of time, before the progress that
    /// follows from them. Returns whether what its node has left changed.
    pub fn used(&mut self, container: &str, used: Used, now_ms: i64) -> bool {
        let rooms = &mut self.rooms;
        rooms
            .corrections
            .used(&mut rooms.state, container, used, now_ms)
    }

    /// Returns what windows on a node hold no longer, and gives the slowest of its executors what the
    /// node has left, where one is slow. To be asked once for each report, after what it says.
    pub fn reprovision(&mut self, node: NodeId, now_ms: i64) -> bool {
        let decides = self.decides(node, now_ms);
        let rooms = &mut self.rooms;
        rooms
            .corrections
            .reprovision(&mut rooms.state, node, decides, now_ms)
    }

    /// What was done since this was last asked.
    pub fn take_reprovisioned(&mut self) -> Vec<Reprovisioned> {
        self.rooms.corrections.take_done()
    }
}

#[cfg(test)]
mod tests;

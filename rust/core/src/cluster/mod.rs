//! The cluster as the scheduler reports it: nodes, applications and containers, and the decisions about them.
//!
//! [`Cluster`] is plain state: its owner passes `now` and every event, and gets decisions with their reasons.
//! [`Cluster`] is a facade; each room below owns its state and takes the rest as arguments.

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
pub use plan::Outlook;
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

    /// The administrator's settings.
    #[must_use]
    pub fn settings(&self) -> &ClusterSettings {
        &self.settings
    }

    /// A node registered. A registered node of the same name is removed first.
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

    /// A node is gone, and its containers with it.
    pub fn node_removed(&mut self, node: NodeId) {
        self.rooms.node_removed(node);
    }

    /// A node's agent reported the node's physical size.
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

    /// The prediction for an application's containers of one kind changed; none plans them at their
    /// request. Running containers keep the demand with which they were placed.
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

    /// An application's ask changed.
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

    /// A container's resident memory was measured, in bytes.
    pub fn measured_memory(&mut self, container: &str, memory_bytes: f64) {
        self.rooms.state.measured_memory(container, memory_bytes);
    }

    /// Whether the core decides about this node.
    #[must_use]
    pub fn decides(&self, node: NodeId, now_ms: i64) -> bool {
        let entry = self.rooms.state.nodes.get(node);
        entry.is_some_and(|entry| entry.is_decided(&self.settings, now_ms))
    }

    /// The applications whose next container fits `node` now and over time, in the order to try them; none
    /// where CapacityScheduler decides. `free` is what CapacityScheduler may still book on the node.
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
        .run()
    }

    /// Checks and records a container in one step, so that two rounds on one node cannot both take
    /// the same resources.
    pub fn commit(&mut self, commit: CommitRequest<'_>, now_ms: i64) -> Commit {
        let judge = Judge::of(self.policy.as_ref());
        round::commit(&self.settings, judge, &mut self.rooms, &commit, now_ms)
    }

    /// A container ended, or its commit was refused elsewhere.
    pub fn finished(&mut self, container: &str) -> Option<Container> {
        self.rooms.ended(container)
    }

    /// Why an application's next container was not placed at the latest check; none when it waits
    /// for nothing, or was not refused.
    pub fn wait_reason(&mut self, application: ApplicationId, now_ms: i64) -> Option<WaitReason> {
        let judge = Judge::of(self.policy.as_ref());
        round::wait_reason(judge, &mut self.rooms, application, now_ms)
    }

    /// The nodes whose plans a round on `node` reads.
    #[must_use]
    pub fn read_by_round(&self, node: NodeId, now_ms: i64) -> Vec<NodeId> {
        let (settings, rooms) = (&self.settings, &self.rooms);
        let nodes = &rooms.state.nodes;
        let compares = rooms
            .keeper
            .compares(settings, nodes, &rooms.waiting, now_ms);
        patience::read_by_round(settings, nodes, node, compares)
    }

    /// See [`Outlook`]; none where the policy does not fit by the plan.
    #[must_use]
    pub fn outlook(&self, node: NodeId, now_ms: i64) -> Option<Outlook<'_>> {
        let by = self.policy.by_plan()?;
        Some(Outlook::new(self.node(node)?, by.peaks, now_ms))
    }

    /// The kept node, if any.
    #[must_use]
    pub fn kept_node(&self) -> Option<KeptNode> {
        self.rooms.keeper.kept(&self.rooms.waiting)
    }

    /// The nodes whose bookable capacity has to change, at most `limit` of them: to the configured
    /// ratio while the agent's reports are fresh, to the registered size otherwise.
    pub fn bookable_changes(&mut self, limit: usize, now_ms: i64) -> Vec<BookableChange> {
        let nodes = &mut self.rooms.state.nodes;
        nodes.bookable_changes(&self.settings, limit, now_ms)
    }

    /// Whether CapacityScheduler may preempt a container of a queue with this share of the cluster.
    /// While a lowered node comes down, a queue keeps what is within its share of the former size.
    #[must_use]
    pub fn may_preempt(&self, absolute_capacity: f64, used: Request) -> bool {
        let nodes = self.rooms.state.nodes.entries();
        state::may_preempt(&self.settings, nodes, absolute_capacity, used)
    }

    /// The containers of a node, in order of start, that CapacityScheduler alone would not have
    /// started: with them the running requests exceed the node's registered memory.
    #[must_use]
    pub fn overcommitted(&self, node: NodeId) -> Vec<(&str, &Container)> {
        self.rooms.state.overcommitted(node)
    }

    /// Limits of every container of a node, from `now_ms` on, for an agent with the abilities
    /// `can_limit`. A container without an entry is not limited.
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

    /// Reprovisions running containers from now on. Off by default.
    pub fn reprovision_by(&mut self, settings: ReprovisionSettings) {
        self.rooms.corrections.reprovision_by(settings);
    }

    /// The demand predicted for a container at its start; none without a prediction or container.
    #[must_use]
    pub fn predicted_demand(&self, container: &str) -> Option<&Demand> {
        let rooms = &self.rooms;
        rooms.corrections.predicted_demand(&rooms.state, container)
    }

    /// A container's corrected demand over its predicted one; 1 without a correction.
    #[must_use]
    pub fn corrected_by(&self, container: &str) -> Resources {
        self.rooms.corrections.factors(&self.rooms.state, container)
    }

    /// A container's progress. Its demand follows the progress from now on, instead of the time
    /// since its start. Returns whether the node's remaining resources changed.
    pub fn progressed(&mut self, container: &str, progress: Progress, now_ms: i64) -> bool {
        let rooms = &mut self.rooms;
        rooms
            .corrections
            .progressed(&mut rooms.state, container, progress, now_ms)
    }

    /// A sample of a container's use. Samples must arrive in the order of time, and before the
    /// progress derived from them. Returns whether the node's remaining resources changed.
    pub fn used(&mut self, container: &str, used: Used, now_ms: i64) -> bool {
        let rooms = &mut self.rooms;
        rooms
            .corrections
            .used(&mut rooms.state, container, used, now_ms)
    }

    /// Ends an expired window on a node, and opens one for the node's slowest executor if one is
    /// slow. To be called once for each report, after the report's samples. Returns whether the
    /// node's remaining resources changed.
    pub fn reprovision(&mut self, node: NodeId, now_ms: i64) -> bool {
        let decides = self.decides(node, now_ms);
        let rooms = &mut self.rooms;
        rooms
            .corrections
            .reprovision(&mut rooms.state, node, decides, now_ms)
    }

    /// The corrections since the last call.
    pub fn take_reprovisioned(&mut self) -> Vec<Reprovisioned> {
        self.rooms.corrections.take_done()
    }
}

#[cfg(test)]
mod tests;

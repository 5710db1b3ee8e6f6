//! The cluster as the scheduler reports it, and the decisions about it. [`Cluster`] is plain state: its owner passes
//! `now` and every event. It is a facade; each room below owns its state and takes the rest as arguments.

mod as_of;
mod bookable;
mod correction;
mod forecast;
mod measured_size;
mod patience;
mod plan;
mod planned_anew;
mod ranking;
mod round;
mod settings;
mod starts;
mod state;
mod waiting;

pub use bookable::{BookableChange, BookableRatio, Preemption, QueueShare, Resized};
pub use bookable::{Filled, LimitUse, QueueAmounts, UserLimit};
pub use forecast::{ExpectedStart, StartForecast};
pub use patience::{KeptNode, read_by_round};
pub use plan::{ContainerLimits, NodeLimits, Outlook, StartNeeds};
pub use round::{Naming, Offer, ROUND_LIMIT, WaitReason};
pub use settings::{ClusterSettings, Exceptions};
pub use starts::{PlannedStart, StartPlan, StartSearch, plan_starts, read_by_planning};
pub use state::{
    Application, ApplicationId, Ask, Basis, Commit, CommitRequest, Considered, Container,
    Countables, Demands, NodeEntry, NodeId, Observed, PlacedReason, Placement, Predicted, Refusal,
    RegisteredOnly, Request, RunningContainer, Standing, Verdict, applications_after, drain,
};

use std::sync::Arc;

use crate::container_kind::ContainerKind;
use crate::demand::Demand;
use crate::policy::Policy;
use crate::progress::Progress;
use crate::reprovision::{ReprovisionSettings, Reprovisioned, Used};
use crate::resources::Resources;
use bookable::Bookable;
use patience::{NodeKeeper, Skips};
use starts::StartPlanner;
use state::State;
use waiting::WaitingTable;

/// Nodes, applications and containers of one cluster.
pub struct Cluster {
    settings: ClusterSettings,
    policy: Box<dyn Policy>,
    state: State,
    waiting: WaitingTable,
    work_shares: ranking::WorkShares,
    keeper: NodeKeeper,
    skips: Skips,
    starts: StartPlanner,
    corrections: correction::Corrections,
    bookable: Bookable,
}

impl Cluster {
    /// An empty cluster.
    pub fn new(settings: ClusterSettings, policy: Box<dyn Policy>) -> Self {
        Self {
            settings,
            policy,
            state: State::new(&settings),
            waiting: WaitingTable::default(),
            work_shares: ranking::WorkShares::default(),
            keeper: NodeKeeper::default(),
            skips: Skips::default(),
            starts: StartPlanner::default(),
            corrections: correction::Corrections::default(),
            bookable: Bookable::default(),
        }
    }

    /// The administrator's settings.
    pub fn settings(&self) -> &ClusterSettings {
        &self.settings
    }

    /// Applies other settings and another policy; whether virtual cores count stays as it is.
    pub fn apply_settings(&mut self, settings: ClusterSettings, policy: Box<dyn Policy>) {
        let virtual_cores_count = self.settings.virtual_cores_count;
        self.settings = ClusterSettings { virtual_cores_count, ..settings };
        self.state.nodes.enforce(settings.enforce);
        (self.policy, self.starts) = (policy, StartPlanner::default());
        self.keeper = NodeKeeper::default();
    }

    /// A node registered. A registered node of the same name is removed first.
    pub fn node_added(&mut self, name: &str, registered: Request) -> NodeId {
        if let Some(former) = self.node_named(name) {
            self.node_removed(former);
        }
        let node = self.state.nodes.add(name, registered);
        self.nodes_changed("");
        node
    }

    /// The registered size of a node changed.
    pub fn node_resized(&mut self, node: NodeId, registered: Request) {
        if let Some(label) = self.state.nodes.resize(node, registered) {
            self.nodes_changed(&label);
        }
    }

    fn nodes_changed(&mut self, label: &str) {
        let registered = self.state.nodes.registered_of(label);
        let registered = registered.bookable(self.settings.virtual_cores_count);
        self.bookable.shares.set_registered(label, registered.into());
    }

    /// A node got another label; empty for none.
    pub fn node_labelled(&mut self, node: NodeId, label: &str) {
        let Some(former) = self.state.nodes.label(node, label) else {
            return;
        };
        self.nodes_changed(&former);
        self.nodes_changed(label);
        let there = self.state.containers.values_mut().filter(|it| it.node == node);
        self.bookable.shares.carry_over(there, |taken_by| taken_by.label = label.into());
    }

    /// The queues and their shares, as CapacityScheduler has them now.
    pub fn configure_queues(&mut self, shares: Vec<QueueShare>) {
        self.bookable.shares.configure(shares);
    }

    /// Whether no node may be raised: CapacityScheduler would place containers there without the core's order.
    pub fn forbid_raising(&mut self, is_forbidden: bool) {
        self.bookable.forbid(is_forbidden);
    }

    /// Replaces what holds at some nodes and queues instead of the settings.
    pub fn set_exceptions(&mut self, exceptions: &Exceptions) {
        self.state.nodes.enforce_as(exceptions);
        self.bookable.set_ceilings(exceptions);
        let changed = self.state.observe_queues(exceptions.enforce_by_queue.clone());
        self.waiting.refresh_predictions(&changed, &self.state.applications);
    }

    /// A node is gone, and its containers with it.
    pub fn node_removed(&mut self, node: NodeId) {
        self.corrections.node_lost(&self.state, node);
        self.skips.forget(node);
        if let Some(entry) = self.state.nodes.remove(node) {
            self.nodes_changed(&entry.label);
            for container in entry.containers.values() {
                self.finished(container);
            }
        }
    }

    /// A node's agent reported the node's physical size.
    pub fn reported(&mut self, node: NodeId, capacity: Resources, now_ms: i64) {
        let Self { state, bookable, corrections, .. } = self;
        measured_size::reported(state, &mut bookable.shares, corrections, node, capacity, now_ms);
    }

    /// A node's agent named containers that have to give way, because the node is short of memory.
    pub fn ran_short(&mut self, node: NodeId, now_ms: i64) {
        if let Some(entry) = self.state.nodes.get_mut(node) {
            entry.ran_short(now_ms);
        }
    }

    /// A node by its number.
    pub fn node(&self, node: NodeId) -> Option<&NodeEntry> {
        self.state.nodes.get(node)
    }

    /// A node by YARN's name for it.
    pub fn node_named(&self, name: &str) -> Option<NodeId> {
        self.state.nodes.named(name)
    }

    /// All nodes.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &NodeEntry)> {
        self.state.nodes.iter()
    }

    /// An application was added.
    pub fn application_added(&mut self, application: Application) -> ApplicationId {
        let id = self.state.add_application(application);
        self.waiting.update(id, &self.state.applications);
        id
    }

    /// The prediction for an application's containers of one kind changed; none plans them at their request.
    /// Running containers that have a profile keep the demand with which they were placed.
    pub fn set_prediction(
        &mut self,
        application: ApplicationId,
        kind: ContainerKind,
        predicted: Option<Predicted>,
    ) {
        let Self { state, bookable: Bookable { shares, .. }, waiting, .. } = self;
        planned_anew::predicted(state, shares, waiting, application, kind, predicted);
    }

    /// An application was moved to another queue.
    pub fn application_moved(&mut self, application: ApplicationId, queue: &str) {
        if self.state.move_application(application, queue) {
            self.waiting.move_to_queue(application, queue);
            self.waiting.refresh_predictions(&[application], &self.state.applications);
            let containers = self.state.containers.values_mut();
            let of_it = containers.filter(|it| it.application == application);
            self.bookable.shares.carry_over(of_it, |taken_by| taken_by.queue = queue.into());
        }
    }

    /// An application ended.
    pub fn application_removed(&mut self, application: ApplicationId) -> Option<Application> {
        let removed = self.state.applications.remove(&application)?;
        self.waiting.remove(application);
        Some(removed)
    }

    /// An application's ask changed.
    pub fn pending(&mut self, application: ApplicationId, ask: Ask, now_ms: i64) {
        if let Some(entry) = self.state.applications.get_mut(&application) {
            let request = ask.request.bookable(self.settings.virtual_cores_count);
            entry.ask(Ask { request, ..ask }, now_ms);
            self.waiting.update(application, &self.state.applications);
        }
    }

    /// An application by its number.
    pub fn application(&self, application: ApplicationId) -> Option<&Application> {
        self.state.applications.get(&application)
    }

    /// All applications.
    pub fn applications(&self) -> impl Iterator<Item = (ApplicationId, &Application)> {
        self.state.applications.iter().map(|(id, it)| (*id, it))
    }

    /// A container by YARN's id.
    pub fn container(&self, container: &str) -> Option<&Container> {
        self.state.containers.get(container)
    }

    /// A container and the shared copy of its id, by YARN's id.
    pub fn named_container(&self, container: &str) -> Option<(&Arc<str>, &Container)> {
        self.state.containers.get_key_value(container)
    }

    /// The containers of a node that the core has otherwise than CapacityScheduler, whose are the `running`.
    pub fn booked_otherwise(&self, node: NodeId, running: &[RunningContainer]) -> Vec<String> {
        self.state.booked_otherwise(node, running)
    }

    /// A container's resident memory was measured, in bytes.
    pub fn measured_memory(&mut self, container: &str, memory_bytes: f64) {
        self.state.measured_memory(container, memory_bytes);
    }

    /// Whether the core decides about this node.
    pub fn decides(&self, id: NodeId, now_ms: i64) -> bool {
        self.node(id).is_some_and(|node| node.is_decided(&self.settings, now_ms))
    }

    /// The applications whose next container fits `node` now and over time, in the order to try them; none where
    /// CapacityScheduler decides. `free` is what CapacityScheduler may still book on the node.
    pub fn round(
        &mut self,
        node: NodeId,
        free: Request,
        now_ms: i64,
    ) -> Option<Vec<ApplicationId>> {
        self.offer(Offer::best(node, free), now_ms)
    }

    /// The same for any [`Offer`].
    pub fn offer(&mut self, offer: Offer<'_>, now_ms: i64) -> Option<Vec<ApplicationId>> {
        round::Round::new(self, offer, now_ms).run()
    }

    /// CapacityScheduler went past these applications that a round on `node` had named, in order:
    /// something that the core does not know keeps them from that node. They go behind the others
    /// there for a bounded time.
    pub fn skipped(&mut self, node: NodeId, applications: &[ApplicationId], now_ms: i64) {
        if let Some(entry) = self.state.nodes.get(node) {
            self.skips.skipped(node, applications, &self.waiting, now_ms);
            for id in applications {
                let application = self.state.applications.get(id);
                let is_asked = application.is_some_and(|it| it.label == entry.label);
                self.waiting.skipped(*id, node, is_asked.then_some(now_ms));
            }
        }
    }

    /// Checks and records a container in one step, so that two rounds on one node cannot both take
    /// the same resources.
    pub fn commit(&mut self, commit: CommitRequest<'_>, now_ms: i64) -> Commit {
        round::commit(self, &commit, now_ms)
    }

    /// A container ended, or its commit was refused elsewhere.
    pub fn finished(&mut self, container: &str) -> Option<Container> {
        let (id, container) = self.state.containers.remove_entry(container)?;
        self.corrections.ended(&id, &container);
        self.bookable.shares.ended(&container.taken_by);
        self.state.end(&container);
        self.waiting.running_changed(container.application, &self.state.applications);
        Some(container)
    }

    /// What the queue of an application, those above it, and its user's limit let the application still take by
    /// request on nodes without a label; nothing if no node has room by demand. None while no queue is configured, or
    /// the application waits for nothing.
    pub fn headroom(&self, application: ApplicationId, now_ms: i64) -> Option<Request> {
        let Self { settings, state, bookable, waiting, .. } = self;
        bookable::headroom(settings, &bookable.shares, state, waiting, application, now_ms)
    }

    /// Why the latest check refused an application's next container; none if it did not.
    pub fn wait_reason(&mut self, application: ApplicationId, now_ms: i64) -> Option<WaitReason> {
        round::wait_reason(self, application, now_ms)
    }

    /// The nodes whose bookable capacity has to change, at most `limit` of them, each second a step.
    pub fn bookable_changes(&mut self, limit: usize, now_ms: i64) -> Vec<BookableChange> {
        self.bookable.changes(&self.settings, &mut self.state, &self.waiting, limit, now_ms)
    }

    /// Raises every node to the ceiling at once, for a simulator that books by the fit alone.
    pub fn raise_to_ceiling(&mut self, now_ms: i64) {
        self.bookable.raise_to_ceiling(&self.settings, &mut self.state, now_ms);
    }

    /// Whether CapacityScheduler may preempt a container.
    pub fn may_preempt(&mut self, preemption: Preemption<'_>, now_ms: i64) -> bool {
        let Self { settings, state, bookable, .. } = self;
        bookable::may_preempt(settings, &state.nodes, &mut bookable.shares, preemption, now_ms)
    }

    /// The containers of a node, in order of start, that CapacityScheduler alone would not have
    /// started: with them the running requests exceed the node's registered memory.
    pub fn overcommitted(&self, node: NodeId) -> Vec<(&str, &Container)> {
        self.state.overcommitted(node)
    }

    /// What the limits of a node's containers follow; none for a node that is not there.
    pub fn limits_on(&self, node: NodeId) -> Option<NodeLimits<'_>> {
        let entry = self.state.nodes.get(node)?;
        Some(NodeLimits::of(&self.state, entry, self.corrections.lent_to(node)))
    }

    /// How running containers are reprovisioned from now on, if at all. Off by default.
    pub fn reprovision_by(&mut self, settings: Option<ReprovisionSettings>) {
        self.corrections.settings = settings;
    }

    /// The demand predicted for a container at its start; none without a prediction or container.
    pub fn predicted_demand(&self, container: &str) -> Option<&Demand> {
        self.corrections.predicted_demand(&self.state, container)
    }

    /// A container's corrected demand over its predicted one; 1 without a correction.
    pub fn corrected_by(&self, container: &str) -> Resources {
        self.corrections.factors(&self.state, container)
    }

    /// A container's progress. Its demand follows the progress from now on, instead of the time
    /// since its start. Returns whether the node's remaining resources changed.
    pub fn progressed(&mut self, container: &str, progress: Progress, now_ms: i64) -> bool {
        self.corrections.progressed(&mut self.state, container, progress, now_ms).is_some()
    }

    /// A sample of a container's use. Samples must arrive in the order of time, and before the
    /// progress derived from them. Returns whether the node's remaining resources changed.
    pub fn used(&mut self, container: &str, used: Used, now_ms: i64) -> bool {
        self.corrections.used(&mut self.state, container, used, now_ms).is_some()
    }

    /// Ends an expired window on a node, and opens one for the node's slowest executor if one is slow. To be called once
    /// for each report, after the report's samples. Returns whether the node's remaining resources changed.
    pub fn reprovision(&mut self, node: NodeId, now_ms: i64) -> bool {
        let decides = self.decides(node, now_ms);
        self.corrections.reprovision(&mut self.state, node, decides, now_ms)
    }

    /// The corrections since the last call.
    pub fn take_reprovisioned(&mut self) -> Vec<Reprovisioned> {
        std::mem::take(&mut self.corrections.done)
    }
}

#[cfg(test)]
mod tests;

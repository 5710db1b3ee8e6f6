//! The rooms of a cluster, and the events that several of them handle.

use super::correction::Corrections;
use super::patience::{NodeKeeper, Passing};
use super::ranking::WorkShares;
use super::state::{Application, ApplicationId, Ask, Container, NodeId, Predicted, Request, State};
use super::waiting::WaitingTable;
use crate::container_kind::ContainerKind;
use crate::demand::Demand;

/// Each room owns its state; a round and a commit get all rooms.
#[derive(Debug)]
pub(crate) struct Rooms {
    pub(crate) state: State,
    pub(crate) waiting: WaitingTable,
    pub(crate) work_shares: WorkShares,
    pub(crate) keeper: NodeKeeper,
    pub(crate) passing: Passing,
    pub(crate) corrections: Corrections,
}

impl Rooms {
    pub(crate) fn new(virtual_cores_count: bool) -> Self {
        Self {
            state: State::new(virtual_cores_count),
            waiting: WaitingTable::default(),
            work_shares: WorkShares::default(),
            keeper: NodeKeeper::default(),
            passing: Passing::default(),
            corrections: Corrections::default(),
        }
    }

    pub(crate) fn node_removed(&mut self, node: NodeId) {
        self.corrections.node_lost(&self.state, node);
        if let Some(entry) = self.state.nodes.remove(node) {
            for container in entry.containers.values() {
                self.ended(container);
            }
        }
    }

    pub(crate) fn application_moved(&mut self, application: ApplicationId, queue: &str) {
        if let Some(entry) = self.state.applications.get_mut(application) {
            queue.clone_into(&mut entry.queue);
            self.waiting.move_to_queue(application, queue);
        }
    }

    pub(crate) fn application_added(&mut self, mut application: Application) -> ApplicationId {
        application.demands = application.demands.on_grid();
        let id = self.state.applications.add(application);
        self.ask_changed(id);
        id
    }

    pub(crate) fn pending(&mut self, application: ApplicationId, ask: Ask, now_ms: i64) {
        if let Some(entry) = self.state.applications.get_mut(application) {
            let request = ask.request.bookable(self.state.virtual_cores_count);
            entry.ask(Ask { request, ..ask }, now_ms);
            self.ask_changed(application);
        }
    }

    /// An application was added, or its ask changed.
    fn ask_changed(&mut self, application: ApplicationId) {
        if let Some(entry) = self.state.applications.get(application) {
            self.waiting.update(application, entry);
            self.work_shares.changed();
        }
    }

    pub(crate) fn foreseen(
        &mut self,
        application: ApplicationId,
        kind: ContainerKind,
        predicted: Option<Predicted>,
    ) {
        if let Some(entry) = self.state.applications.get_mut(application)
            && entry.demands.set(kind, predicted.map(Predicted::on_grid))
        {
            self.waiting.foreseen(application, kind, &entry.demands);
            self.work_shares.changed();
        }
    }

    pub(crate) fn application_removed(&mut self, id: ApplicationId) -> Option<Application> {
        let removed = self.state.applications.remove(id)?;
        self.waiting.remove(id);
        self.passing.forget(id);
        self.work_shares.changed();
        Some(removed)
    }

    /// An application got its next container.
    pub(crate) fn granted(&mut self, application: ApplicationId, request: Request, now_ms: i64) {
        if let Some(entry) = self.state.applications.get_mut(application) {
            entry.granted(now_ms);
        }
        self.waiting.granted(application, now_ms);
        self.passing.granted(application);
        self.keeper.placed(request, now_ms);
    }

    pub(crate) fn started(&mut self, id: &str, container: Container, demand: Demand, now_ms: i64) {
        // A container reported twice, as after a restart, must not be booked twice.
        self.ended(id);
        let application = container.application;
        self.state.start(id, container, demand, now_ms);
        self.running_changed(application);
    }

    pub(crate) fn ended(&mut self, id: &str) -> Option<Container> {
        let (id, container) = self.state.containers.remove(id)?;
        self.corrections.ended(&id, &container);
        self.state.end(&container);
        self.running_changed(container.application);
        Some(container)
    }

    /// The number of running containers of an application changed.
    fn running_changed(&mut self, application: ApplicationId) {
        if let Some(entry) = self.state.applications.get(application) {
            self.waiting.running_changed(application, entry);
        }
    }
}

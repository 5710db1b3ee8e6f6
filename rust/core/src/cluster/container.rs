//! Containers: committed, running, finished.

use std::sync::Arc;

use super::Cluster;
use super::admission::{Admitted, Refusal, admit};
use super::application::ApplicationId;
use super::node_entry::{NodeId, Request};
use super::notes::Note;
use super::prospect::{Judge, Prospect, planned_demand};
use crate::container_kind::ContainerKind;
use crate::demand::Demand;
use crate::node::ExecutorId;
use crate::running::Running;

/// One container that was committed.
#[derive(Debug, Clone, PartialEq)]
pub struct Container {
    /// Where it runs.
    pub node: NodeId,
    /// Whose it is.
    pub application: ApplicationId,
    /// Its number on the node.
    pub executor: ExecutorId,
    /// What it is for.
    pub kind: ContainerKind,
    /// What it asked for.
    pub request: Request,
    /// When it was committed.
    pub start_ms: i64,
    /// The profile its demand comes from; none when it is its request.
    pub profile: Option<Arc<str>>,
    /// The safety margin of its demand.
    pub margin: f64,
}

/// A container that is about to be committed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommitRequest<'a> {
    /// YARN's container id.
    pub container: &'a str,
    /// Whose it is.
    pub application: ApplicationId,
    /// Where it goes.
    pub node: NodeId,
    /// What it is for.
    pub kind: ContainerKind,
    /// What it asks for.
    pub request: Request,
    /// Whether the core has a veto; without it the container is only recorded.
    pub may_refuse: bool,
    /// When it started: now, but for a container that outlived a ResourceManager.
    pub start_ms: i64,
}

/// Why a container is where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlacedReason {
    /// Its demand fits over time.
    Fits,
    /// It waited too long, and the node has free space by request.
    Starving,
    /// CapacityScheduler decided: mode `observe`, or no fresh report of the node.
    CapacityScheduler,
    /// It was there before this core knew of it.
    NotAsked,
}

impl PlacedReason {
    /// The word that the journal uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            PlacedReason::Fits => "fits",
            PlacedReason::Starving => "starving",
            PlacedReason::CapacityScheduler => "capacity-scheduler",
            PlacedReason::NotAsked => "not-asked",
        }
    }

    /// Whether the core decided.
    #[must_use]
    pub fn is_by_core(self) -> bool {
        matches!(self, PlacedReason::Fits | PlacedReason::Starving)
    }
}

impl From<Admitted> for PlacedReason {
    fn from(admitted: Admitted) -> Self {
        match admitted {
            Admitted::Fits => PlacedReason::Fits,
            Admitted::Starving => PlacedReason::Starving,
        }
    }
}

/// What was recorded for a container.
#[derive(Debug, Clone, PartialEq)]
pub struct Placement {
    /// Why it is there.
    pub reason: PlacedReason,
    /// The policy's score, where the core decided.
    pub score: Option<f64>,
    /// The container itself.
    pub container: Container,
}

/// The answer to a [`CommitRequest`].
#[derive(Debug, Clone, PartialEq)]
pub enum Commit {
    /// It must not be committed; nothing was recorded.
    Refused(Refusal),
    /// It was recorded.
    Placed(Placement),
    /// The node or the application is not known, so that nothing could be recorded.
    Unknown,
}

impl Cluster {
    /// Checks and records a container in one step, so that two rounds on one node cannot both take
    /// what is left.
    pub fn commit(&mut self, commit: CommitRequest<'_>, now_ms: i64) -> Commit {
        let decides = self.decides(commit.node, now_ms);
        let judge = Judge::of(self.policy.as_ref());
        let (Some(entry), Some(application)) = (
            self.nodes.get_mut(&commit.node),
            self.applications.get_mut(&commit.application),
        ) else {
            return Commit::Unknown;
        };
        let request = commit.request.bookable(self.settings.virtual_cores_count);
        let predicted = application.demands.of(commit.kind);
        let demand = match planned_demand(entry, predicted, request) {
            Ok(demand) => demand,
            Err(error) => return Commit::Refused(Refusal::Demand(error)),
        };
        let profile = predicted.map(|predicted| Arc::clone(&predicted.profile));
        let margin = predicted.map_or(0.0, |predicted| predicted.margin);

        let (reason, score) = if !decides {
            (PlacedReason::CapacityScheduler, None)
        } else if !commit.may_refuse {
            (PlacedReason::NotAsked, None)
        } else {
            judge.look_at(entry, now_ms);
            let waiting = application.as_waiting(self.registered);
            let prospect = match Prospect::new(judge, entry, predicted, request, waiting, now_ms) {
                Ok(prospect) => prospect,
                Err(error) => return Commit::Refused(Refusal::Demand(error)),
            };
            let settings = &self.settings;
            match admit(&prospect, settings, entry, application, request, now_ms) {
                Ok(admitted) => (admitted.into(), Some(prospect.score())),
                Err(excess) => {
                    let (node, resource) = (commit.node, excess.resource);
                    if let Some(row) = application.row {
                        self.waiting.set_note(row, Note::Short { node, resource });
                    }
                    return Commit::Refused(Refusal::Excess(excess));
                }
            }
        };
        if commit.may_refuse {
            application.granted(now_ms);
            self.keeping.placed(request, now_ms);
            if let Some(row) = application.row {
                self.waiting.granted(row, now_ms);
            }
        }
        let container = Container {
            node: commit.node,
            application: commit.application,
            executor: ExecutorId(self.next_executor),
            kind: commit.kind,
            request: commit.request,
            start_ms: commit.start_ms,
            profile,
            margin,
        };
        self.next_executor += 1;
        self.start(commit.container, &container, demand, now_ms);
        Commit::Placed(Placement {
            reason,
            score,
            container,
        })
    }

    fn start(&mut self, id: &str, container: &Container, demand: Demand, now_ms: i64) {
        // A container that is told twice, as after a restart, must not be booked twice.
        self.finished(id);
        if let Some(application) = self.applications.get_mut(&container.application) {
            application.started(container.request);
            self.waiting.counted(application);
        }
        self.stacks.started(container.node, container.application);
        let booked = container
            .request
            .bookable(self.settings.virtual_cores_count);
        let id: Arc<str> = id.into();
        if let Some(entry) = self.nodes.get_mut(&container.node) {
            let executor = Running::new(container.start_ms, demand);
            entry
                .plan
                .insert(&mut entry.node, container.executor, executor, now_ms);
            entry.containers.insert(container.executor, Arc::clone(&id));
            entry.booked = entry.booked.plus(booked);
        }
        self.containers.insert(id, container.clone());
    }

    /// A container ended, or its commit was refused elsewhere.
    pub fn finished(&mut self, container: &str) -> Option<Container> {
        let (id, container) = self.containers.remove_entry(container)?;
        self.course_ended(&id, &container);
        self.stacks.ended(container.node, container.application);
        let booked = container
            .request
            .bookable(self.settings.virtual_cores_count);
        if let Some(entry) = self.nodes.get_mut(&container.node) {
            entry.plan.remove(&mut entry.node, container.executor);
            entry.containers.remove(&container.executor);
            entry.booked = entry.booked.minus(booked);
        }
        if let Some(application) = self.applications.get_mut(&container.application) {
            application.ended(container.request);
            self.waiting.counted(application);
        }
        Some(container)
    }
}

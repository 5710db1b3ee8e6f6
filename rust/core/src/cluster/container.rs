//! Containers: committed, running, finished.

use std::sync::Arc;

use super::Cluster;
use super::admission::{Admitted, Prospect, Refusal, admit};
use super::application::{ApplicationId, Held};
use super::node_entry::{NodeId, Request};
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
    /// Whether it is the application master.
    pub application_master: bool,
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
    /// Whether it is the application master.
    pub application_master: bool,
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
    /// It was there before this core knew of it, or came out of a reservation.
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
        let (Some(entry), Some(application)) = (
            self.nodes.get_mut(&commit.node),
            self.applications.get_mut(&commit.application),
        ) else {
            return Commit::Unknown;
        };
        let predicted = application.demands.of(commit.application_master);
        let prospect = match Prospect::new(entry, predicted, commit.request) {
            Ok(prospect) => prospect,
            Err(error) => return Commit::Refused(Refusal::Demand(error)),
        };
        let profile = predicted.map(|predicted| Arc::clone(&predicted.profile));

        let (reason, score) = if !decides {
            (PlacedReason::CapacityScheduler, None)
        } else if !commit.may_refuse {
            (PlacedReason::NotAsked, None)
        } else {
            let available = entry.node.available(now_ms);
            let place = entry.place(&available, now_ms);
            let candidate = prospect.candidate(application.as_waiting(self.registered));
            let (policy, settings) = (self.policy.as_ref(), &self.settings);
            let request = commit.request;
            match admit(
                policy,
                settings,
                entry,
                &place,
                application,
                request,
                &candidate,
            ) {
                Ok(admitted) => (admitted.into(), Some(policy.score(&place, &candidate))),
                Err(excess) => {
                    let node = commit.node;
                    application.held = Some(Held::NoFit { node, excess });
                    return Commit::Refused(Refusal::Excess(excess));
                }
            }
        };

        let executor = ExecutorId(self.next_executor);
        self.next_executor += 1;
        let container = Container {
            node: commit.node,
            application: commit.application,
            executor,
            application_master: commit.application_master,
            request: commit.request,
            start_ms: commit.start_ms,
            profile,
            margin: prospect.margin,
        };
        if commit.may_refuse {
            application.granted(now_ms);
        }
        // A container that is told twice, as after a restart, must not be booked twice.
        self.finished(commit.container);
        if let Some(application) = self.applications.get_mut(&commit.application) {
            application.started(commit.request);
        }
        let booked = commit.request.bookable(self.settings.virtual_cores_count);
        if let Some(entry) = self.nodes.get_mut(&commit.node) {
            entry
                .node
                .insert(executor, Running::new(commit.start_ms, prospect.demand));
            entry.booked = entry.booked.plus(booked);
        }
        self.containers
            .insert(commit.container.to_owned(), container.clone());
        Commit::Placed(Placement {
            reason,
            score,
            container,
        })
    }

    /// A container ended, or its commit was refused elsewhere.
    pub fn finished(&mut self, container: &str) -> Option<Container> {
        let container = self.containers.remove(container)?;
        let booked = container
            .request
            .bookable(self.settings.virtual_cores_count);
        if let Some(entry) = self.nodes.get_mut(&container.node) {
            entry.node.remove(container.executor);
            entry.booked = entry.booked.minus(booked);
        }
        if let Some(application) = self.applications.get_mut(&container.application) {
            application.ended(container.request);
        }
        Some(container)
    }
}

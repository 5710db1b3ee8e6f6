//! Containers: about to be committed, committed, refused.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::request::Request;
use crate::container_kind::ContainerKind;
use crate::demand::DemandError;
use crate::fit::Excess;
use crate::ids::{ApplicationId, NodeId};
use crate::node::ExecutorId;

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

/// Why a container must not go to a node now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Refusal {
    /// Its demand does not fit.
    Excess(Excess),
    /// Its demand is none, such as a size that is not a number.
    Demand(DemandError),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Excess(excess) => excess.fmt(f),
            Refusal::Demand(error) => error.fmt(f),
        }
    }
}

/// All containers, by YARN's id.
#[derive(Debug, Default)]
pub(crate) struct Containers {
    by_id: HashMap<Arc<str>, Container>,
    next_executor: u64,
}

impl Containers {
    pub(crate) fn next_executor(&mut self) -> ExecutorId {
        let id = ExecutorId(self.next_executor);
        self.next_executor += 1;
        id
    }

    pub(crate) fn insert(&mut self, id: Arc<str>, container: Container) {
        self.by_id.insert(id, container);
    }

    pub(crate) fn remove(&mut self, id: &str) -> Option<(Arc<str>, Container)> {
        self.by_id.remove_entry(id)
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Container> {
        self.by_id.get(id)
    }

    /// With its id as it is shared here.
    pub(crate) fn entry(&self, id: &str) -> Option<(&Arc<str>, &Container)> {
        self.by_id.get_key_value(id)
    }

    /// While both numbers are the same no container started or ended: the first only grows, and with
    /// it unchanged the second only falls.
    pub(crate) fn version(&self) -> (u64, usize) {
        (self.next_executor, self.by_id.len())
    }
}

//! Containers: about to be committed, committed, refused.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::demands::Basis;
use super::node::RegisteredOnly;
use super::request::Request;
use crate::cluster::bookable::TakenBy;
use crate::container_kind::ContainerKind;
use crate::fit::Excess;
use crate::ids::{ApplicationId, NodeId};
use crate::node::ExecutorId;

/// A committed container.
#[derive(Debug, Clone, PartialEq)]
pub struct Container {
    /// Its node.
    pub node: NodeId,
    /// Its application.
    pub application: ApplicationId,
    /// Its number on the node.
    pub executor: ExecutorId,
    /// Its kind.
    pub kind: ContainerKind,
    /// Its request.
    pub request: Request,
    /// When it started.
    pub start_ms: i64,
    /// The runs that its demand comes from; none where it is planned at its request.
    pub basis: Option<Basis>,
    /// The safety margin of its demand.
    pub margin: f64,
    /// What it takes of the physical machines, and in whose name.
    pub(crate) taken_by: TakenBy,
}

impl Container {
    /// The profile that it is planned by; none without one.
    pub fn profile(&self) -> Option<&Arc<str>> {
        self.basis.as_ref().and_then(Basis::profile)
    }

    /// The label of its node; empty for none.
    pub fn label(&self) -> &Arc<str> {
        &self.taken_by.label
    }
}

/// A container that CapacityScheduler is about to commit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CommitRequest<'a> {
    /// YARN's container id.
    pub container: &'a str,
    /// Its application.
    pub application: ApplicationId,
    /// Its node.
    pub node: NodeId,
    /// Its kind.
    pub kind: ContainerKind,
    /// Its request.
    pub request: Request,
    /// Whether the core may refuse the container; otherwise the container is only recorded.
    pub may_refuse: bool,
    /// When it started: now, or earlier for a container that outlived a ResourceManager.
    pub start_ms: i64,
}

/// Why a container was placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlacedReason {
    /// Its demand fits over time.
    Fits,
    /// It waited too long, and the node has room by request.
    Starving,
    /// Its queue is below its guarantee while another queue is above, and the node has room by request.
    Owed,
    /// It lacks CPU, network or disk, of which its queue has less than its share and another more; the node has room
    /// by request.
    OwedFlow,
    /// CapacityScheduler decided: mode `observe`, or no fresh report of the node.
    CapacityScheduler,
    /// The core was not asked.
    NotAsked,
    /// It ran already, as after a restart of the ResourceManager or a change of its size.
    RanAlready,
}

impl PlacedReason {
    /// Whether the core decided.
    pub fn is_by_core(self) -> bool {
        matches!(self, Self::Fits | Self::Starving | Self::Owed | Self::OwedFlow)
    }
}

/// The record of a placed container.
#[derive(Debug, Clone, PartialEq)]
pub struct Placement {
    /// Why it was placed.
    pub reason: PlacedReason,
    /// The policy's score, where the core decided.
    pub score: Option<f64>,
    /// The container itself.
    pub container: Container,
}

/// The answer to a [`CommitRequest`].
#[derive(Debug, Clone, PartialEq)]
pub enum Commit {
    /// The container must not be committed; nothing was recorded.
    Refused(Refusal),
    /// The container was recorded.
    Placed(Placement),
    /// The node or the application is unknown; nothing was recorded.
    Unknown,
}

/// Why a container must not be committed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// Its demand does not fit.
    #[error("{0}")]
    NoFit(Excess),
    /// The node registered less than the container requests; CapacityScheduler may see a raised size.
    #[error("the request is larger than the node")]
    LargerThanNode,
    /// A queue is at its maximum capacity by demand, or at its ceiling by request.
    #[error(
        "queue {0} has no room: its predicted use is at maximum-capacity, or its requests at \
         max-ratio.queue"
    )]
    QueueAtMaximum(Arc<str>),
    /// A user takes, by request and by demand, what it may of a queue.
    #[error("user {user} is at its limit in queue {queue}, by requests and by predicted use")]
    UserAtLimit {
        /// Who.
        user: Arc<str>,
        /// Where.
        queue: Arc<str>,
    },
    /// The node's registered size is booked, and what it may book above that is not for this queue.
    #[error(
        "another queue waits for its guarantee and goes before queue {0} to capacity above the \
         node's registered size"
    )]
    QueueYields(Arc<str>),
    /// The node's registered size is booked, and it may not start above that.
    #[error("the node's registered size is booked, and {}", match .0 {
        RegisteredOnly::Observed(observed) => {
            format!("the application is in mode observe, set by {}", observed.by())
        }
        RegisteredOnly::ShortOfMemory => {
            "it was short of memory within the last five minutes".to_owned()
        }
    })]
    RegisteredOnly(RegisteredOnly),
}

//! Containers: about to be committed, committed, refused.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::request::Request;
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
    /// The profile of its prediction; none where it is planned at its request.
    pub profile: Option<Arc<str>>,
    /// The safety margin of its demand.
    pub margin: f64,
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
    /// CapacityScheduler decided: mode `observe`, or no fresh report of the node.
    CapacityScheduler,
    /// It ran before this core knew it.
    NotAsked,
}

impl PlacedReason {
    /// Whether the core decided.
    pub fn is_by_core(self) -> bool {
        matches!(self, PlacedReason::Fits | PlacedReason::Starving)
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
    /// The container must not be committed, since its demand does not fit; nothing was recorded.
    Refused(Excess),
    /// The container was recorded.
    Placed(Placement),
    /// The node or the application is unknown; nothing was recorded.
    Unknown,
}

//! The record of a container that is preempted, or was to be.

use serde::{Deserialize, Serialize};

/// A container that is preempted, or was to be. Records of both have the kind `preemption`, and a `cause` each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Preemption {
    /// By CapacityScheduler. It comes first: nothing else has its cause.
    ByCapacityScheduler(CapacityPreemption),
    /// Its node is short of memory.
    ForMemory(MemoryPreemption),
}

impl Preemption {
    /// YARN's application id; none when the container is not known.
    pub fn application(&self) -> Option<&str> {
        match self {
            Self::ByCapacityScheduler(preemption) => Some(&preemption.application),
            Self::ForMemory(preemption) => preemption.application.as_deref(),
        }
    }

    /// YARN's container id.
    pub fn container(&self) -> &str {
        match self {
            Self::ByCapacityScheduler(preemption) => &preemption.container,
            Self::ForMemory(preemption) => &preemption.container,
        }
    }

    /// The node.
    pub fn node(&self) -> &str {
        match self {
            Self::ByCapacityScheduler(preemption) => &preemption.node,
            Self::ForMemory(preemption) => &preemption.node,
        }
    }
}

/// A container that CapacityScheduler preempts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapacityPreemption {
    /// Whose decision it is.
    pub cause: CapacityPreemptionCause,
    /// The node.
    pub node: String,
    /// YARN's container id.
    pub container: String,
    /// YARN's application id.
    pub application: String,
    /// Its fate.
    pub outcome: CapacityPreemptionOutcome,
    /// Why, in a sentence.
    pub reason: String,
}

/// Whose decision a preemption is. A record with another cause is no [`CapacityPreemption`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityPreemptionCause {
    /// CapacityScheduler's, not the core's.
    CapacityScheduler,
}

/// The fate of a container that CapacityScheduler preempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityPreemptionOutcome {
    /// Its application master is told that it will end.
    Told,
    /// It is ended as soon as another container needs its room (lazy preemption).
    Killable,
    /// It has ended.
    Preempted,
    /// It was killable, and is not any more.
    Spared,
}

/// A container that the agent named because its node's memory is short. Its record says so in `cause`; a record of an
/// earlier version has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename = "short-of-memory")]
pub struct MemoryPreemption {
    /// The node.
    pub node: String,
    /// YARN's container id.
    pub container: String,
    /// YARN's application id; none when the container is not known.
    pub application: Option<String>,
    /// Its fate.
    pub outcome: PreemptionOutcome,
    /// Its memory, in bytes.
    pub resident_bytes: u64,
    /// The node's shortage, in bytes.
    pub short_bytes: u64,
    /// Why, in a sentence.
    pub reason: String,
}

/// The fate of a container that the agent named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PreemptionOutcome {
    /// Its application master is told that it will end.
    Told,
    /// It is ended, as preempted.
    Preempted,
    /// It runs on, though its application master was told otherwise.
    Spared,
    /// The core does not agree that it should give way.
    Refused,
    /// It would be preempted in mode `enforce`.
    Observed,
}

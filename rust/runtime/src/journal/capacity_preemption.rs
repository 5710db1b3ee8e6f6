//! The record of a container that CapacityScheduler preempts.

use serde::{Deserialize, Serialize};

/// A container that CapacityScheduler preempts. Its record has the kind of a [`Preemption`](super::Preemption), and another
/// cause.
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
    /// The path of the application's leaf queue; none if it is not known.
    pub queue: Option<String>,
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

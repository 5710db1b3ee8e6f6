//! The administrator's settings.

use std::collections::{BTreeMap, BTreeSet};

/// The administrator's settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusterSettings {
    /// Whether the core's decisions are enforced on nodes that [`Exceptions`] do not name; otherwise
    /// CapacityScheduler decides.
    pub enforce: bool,
    /// Whether CapacityScheduler counts virtual cores; with its DefaultResourceCalculator it books
    /// memory alone.
    pub virtual_cores_count: bool,
    /// The most that a node's bookable capacity may be, over its registered capacity.
    pub max_ratio: f64,
    /// Maximum age of a fresh report, in milliseconds.
    pub fresh_for_ms: i64,
    /// Time from one growth of a node's bookable capacity to the next, in milliseconds: the interval of
    /// reports, so that each growth shows its effect.
    pub grow_every_ms: i64,
    /// Starvation wait, in milliseconds: an application that has waited this long goes where it has
    /// room by request, as with CapacityScheduler.
    pub starvation_wait_ms: i64,
}

/// What holds at some nodes and queues instead of [`ClusterSettings`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Exceptions {
    /// [`ClusterSettings::max_ratio`] of the nodes with this label.
    pub max_ratio_by_label: BTreeMap<String, f64>,
    /// The largest ratio of this queue's requests to its maximum capacity, which counts registered sizes.
    pub max_ratio_by_queue: BTreeMap<String, f64>,
    /// [`ClusterSettings::enforce`] on the nodes with this label.
    pub enforce_by_label: BTreeMap<String, bool>,
    /// Whether decisions count for this queue and those below it, where they are enforced at all.
    pub enforce_by_queue: BTreeMap<String, bool>,
    /// Nodes on which decisions are enforced whatever their label, by host or `host:port`.
    pub enforced_nodes: BTreeSet<String>,
}

//! What the administrator set.

/// What the administrator set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusterSettings {
    /// Whether decisions act; otherwise everything is CapacityScheduler's.
    pub enforce: bool,
    /// Whether CapacityScheduler counts virtual cores; with its DefaultResourceCalculator it books
    /// by memory alone.
    pub virtual_cores_count: bool,
    /// Bookable over registered capacity while a node's agent reports freshly.
    pub max_ratio: f64,
    /// A report that is older than this is stale, in milliseconds.
    pub fresh_for_ms: i64,
    /// How long an application waits before it passes as CapacityScheduler would have it.
    pub starvation_wait_ms: i64,
    /// How long an application may pass on nodes for one that delays it less, in milliseconds, and
    /// how much sooner its work has to be done there; 0 takes the first node that it fits.
    pub pass_ms: i64,
}

//! The administrator's settings.

/// The administrator's settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClusterSettings {
    /// Whether the core's decisions are enforced; otherwise CapacityScheduler decides.
    pub enforce: bool,
    /// Whether CapacityScheduler counts virtual cores; with its DefaultResourceCalculator it books
    /// memory alone.
    pub virtual_cores_count: bool,
    /// Bookable over registered capacity while a node's agent reports freshly.
    pub max_ratio: f64,
    /// Maximum age of a fresh report, in milliseconds.
    pub fresh_for_ms: i64,
    /// Starvation wait, in milliseconds: an application that has waited this long goes where it has
    /// room by request, as with CapacityScheduler.
    pub starvation_wait_ms: i64,
    /// Longest wait of an application for a node that delays it less, and the least gain worth the
    /// wait, in milliseconds. 0 takes the first node that fits.
    pub pass_ms: i64,
}

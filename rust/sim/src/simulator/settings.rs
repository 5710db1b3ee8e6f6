//! How a workload is run.

use elastane_core::ClusterSettings;
use elastane_core::plan::PlanSettings;
use elastane_core::policy::PolicyOptions;
use elastane_core::reprovision::ReprovisionSettings;

use super::contention::Contention;

/// How a workload is run. The defaults are the papers' rules, and CapacityScheduler's where the papers
/// have none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The model of contention.
    pub contention: Contention,
    /// The options of the policy.
    pub policy_options: PolicyOptions,
    /// See [`ClusterSettings::pass_ms`].
    pub pass_ms: i64,
    /// See [`ClusterSettings::starvation_wait_ms`].
    pub starvation_wait_ms: i64,
    /// The safety margin of the fit.
    pub margin: f64,
    /// How many containers a heartbeat may place: CapacityScheduler's
    /// `maximum-offswitch-assignments`, 1 as it is there by default.
    pub assignments_per_heartbeat: u32,
    /// Whether heartbeats that cannot change anything are skipped; the result is the same.
    pub skip_idle_heartbeats: bool,
    /// The run fails after this simulated time, in milliseconds.
    pub give_up_after_ms: i64,
    /// How containers are followed while they run.
    pub following: Following,
    /// The node that is recorded, for [`super::Outcome::packing`].
    pub recorded_node: Option<usize>,
}

/// How containers are followed while they run. By default they are not: their demand follows the
/// clock, and nothing is limited.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Following {
    /// Where their progress comes from.
    pub progress: ProgressSource,
    /// How they are reprovisioned, if at all.
    pub reprovisioning: Option<ReprovisionSettings>,
    /// How CPU, network and disk are limited, if at all.
    pub limits: Option<PlanSettings>,
}

/// Where the progress of containers comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProgressSource {
    /// Nowhere.
    #[default]
    None,
    /// Estimated from usage, as the ResourceManager does by default.
    Usage,
    /// Reported exactly, as by a plugin of the framework.
    Exact,
}

impl Following {
    /// Whether agents have anything to report.
    pub(super) fn is_on(&self) -> bool {
        *self != Self::default()
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            contention: Contention::default(),
            policy_options: PolicyOptions::default(),
            pass_ms: 0,
            starvation_wait_ms: 60_000,
            margin: 0.0,
            assignments_per_heartbeat: 1,
            skip_idle_heartbeats: true,
            give_up_after_ms: 30 * 24 * 3_600_000,
            following: Following::default(),
            recorded_node: None,
        }
    }
}

/// What CapacityScheduler may book where a policy fits by demand, as a multiple of the registered
/// size: more than any node can hold, so that the fit decides.
const BOOKABLE_RATIO: f64 = 100.0;

impl Settings {
    pub(super) fn cluster(&self, books_as_registered: bool) -> ClusterSettings {
        let (max_ratio, pass_ms) = if books_as_registered {
            (1.0, 0)
        } else {
            (BOOKABLE_RATIO, self.pass_ms)
        };
        ClusterSettings {
            enforce: true,
            virtual_cores_count: true,
            max_ratio,
            // Agents report all the time; simulating each report would change nothing.
            fresh_for_ms: i64::MAX,
            starvation_wait_ms: self.starvation_wait_ms,
            pass_ms,
        }
    }
}

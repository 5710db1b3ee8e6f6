//! How a workload is run.

use elastane_core::ClusterSettings;
use elastane_core::plan::PlanSettings;
use elastane_core::policy::PolicyOptions;
use elastane_core::reprovision::ReprovisionSettings;
use elastane_runtime::{RuntimeSettings, ServiceSettings};

use super::contention::Contention;

/// How a workload is run. The defaults are those of production.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The model of contention.
    pub contention: Contention,
    /// The options of the policy.
    pub policy_options: PolicyOptions,
    /// Overcommit and patience.
    pub cluster: ClusterSettings,
    /// The safety margin of the fit, as a fraction of each prediction.
    pub margin: f64,
    /// Whether an application that has not run before is planned by what the others use of their requests.
    pub others: bool,
    /// How many containers a heartbeat may place: CapacityScheduler's
    /// `maximum-offswitch-assignments`, 1 as it is there by default.
    pub assignments_per_heartbeat: u32,
    /// Whether heartbeats that cannot change anything are skipped; the result is the same.
    pub skip_idle_heartbeats: bool,
    /// Whether virtual cores count by the limits and the order of queues, as with CapacityScheduler's
    /// `DominantResourceCalculator`. By default memory alone counts.
    pub queues_count_vcores: bool,
    /// The run fails after this simulated time, in milliseconds.
    pub give_up_after_ms: i64,
    /// How containers are followed while they run.
    pub following: Following,
    /// The node that is recorded, for [`super::SimulatedRun::packing`].
    pub recorded_node: Option<usize>,
    /// How often the starts of what waits are forecast, for [`super::SimulatedRun::forecasts`]; none for never.
    pub forecast_every_ms: Option<i64>,
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
        let production = ServiceSettings::default();
        Self {
            contention: Contention::default(),
            policy_options: production.policy_options,
            cluster: ClusterSettings {
                enforce: true,
                // Agents never fall silent here.
                fresh_for_ms: i64::MAX,
                ..production.cluster
            },
            // Of a profile of full confidence.
            margin: RuntimeSettings::DEFAULT_PROFILE.margin,
            others: RuntimeSettings::DEFAULT_PROFILE.others,
            assignments_per_heartbeat: 1,
            skip_idle_heartbeats: true,
            queues_count_vcores: false,
            give_up_after_ms: 30 * 24 * 3_600_000,
            following: Following::default(),
            recorded_node: None,
            forecast_every_ms: None,
        }
    }
}

impl Settings {
    /// The settings of the service. `books_as_registered`: CapacityScheduler decides without Elastane.
    pub(super) fn service(&self, books_as_registered: bool) -> ServiceSettings {
        let following = &self.following;
        let production = ServiceSettings::default();
        let mut cluster = self.cluster;
        if books_as_registered {
            cluster.max_ratio = 1.0;
        }
        ServiceSettings {
            cluster,
            plan: following.limits.unwrap_or(production.plan),
            follows_progress: following.progress != ProgressSource::None,
            reprovision: following.reprovisioning,
            ..production
        }
    }
}

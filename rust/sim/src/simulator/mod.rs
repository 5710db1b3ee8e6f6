//! Discrete-event simulation of a YARN cluster, scheduled by the service that the ResourceManager drives.
//!
//! Between events executors progress at a constant rate ([`Contention`]). Events are ends of slots,
//! arrivals, heartbeats and reports. [`elastane_runtime::Service`] decides, with its default settings.

mod agenda;
mod allocation;
mod amounts;
mod beats;
mod bound;
mod contention;
mod engine;
mod followed;
mod forecasts;
mod kinds;
mod machine;
mod masters;
mod meter;
mod newcomers;
mod occupancy;
mod outcome;
mod policies;
mod queue_users;
mod queues;
mod resource_manager;
mod settings;

pub use bound::LowerBound;
pub use contention::Contention;
pub use forecasts::ForecastStart;
pub use meter::{LEVELS, UseOverTime};
pub use outcome::{ApplicationOutcome, Counts, Packing, PackingPiece, SimulatedRun};
pub use policies::{Policies, PolicyToSimulate};
pub use settings::{Following, ProgressSource, Settings};

use elastane_core::policy::UnknownPolicy;

use crate::workload::Workload;

/// Why a workload cannot be run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// No policy has the name.
    #[error(transparent)]
    Policy(#[from] UnknownPolicy),
    /// No node is large enough.
    #[error(
        "application {application}: an executor asks for {vcores} cores and {memory_bytes} bytes, \
         which no node has"
    )]
    TooLarge {
        /// The application.
        application: String,
        /// The request of one executor.
        vcores: u32,
        /// The request of one executor.
        memory_bytes: u64,
    },
    /// The service refused an agent's report.
    #[error("machine {}: {reason}", machine + 1)]
    Report {
        /// The machine's place in the workload.
        machine: usize,
        /// Why.
        reason: String,
    },
    /// Nothing progresses, or the run takes longer than [`Settings::give_up_after_ms`].
    #[error("policy {policy}: {jobs_left} applications never end, {application} first")]
    NeverEnds {
        /// The policy.
        policy: &'static str,
        /// The first application that does not end.
        application: String,
        /// The number of applications that do not end.
        jobs_left: usize,
    },
}

/// Runs a workload under the policy of this name. The same seed gives the same outcome. `progress` gets
/// the number of finished executors.
///
/// # Errors
/// No policy has this name, an executor that no node can hold, or a run that never ends.
pub fn simulate(
    workload: &Workload,
    policies: &Policies,
    policy: &str,
    settings: &Settings,
    seed: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<SimulatedRun, SimulationError> {
    let policy = policies.named(policy, settings.policy_options)?;
    for application in &workload.applications {
        let request = application.request;
        let fits = workload.machines.iter().any(|machine| {
            request.memory_bytes as f64 <= machine.memory_bytes
                && f64::from(request.vcores) <= machine.cpu_cores
        });
        if !fits {
            return Err(SimulationError::TooLarge {
                application: application.name.clone(),
                vcores: request.vcores,
                memory_bytes: request.memory_bytes,
            });
        }
    }
    engine::Engine::new(workload, policy, settings, seed).run(progress)
}

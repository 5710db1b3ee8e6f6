//! Workloads that are generated from what papers published.

mod class;
mod elasecutor;
mod large;
mod learned;
mod lockstep;
mod outdated;
mod prophet;
mod series;
mod tpch;
mod ursa_mix;

pub use class::{Class, ClassStatistics};
pub use learned::{Predict, RunErrors, learned};
pub use series::{SeriesStatistics, measure};

use elastane_core::DemandError;
use elastane_sim::workload::Workload;

/// Why a workload is not generated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WorkloadError {
    /// No workload has the name.
    #[error("workload {name}: not known, {} are there", names().join(", "))]
    Unknown {
        /// The name that was asked for.
        name: String,
    },
    /// A generated series is no demand.
    #[error(transparent)]
    Demand(#[from] DemandError),
}

type Generator = fn(u64) -> Result<Workload, DemandError>;

const GENERATORS: [(&str, Generator); 7] = [
    ("elasecutor", elasecutor::generate),
    ("elasecutor-outdated", outdated::generate),
    ("elasecutor-tpch", tpch::generate),
    ("prophet", prophet::generate),
    ("ursa-mix", ursa_mix::generate),
    ("lockstep", lockstep::generate),
    ("large", |seed| large::generate(seed, large::MACHINES)),
];

/// The names of the workloads that can be generated.
#[must_use]
pub fn names() -> Vec<&'static str> {
    GENERATORS.iter().map(|(name, _)| *name).collect()
}

/// Generates a workload; the same seed gives the same one.
///
/// # Errors
/// No workload has this name; the error lists the names that exist.
pub fn generate(name: &str, seed: u64) -> Result<Workload, WorkloadError> {
    let known = GENERATORS.iter().find(|(known, _)| *known == name);
    let Some((_, generator)) = known else {
        let name = name.to_owned();
        return Err(WorkloadError::Unknown { name });
    };
    Ok(generator(seed)?)
}

/// The workload `large` on this number of machines, with one application of ten executors per machine.
///
/// # Errors
/// A generated series is no demand.
pub fn generate_large(seed: u64, machines: usize) -> Result<Workload, WorkloadError> {
    Ok(large::generate(seed, machines)?)
}

//! Workloads that are generated from what papers published.

mod class;
mod elasecutor;
mod large;
mod lockstep;
mod outdated;
mod prophet;
mod series;
mod tpch;
mod ursa_mix;

pub use class::{Class, ClassStatistics};
pub use series::{SeriesStatistics, measure};

use elastane_core::DemandError;
use elastane_sim::workload::Workload;

/// Why a workload is not generated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WorkloadError {
    /// No workload has this name.
    #[error("workload {name}: not known, one of {} is allowed", names().join(", "))]
    Unknown {
        /// The name as given.
        name: String,
    },
    /// A generated demand is not valid.
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

/// The names of all workloads.
pub fn names() -> Vec<&'static str> {
    GENERATORS.iter().map(|(name, _)| *name).collect()
}

/// Generates a workload; the same seed gives the same one.
pub fn generate(name: &str, seed: u64) -> Result<Workload, WorkloadError> {
    match GENERATORS.iter().find(|(known, _)| *known == name) {
        Some((_, generator)) => Ok(generator(seed)?),
        None => Err(WorkloadError::Unknown { name: name.into() }),
    }
}

/// The workload `large` on this number of machines, with one application of ten executors per machine.
pub fn generate_large(seed: u64, machines: usize) -> Result<Workload, WorkloadError> {
    Ok(large::generate(seed, machines)?)
}

//! What a simulated cluster has to do: machines, and applications with their executors.
//!
//! A workload is generated from what a paper published ([`generate`]), or read from a file.

mod application;
mod class;
mod elasecutor;
mod file;
mod large;
mod learned;
mod lockstep;
mod outdated;
mod prophet;
mod series;
mod tpch;
mod trace;
mod ursa_mix;

pub use application::{ApplicationSpec, Errors, ExecutorSlots};
pub use class::{Class, ClassStatistics};
pub use learned::{Predict, RunErrors};
pub use series::{SeriesStatistics, measure};
pub use trace::TraceFormat;

use elastane_core::{DemandError, Resources};

/// Machines, and what is to run on them.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// For reports.
    pub name: String,
    /// The physical size of each node.
    pub machines: Vec<Resources>,
    /// How often a node asks for work, in milliseconds.
    pub heartbeat_ms: i64,
    /// In the order of submission.
    pub applications: Vec<ApplicationSpec>,
}

impl Workload {
    /// The size of all machines together.
    #[must_use]
    pub fn capacity(&self) -> Resources {
        let add = |sum: Resources, machine: &Resources| sum + *machine;
        self.machines.iter().fold(Resources::ZERO, add)
    }

    /// How many executors all applications have.
    #[must_use]
    pub fn executors(&self) -> u64 {
        let executors = self.applications.iter().map(|one| u64::from(one.executors));
        executors.sum()
    }

    /// The same, with these errors instead of each application's own.
    #[must_use]
    pub fn with_errors(mut self, errors: Errors) -> Self {
        for application in &mut self.applications {
            application.errors = errors;
        }
        self
    }

    fn sorted(mut self) -> Self {
        self.applications
            .sort_by_key(|application| application.submitted_ms);
        self
    }
}

/// Why there is no such workload.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WorkloadError {
    /// A name that no workload has.
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
/// There is none of this name; the error lists those that are there.
pub fn generate(name: &str, seed: u64) -> Result<Workload, WorkloadError> {
    let known = GENERATORS.iter().find(|(known, _)| *known == name);
    let Some((_, generator)) = known else {
        let name = name.to_owned();
        return Err(WorkloadError::Unknown { name });
    };
    Ok(generator(seed)?)
}

/// The workload `large` on so many machines, with one application and ten executors for each.
///
/// # Errors
/// A generated series is no demand.
pub fn generate_large(seed: u64, machines: usize) -> Result<Workload, WorkloadError> {
    Ok(large::generate(seed, machines)?)
}

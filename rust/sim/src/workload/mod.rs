//! The load of a simulated cluster: machines, and applications with their executors.

mod application;
mod file;
mod machine;
mod master;
mod queue;
mod share;
mod trace;

pub use application::{ApplicationSpec, Errors, ExecutorSlots, stretched};
pub use machine::{GIB, GIGABIT_PER_S, MEGABYTE_PER_S, TRACE_MACHINE};
pub use master::{MasterSpec, MastersLimit};
pub use queue::{Parts, QueueSpec};
pub(crate) use share::dominant_share;
pub use trace::TraceFormat;

use elastane_core::Resources;

/// Machines, and the applications to run on them.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// For reports.
    pub name: String,
    /// The physical size of each node.
    pub machines: Vec<Resources>,
    /// How often a node asks for work, in milliseconds.
    pub heartbeat_ms: i64,
    /// The leaf queues; none for one queue that holds all applications.
    pub queues: Vec<QueueSpec>,
    /// In the order of submission.
    pub applications: Vec<ApplicationSpec>,
    /// Masters that a queue's limit may hold back; an application without one arrives when it is submitted.
    pub masters: Vec<MasterSpec>,
}

impl Workload {
    /// The total size of the machines.
    pub fn capacity(&self) -> Resources {
        self.machines.iter().copied().sum()
    }

    /// The number of executors of all applications.
    pub fn executors(&self) -> u64 {
        let executors = self.applications.iter().map(|one| u64::from(one.executors));
        executors.sum()
    }

    /// The same with the applications in the order of submission.
    pub fn sorted(mut self) -> Self {
        self.applications.sort_by_key(|application| application.submitted_ms);
        self
    }
}

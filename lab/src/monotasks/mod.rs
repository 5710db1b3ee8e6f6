//! Ursa in its own units of work (Jin et al., EuroSys 2020): jobs are graphs of stages, the tasks of a
//! stage are split into monotasks of network, CPU and disk, and a machine has a queue for each
//! resource.
//!
//! [`simulate()`] runs jobs on one [`System`]; [`reproduce()`] runs all of the paper's tables.
//! `docs/lab/monotasks.md` has the model.

mod bound;
mod comparison;
mod containers;
mod job;
mod meter;
mod parameters;
mod progress;
mod queued;
mod run;
mod scheduler;
mod sensitivity;
mod server;
mod system;
mod workers;
mod workload;
mod world;

pub use bound::lower_bound_s;
pub use comparison::{Figure, Metric, Reproduction, SystemRow, Table, Utilization, reproduce};
pub use job::{Job, Kind, Stage, Task, Work};
pub use parameters::{Containers, Interference, Machines, Parameters, Workers};
pub use run::{Outcome, Stuck, simulate};
pub use sensitivity::{COSTS, ChangedParameter, Cost, VARIATIONS, costs};
pub use server::{Server, Sharing};
pub use system::{ContainerSettings, Engine, JobOrder, Placement, Removed, System, WorkerSettings};
pub use workers::memory_estimate_bytes;
pub use workload::Jobs;
pub use world::Event;

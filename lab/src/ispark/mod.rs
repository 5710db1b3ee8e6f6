//! iSpark (Yang et al., IEEE BigData 2019): iterative applications that give executors up while they
//! use little of them, beside Spark's static and dynamic allocation.
//!
//! [`packing`] decides which executor hands its work to which; this module simulates the
//! effect. Executors have fixed sizes, so applications compete only for executors, and there are no
//! nodes. `docs/lab/reproduce.md` has the model.

mod allocation;
mod application;
mod comparison;
mod executor;
mod outcome;
pub mod packing;
mod parameters;
mod report;
mod run;
mod sensitivity;
mod workload;

pub use allocation::Allocation;
pub use comparison::{Comparison, Figure, compare};
pub use outcome::{Counts, Outcome};
pub use parameters::Parameters;
pub use report::to_json;
pub use run::{NeverEnds, simulate};
pub use sensitivity::VARIATIONS;
pub use workload::{Iteration, Job, jobs, lower_bound_s};

//! iSpark (Yang et al., IEEE BigData 2019): iterative applications that give executors up while they
//! use little of them, beside Spark's static and dynamic allocation.
//!
//! Which executor hands its work to which is said by [`elastane_core::packing`]; here is what comes
//! of it. Executors are hard-sized, so that applications meet only where they wait for executors:
//! there are no nodes. `docs/reproduce.md` has the model.

mod allocation;
mod application;
mod comparison;
mod executor;
mod outcome;
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

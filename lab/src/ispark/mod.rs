//! iSpark (Yang et al., IEEE BigData 2019): iterative applications release executors while utilization
//! is low. Compared with Spark's static and dynamic allocation.
//!
//! [`packing`] decides which executor takes over from which; this module simulates the effect.
//! Executors have fixed sizes, so applications compete only for executors and the model has no nodes.
//! `docs/lab/reproduce.md` describes the model.

mod allocation;
mod application;
mod comparison;
mod executor;
mod job;
mod outcome;
pub mod packing;
mod parameters;
mod run;
mod sensitivity;
mod workload;

pub use allocation::Allocation;
pub use comparison::{IsparkComparison, IsparkFigure, compare};
pub use job::{IsparkJob, Iteration};
pub use outcome::{IsparkCounts, IsparkOutcome};
pub use parameters::IsparkParameters;
pub use run::{NeverEnds, simulate};
pub use sensitivity::VARIATIONS;
pub use workload::{jobs, lower_bound_s};

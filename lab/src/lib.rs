//! The laboratory, which never runs in a cluster: the papers' workloads and comparisons, baseline policies
//! and predictions, and the models that only comparisons need.
//!
//! `docs/lab/README.md` lists the commands of `elastane-lab`.

pub mod baselines;
pub mod evaluation;
pub mod ispark;
pub mod monotasks;
mod random;
pub mod reproduce;
mod variation;
pub mod workload;

pub use variation::Variation;

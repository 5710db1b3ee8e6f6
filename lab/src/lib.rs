//! What never runs in a cluster: the papers' workloads and comparisons, the policies and predictions that
//! Elastane is compared with, and the models that only comparisons need.
//!
//! The `elastane-lab` command is made from it; `docs/lab/README.md` lists its commands.

pub mod baselines;
pub mod evaluation;
pub mod ispark;
pub mod monotasks;
pub mod reproduce;
mod variation;
pub mod workload;

pub use variation::Variation;

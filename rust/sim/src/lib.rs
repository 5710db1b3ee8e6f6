//! Scenarios and simulated clusters, scheduled by the core that production runs.
//!
//! [`what_if()`] tells what a policy would place in a [`Scenario`], and why; `docs/what-if.md` has the
//! format. [`simulator`] runs a whole [`workload`]; `docs/simulator.md` describes the model. [`advise`] replays what
//! happened in a cluster.

mod advice;
pub mod capacity;
pub mod experiment;
mod input;
pub mod parallel;
pub mod random;
pub mod report;
mod scenario;
pub mod simulator;
pub mod summary;
mod what_if;
pub mod workload;

pub use advice::{Advice, advise};
pub use input::InputError;
pub use scenario::{RunningExecutor, Scenario};
pub use what_if::{Answer, Heartbeat, Options, WhatIfCandidate, WhatIfDetail, what_if};

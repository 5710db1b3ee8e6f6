//! Scenarios and simulated clusters, answered by the core that production runs.
//!
//! A [`Scenario`] says what runs and what waits; [`what_if()`] says what a policy would place, and
//! why. `docs/command.md` has the formats. [`simulator`] runs a whole [`workload`], as
//! `docs/simulator.md` has it.

pub mod experiment;
mod input;
pub mod ispark;
pub mod monotasks;
mod random;
pub mod report;
pub mod reproduce;
mod scenario;
pub mod simulator;
pub mod summary;
mod variation;
mod what_if;
pub mod workload;

pub use input::InputError;
pub use scenario::{RunningExecutor, Scenario};
pub use variation::Variation;
pub use what_if::{Answer, Candidate, Detail, Heartbeat, Options, what_if};

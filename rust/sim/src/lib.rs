//! Scenarios, answered by the core that production runs.
//!
//! A [`Scenario`] says what runs and what waits; [`what_if()`] says what a policy would place, and
//! why. `docs/command.md` has the formats.

mod scenario;
mod what_if;

pub use scenario::{RunningExecutor, Scenario, ScenarioError};
pub use what_if::{Answer, Candidate, Detail, Heartbeat, Options, what_if};

//! Core, predictions and depository put together: what the ResourceManager's library and the
//! simulator run.
//!
//! [`Elastane`] takes events and reports with the time at which they happened and gives decisions.
//! Nothing here asks a clock. Four threads are its own, so that no heartbeat waits for a disk: one
//! writes the journal, one writes runs into the depository and makes profiles of them, one saves what
//! is recorded of running applications, and one removes old runs.

mod amounts;
mod checkpoint;
mod elastane;
mod first_asks;
mod journal;
mod learner;
mod measured;
mod memory_victims;
mod progress;
mod refusals;
mod renewal;
mod report;
mod reprovisioning;
mod retention;
mod runs;
mod settings;
mod status;
mod substitute;
mod writer;

pub use crate::elastane::{Elastane, OpenError};
pub use amounts::AmountError;
pub use elastane_store::MergeReport;
pub use journal::{Placed, Preemption, PreemptionOutcome, Record, Reprovision};
pub use learner::SharingError;
pub use memory_victims::PreemptionOrder;
pub use report::ReportError;
pub use settings::{Settings, SettingsError};

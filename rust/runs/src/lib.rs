//! What is recorded of applications: the vocabulary that predictions and the depository share.
//!
//! A [`RunRecorder`] turns the samples of a running application into the series of a [`Run`]. A
//! [`SubmissionRecord`] says what the run was given, a [`PredictionMade`] what was predicted of it.
//! Nothing here does I/O or reads a clock.

mod crowding;
mod ledger;
mod open_run;
mod prediction;
mod recorder;
mod run;
mod sample;
mod settings;
mod submission;

pub use crowding::{CpuMeasured, Crowding};
pub use elastane_core::ContainerKind;
pub use ledger::{
    GB, HOUR_MS, HOUR_S, LedgerEntry, LedgerNews, LedgerSubject, LedgerSums, NodesHour,
};
pub use open_run::{OpenRun, RunEvent};
pub use prediction::{Feature, LeftOutRun, ModelUsed, PredictionMade, PredictionOutcome};
pub use recorder::{MAX_SLOTS, MOST_EXECUTOR_KINDS, MOST_STAGES, RunRecorder};
pub use run::{Outcome, Run, RunSeries, kinds};
pub use sample::ContainerSample;
pub use settings::{AT_FIRST_ASK, EXECUTOR_CORES, EXECUTOR_MEMORY_BYTES, EXECUTORS, RunSettings};
pub use submission::{SignaturePart, SubmissionRecord};

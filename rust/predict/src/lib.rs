//! Recognizes applications, and predicts the usage of their next run.
//!
//! [`signature()`] says which submissions are the same application; [`profile()`] plans the next run by the
//! latest ones, with [`predict_next`]. [`score()`] compares a prediction with the usage of the run.
//! The crate has no I/O and no clock; `docs/prediction.md` has the formulas.

mod deadline;
mod launch;
mod made;
mod mode_tag;
mod others;
mod profile;
mod recurring;
mod run_length;
mod score;
mod settings;
mod shape;
mod shell;
mod signature;
mod statistics;
mod stem;

pub use deadline::{BadDeadline, chance_within, deadline_ms};
pub use elastane_runs::{
    ContainerKind, ContainerSample, Feature, MAX_SLOTS, MOST_EXECUTOR_KINDS, Outcome, Run,
    RunRecorder, RunSeries, SignaturePart, kinds,
};
pub use made::prediction_outcome;
pub use mode_tag::{BadMode, is_observed_by_tag};
pub use others::{Others, OthersPlan};
pub use profile::{Profile, ProfileSettings, profile};
pub use recurring::{
    Excluded, Exclusion, Expectation, LateTracker, Measure, NextRun, NotPredicted,
    ONE_RUN_CONFIDENCE, PastRun, Prediction, RecurringSettings, Tracker, confidence, demand_error,
    predict_next,
};
pub use run_length::{LengthRange, RunLength};
pub use score::{Score, amount, score};
pub use settings::{
    AT_FIRST_ASK, EXECUTOR_CORES, EXECUTOR_MEMORY_BYTES, EXECUTORS, Foreseen, KnownRuns,
    LEAST_RUNS, LOOKED_THROUGH, MOST_RUNS, NotForeseen, NotPlanned, NotTrained, Settings,
    SettingsModel, SettingsRun, Way, submission_settings, train, trainable, training_is_due,
};
pub use signature::{SharedProfiles, Submission, queue_of, signature, signature_parts};

/// Usage along the progress of runs, from 0 to 1. Predictions and trackers are computed from it; the
/// laboratory computes others from it to compare them.
pub mod progress {
    pub use crate::recurring::{LogNormal, UsageCurve, mean, mean_between};
}

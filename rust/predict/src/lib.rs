//! Which application this is, what its earlier runs used, and what its next run is expected to use.
//!
//! [`signature()`] says which submissions are the same application; [`profile()`] makes a [`Profile`]
//! from the latest runs, and [`predict_next`] an envelope with a confidence, which
//! [`evaluate_foreseen`] scores against what a run then used. Nothing here does I/O or knows a clock; `docs/learning.md` has the formulas.

mod evaluation;
mod explanation;
mod launch;
mod made;
mod plain;
mod profile;
mod recurring;
mod score;
mod settings;
mod shape;
mod shell;
mod signature;
mod stem;
mod tracked;

pub use elastane_runs::{
    ContainerKind, Feature, MAX_SLOTS, MOST_EXECUTOR_KINDS, Outcome, RecorderOfTwoKinds, Run,
    RunRecorder, RunSeries, SignaturePart, kinds,
};
pub use evaluation::{Evaluated, Method, MethodScores, Scored, evaluate_foreseen};
pub use explanation::signature_parts;
pub use made::prediction_outcome;
pub use plain::Plain;
pub use profile::{
    LeftOut, NotUsed, Outlooks, Planned, Profile, ProfileSettings, outlooks, profile,
};
pub use recurring::{
    Ahead, Excluded, Exclusion, HeldOut, LateTracker, Measure, NotPredicted, ONE_RUN_CONFIDENCE,
    Outlook, PastRun, Prediction, RecurringSettings, Tracker, predict_next,
};
pub use score::{Score, amount, score};
pub use settings::{
    AT_FIRST_ASK, EXECUTOR_CORES, EXECUTOR_MEMORY_BYTES, EXECUTORS, Earlier, Foreseen, GivenRun,
    History, LEAST_RUNS, LOOKED_THROUGH, MOST_RUNS, MOST_SETTINGS, NotForeseen, NotPlanned,
    NotTrained, Settings, SettingsModel, SettingsRun, Way, argument_numbers, foresee,
    submission_settings, train, trainable, training_is_due,
};
pub use signature::{MAX_KEY_BYTES, Signature, SignatureSource, Submission, signature};
pub use tracked::ProgressMissed;

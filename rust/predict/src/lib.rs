//! Recognizes applications, and predicts what their next run will use.
//!
//! [`signature()`] says which submissions are the same application; [`profile()`] plans the next run by the
//! latest ones, with [`predict_next`]. [`evaluate_foreseen`] scores predictions against what a run then used.
//! The crate has no I/O and no clock; `docs/prediction.md` has the formulas.

mod evaluation;
mod explanation;
mod launch;
mod made;
mod profile;
mod recurring;
mod score;
mod settings;
mod shape;
mod shell;
mod signature;
mod stem;

pub use elastane_runs::{
    ContainerKind, Feature, MAX_SLOTS, MOST_EXECUTOR_KINDS, Outcome, RecorderOfTwoKinds, Run,
    RunRecorder, RunSeries, SignaturePart, kinds,
};
pub use evaluation::{
    Ahead, BoundingTracker, Envelope, Evaluated, History, Method, MethodScores, Plain,
    ProgressMissed, Scored, evaluate_foreseen,
};
pub use explanation::signature_parts;
pub use made::prediction_outcome;
pub use profile::{
    LeftOut, NotUsed, Outlooks, Planned, Profile, ProfileSettings, outlooks, profile,
};
pub use recurring::{
    Excluded, Exclusion, LateTracker, Measure, NotPredicted, ONE_RUN_CONFIDENCE, Outlook, PastRun,
    Prediction, RecurringSettings, Tracker, confidence, demand_error, predict_next,
};
pub use score::{Score, amount, score};
pub use settings::{
    AT_FIRST_ASK, EXECUTOR_CORES, EXECUTOR_MEMORY_BYTES, EXECUTORS, Earlier, Foreseen, GivenRun,
    LEAST_RUNS, LOOKED_THROUGH, MOST_RUNS, MOST_SETTINGS, NotForeseen, NotPlanned, NotTrained,
    Settings, SettingsModel, SettingsRun, Way, argument_numbers, foresee, submission_settings,
    train, trainable, training_is_due,
};
pub use signature::{MAX_KEY_BYTES, Signature, SignatureSource, Submission, signature};

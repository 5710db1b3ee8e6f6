//! The resource usage depository: the runs of every application, durable in one SQLite file.
//!
//! [`Depository::open`] makes the file, brings an older one up to date and moves a damaged one
//! aside. A run is saved in one transaction and survives a crash of the process right after; a
//! crash of the machine may lose the last runs, never the file (WAL, synchronous NORMAL).

mod blob;
mod codes;
mod compression;
mod depository;
mod error;
mod ledger;
mod merge;
mod model;
mod open;
mod open_run;
mod packed;
mod prediction;
mod private_file;
mod removal;
mod retention;
mod run;
mod save_queue;
mod schema;
mod snapshot;
mod stage_ends;
mod submission;

pub use depository::Depository;
pub use elastane_runs::{
    LeftOutRun, ModelUsed, OpenRun, PredictionMade, PredictionOutcome, RunEvent, SubmissionRecord,
};
pub use error::{StoreError, StoreErrorKind};
pub use merge::{Merge, MergeReport};
pub use model::ModelRecord;
pub use open::{Access, Opened, with_suffix};
pub use packed::{PackError, PackedDemand};
pub use prediction::PredictionRecord;
pub use private_file::{
    PrivateFileError, check_private_file, make_private_folder, private_file_options,
};
pub use retention::{Pruned, Pruning, Retention};
pub use run::ApplicationSummary;
pub use save_queue::{SaveQueue, Saved, Unsaved};

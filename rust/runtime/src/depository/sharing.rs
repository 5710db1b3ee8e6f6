//! Copies of other depositories that are merged into this one.

use std::sync::mpsc::Sender;
use std::time::Duration;

use elastane_store::{Depository, Merge, MergeReport, StoreError};

/// A checkpoint waits for one step at most.
const STEP: Duration = Duration::from_millis(100);

/// Why nothing was copied or merged.
#[derive(Debug, thiserror::Error)]
pub enum SharingError {
    /// The depository or the copy; with its path.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It panicked, or the core is closing.
    #[error("the depository's thread is gone")]
    ThreadGone,
}

/// A copy that is being merged, and who waits for the report.
pub(super) struct TakeOver {
    merge: Merge,
    done: Sender<Result<MergeReport, StoreError>>,
}

pub(super) enum Step {
    Unfinished(Box<TakeOver>),
    /// The applications that have new runs or models, with an error too.
    Finished {
        changed: Vec<String>,
    },
}

impl TakeOver {
    pub(super) fn new(merge: Merge, done: Sender<Result<MergeReport, StoreError>>) -> Self {
        Self { merge, done }
    }

    pub(super) fn step(mut self: Box<Self>, depository: &mut Depository) -> Step {
        let report = match self.merge.step(depository, STEP) {
            Ok(None) => return Step::Unfinished(self),
            Ok(Some(report)) => Ok(report),
            Err(error) => Err(error),
        };
        // Whoever waited may be gone.
        let _ = self.done.send(report);
        Step::Finished {
            changed: self.merge.into_changed(),
        }
    }
}

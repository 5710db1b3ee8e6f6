//! Other depositories that are being merged into this one, step by step.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::time::Duration;

use elastane_store::{Depository, Merge, MergeReport, StoreError};

use super::substitute::Learned;

/// The length of one step, for which a checkpoint waits at most.
const STEP: Duration = Duration::from_millis(100);

/// Merges in the order in which they were asked for.
#[derive(Default)]
pub(super) struct Merges(VecDeque<Merging>);

struct Merging {
    merge: Merge,
    then: Then,
}

enum Then {
    /// Somebody waits for the report.
    Report(Sender<Result<MergeReport, StoreError>>),
    /// It was a substitute, whose place is not needed any more.
    Remove(PathBuf),
}

impl Merges {
    /// Merges a copy for somebody who waits.
    pub(super) fn add(&mut self, merge: Merge, done: Sender<Result<MergeReport, StoreError>>) {
        self.0.push_back(Merging { merge, then: Then::Report(done) });
    }

    /// Merges what a substitute has learned, first.
    pub(super) fn add_substitute(&mut self, learned: Learned) {
        let Learned { merge, place } = learned;
        self.0.push_front(Merging { merge, then: Then::Remove(place) });
    }

    pub(super) fn are_done(&self) -> bool {
        self.0.is_empty()
    }

    /// One step; gives the keys of applications that have new runs or models once a merge is done.
    pub(super) fn step(&mut self, depository: &mut Depository) -> Vec<String> {
        let Some(mut merging) = self.0.pop_front() else {
            return Vec::new();
        };
        match merging.merge.step(depository, STEP).transpose() {
            None => {
                self.0.push_front(merging);
                Vec::new()
            }
            Some(report) => {
                merging.then.done(report);
                merging.merge.into_changed()
            }
        }
    }
}

impl Then {
    fn done(self, report: Result<MergeReport, StoreError>) {
        match (self, report) {
            // Whoever waited may be gone.
            (Self::Report(done), report) => drop(done.send(report)),
            (Self::Remove(place), Ok(report)) => {
                log::info!(
                    "{} runs recorded while the depository was unavailable are merged into it",
                    report.added
                );
                Learned::remove(&place);
            }
            (Self::Remove(place), Err(error)) => {
                let place = place.display();
                log::error!(
                    "runs recorded while the depository was unavailable are not merged and stay in \
                     {place}: {error}"
                );
            }
        }
    }
}

//! Runs that ended. Those that could not be saved wait, with their submissions and predictions.

use std::sync::Arc;

use elastane_store::{Depository, SaveQueue, Saved, StoreError, Unsaved};

use super::Shared;
use super::outage::Outage;
use crate::counters::count;

/// Runs that wait while the depository cannot be written: 50 MB of runs of half an hour.
const MOST_WAITING: usize = 1_000;

pub(super) struct EndedRuns {
    queue: SaveQueue,
    outage: Outage,
    shared: Arc<Shared>,
}

impl EndedRuns {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let queue = SaveQueue::new(MOST_WAITING);
        Self { queue, outage: Outage::new("runs that ended"), shared }
    }

    pub(super) fn add(&mut self, run: Unsaved) {
        self.queue.add(run);
    }

    /// Saves the runs that wait, until the first error that is not one run's own.
    pub(super) fn save(&mut self, depository: &mut Depository) -> Saved {
        let saved = self.queue.save(depository);
        for (run, error) in &saved.lost {
            log::error!("the run {} is lost: {error}", run.application_id);
        }
        saved
    }

    /// Logs and counts why runs wait.
    pub(super) fn tell(&mut self, waits_for: Option<StoreError>) {
        if waits_for.is_some() {
            count(&self.shared.counters.run_saves_failed);
        }
        self.outage.tell(&waits_for.map_or(Ok(()), Err));
    }
}

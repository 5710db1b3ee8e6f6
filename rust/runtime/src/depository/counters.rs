//! Counters of the depository's thread, for `status`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use elastane_predict::{Foreseen, Way};
use serde::Serialize;

/// Since the start. A prediction is of one application and kind of container.
#[derive(Default, Serialize)]
pub(crate) struct DepositoryCounters {
    /// From earlier runs.
    foreseen_by_runs: AtomicU64,
    /// By a model of the settings.
    foreseen_by_settings: AtomicU64,
    /// Earlier runs were known, and the request was planned by all the same.
    foreseen_by_request: AtomicU64,
    models_trained: AtomicU64,
    checkpoints_failed: AtomicU64,
    /// Samples that were dropped because the depository could not be written for too long.
    samples_lost: AtomicU64,
}

impl DepositoryCounters {
    pub(super) fn foreseen(&self, foreseen: &Foreseen) {
        let counter = match (&foreseen.prediction, foreseen.way) {
            (Err(_), _) => &self.foreseen_by_request,
            (Ok(_), Way::Model) => &self.foreseen_by_settings,
            (Ok(_), _) => &self.foreseen_by_runs,
        };
        counter.fetch_add(1, Relaxed);
    }

    pub(super) fn trained(&self) {
        self.models_trained.fetch_add(1, Relaxed);
    }

    pub(super) fn checkpoint_failed(&self) {
        self.checkpoints_failed.fetch_add(1, Relaxed);
    }

    pub(super) fn lost(&self, samples: usize) {
        self.samples_lost.fetch_add(samples as u64, Relaxed);
    }
}

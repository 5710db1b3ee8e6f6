//! What the learner did, for `status`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use elastane_predict::{Foreseen, Way};

/// Since it was opened.
#[derive(Default)]
pub(crate) struct Counts {
    by_runs: AtomicU64,
    by_settings: AtomicU64,
    by_request: AtomicU64,
    models: AtomicU64,
}

impl Counts {
    /// Containers of one kind of one application were foreseen.
    pub(super) fn foreseen(&self, foreseen: &Foreseen) {
        let counter = match (&foreseen.prediction, foreseen.way) {
            (Err(_), _) => &self.by_request,
            (Ok(_), Way::Model) => &self.by_settings,
            (Ok(_), _) => &self.by_runs,
        };
        counter.fetch_add(1, Relaxed);
    }

    /// A model was trained.
    pub(super) fn trained(&self) {
        self.models.fetch_add(1, Relaxed);
    }

    /// How often containers of one kind of one application were foreseen by earlier runs.
    pub(crate) fn by_runs(&self) -> u64 {
        self.by_runs.load(Relaxed)
    }

    /// How often by a model of their settings.
    pub(crate) fn by_settings(&self) -> u64 {
        self.by_settings.load(Relaxed)
    }

    /// How often earlier runs were known, and the request stood all the same.
    pub(crate) fn by_request(&self) -> u64 {
        self.by_request.load(Relaxed)
    }

    /// How many models were trained.
    pub(crate) fn models(&self) -> u64 {
        self.models.load(Relaxed)
    }
}

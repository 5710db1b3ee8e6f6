//! A panic costs the step in which it happens.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Shared;
use crate::counters::count;

/// Takes steps that may panic.
pub(super) trait Worker {
    /// A step ended somewhere.
    fn has_panicked(&mut self);
}

/// Survives panics, and counts them.
pub(super) struct Panics<'a> {
    shared: &'a Shared,
    told: bool,
}

impl<'a> Panics<'a> {
    pub(super) fn new(shared: &'a Shared) -> Self {
        Self { shared, told: false }
    }

    /// The step's result; `otherwise` after a panic. A transaction of the step is rolled back, and
    /// what the step was to do is not tried again: it would panic again.
    pub(super) fn survive<W: Worker, T>(
        &mut self,
        worker: &mut W,
        otherwise: T,
        step: impl FnOnce(&mut W) -> T,
    ) -> T {
        catch_unwind(AssertUnwindSafe(|| step(worker))).unwrap_or_else(|_| {
            count(&self.shared.counters.learning_failures);
            worker.has_panicked();
            if !std::mem::replace(&mut self.told, true) {
                log::error!(
                    "learning panicked, see standard error: one step is lost, and everything else \
                     goes on (further ones are only counted)"
                );
            }
            otherwise
        })
    }
}

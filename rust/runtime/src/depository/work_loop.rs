//! The loop of the depository's thread. A panic costs the step in which it happens.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError};

use super::keeper::Keeper;
use super::{Shared, Work};
use crate::counters::count;

/// Works until [`Work::Close`].
pub(super) fn run(mut keeper: Keeper, shared: &Shared, work: &Receiver<Work>) -> Keeper {
    let mut panics = Panics::new(shared);
    let mut is_closing = false;
    loop {
        while let Ok(work) = work.try_recv() {
            is_closing |= panics.survive(&mut keeper, false, |keeper| keeper.take(work));
        }
        if is_closing && !keeper.has_asked() {
            break;
        }
        if !panics.survive(&mut keeper, true, Keeper::take_step) {
            match next(&keeper, work) {
                Ok(work) => {
                    is_closing |= panics.survive(&mut keeper, false, |keeper| keeper.take(work));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    }
    panics.survive(&mut keeper, (), |keeper| keeper.end_training(work));
    keeper
}

/// Waits for work, and for the next attempt to do without a substitute.
fn next(keeper: &Keeper, work: &Receiver<Work>) -> Result<Work, RecvTimeoutError> {
    match keeper.substitute_wait() {
        Some(wait) => work.recv_timeout(wait),
        None => work.recv().map_err(|_| RecvTimeoutError::Disconnected),
    }
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
    pub(super) fn survive<T>(
        &mut self,
        keeper: &mut Keeper,
        otherwise: T,
        step: impl FnOnce(&mut Keeper) -> T,
    ) -> T {
        catch_unwind(AssertUnwindSafe(|| step(keeper))).unwrap_or_else(|_| {
            count(&self.shared.counters.learning_failures);
            keeper.has_panicked();
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

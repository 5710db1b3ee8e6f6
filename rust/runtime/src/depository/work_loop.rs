//! The loop of the depository's thread.

use std::sync::mpsc::{Receiver, RecvTimeoutError};

use super::keeper::Keeper;
use super::panics::Panics;
use super::{Shared, Work};

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
        keeper.tell_backlog();
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

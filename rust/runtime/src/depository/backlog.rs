//! How much work the depository's thread has before it.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Work that was given and is not finished. Grows while the thread hangs at a disk.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    /// Given, and not seen by the thread yet.
    given: AtomicUsize,
    /// What the thread had before it when it last looked.
    asked: AtomicUsize,
}

impl Backlog {
    /// To be called before the work is sent, so that it is never taken before it is given.
    pub(super) fn give(&self) {
        self.given.fetch_add(1, Relaxed);
    }

    /// The thread has seen a work, or a given one was never sent.
    pub(super) fn take(&self) {
        self.given.fetch_sub(1, Relaxed);
    }

    pub(super) fn set_asked(&self, asked: usize) {
        self.asked.store(asked, Relaxed);
    }

    pub(super) fn len(&self) -> usize {
        self.given.load(Relaxed) + self.asked.load(Relaxed)
    }
}

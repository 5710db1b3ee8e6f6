//! How much work the depository's thread has before it.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The number of works that were given and are not finished. Grows while the thread hangs at a disk.
#[derive(Debug, Default)]
pub(super) struct Backlog(AtomicUsize);

impl Backlog {
    pub(super) fn add(&self) {
        self.0.fetch_add(1, Relaxed);
    }

    /// A work begins, and is over even if it panics.
    pub(super) fn take(&self) {
        self.0.fetch_sub(1, Relaxed);
    }

    pub(super) fn len(&self) -> usize {
        self.0.load(Relaxed)
    }
}

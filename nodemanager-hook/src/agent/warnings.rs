//! Warnings that many parts of the agent share, each counted under one kind.

use std::{fmt::Display, io};

use crate::{container_id::ContainerId, journal::JournalError, once::Once};

pub(super) fn journal(troubles: &mut Once, saved: Result<(), JournalError>) {
    if let Err(error) = saved {
        troubles.warn("journal", error);
    }
}

pub(super) fn audit(troubles: &mut Once, written: io::Result<()>) {
    if let Err(error) = written {
        troubles.warn("audit", format!("audit file: {error}"));
    }
}

/// A container's files that could not be opened or read.
pub(super) fn reading<E: Display>(troubles: &mut Once, id: &ContainerId, read: Result<(), E>) {
    if let Err(error) = read {
        troubles.warn("readings", format!("{id}: {error}"));
    }
}

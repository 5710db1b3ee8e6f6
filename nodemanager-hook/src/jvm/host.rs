//! What the agent has to know of its host to look at a process.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::freezer::Freezers;

/// A `/proc`, and the groups that can freeze.
#[derive(Debug, Clone)]
pub struct Host {
    pub(super) proc: PathBuf,
    pub(super) freezers: Freezers,
}

impl Host {
    /// Looks once where the host's hierarchies are mounted.
    ///
    /// # Errors
    /// Those of reading `self/mountinfo` below `proc`.
    pub fn discover(proc: &Path) -> io::Result<Self> {
        let mountinfo = fs::read_to_string(proc.join("self/mountinfo"))?;
        Ok(Self {
            proc: proc.into(),
            freezers: Freezers::discover(&mountinfo),
        })
    }

    /// The size of a process's address space; nothing when it is gone.
    pub(super) fn mapped_pages(&self, pid: u32) -> Option<u64> {
        let text = fs::read_to_string(self.proc.join(format!("{pid}/statm"))).ok()?;
        text.split_ascii_whitespace().next()?.parse().ok()
    }
}

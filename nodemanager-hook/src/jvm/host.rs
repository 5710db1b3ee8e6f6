//! The host's files that are needed to examine a process.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::freezer::Freezers;

/// A `/proc` and the hierarchies that can freeze.
#[derive(Debug, Clone)]
pub struct JvmHost {
    pub(super) proc: PathBuf,
    pub(super) freezers: Freezers,
}

impl JvmHost {
    pub fn discover(proc: &Path) -> io::Result<Self> {
        let mountinfo = fs::read_to_string(proc.join("self/mountinfo"))?;
        Ok(Self { proc: proc.into(), freezers: Freezers::discover(&mountinfo) })
    }

    /// The size of a process's address space; `None` if the process is gone.
    pub(super) fn mapped_pages(&self, pid: u32) -> Option<u64> {
        let text = fs::read_to_string(self.proc.join(format!("{pid}/statm"))).ok()?;
        text.split_ascii_whitespace().next()?.parse().ok()
    }
}

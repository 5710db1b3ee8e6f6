//! The memory charged to one group.

use std::{io, path::Path};

use super::{HeldMemory, group_files::GroupFile};
use crate::cgroups::Version;

/// Version 1: all memory of the kernel for the group. It has no file for what cannot be reclaimed of it.
const KERNEL_MEMORY: &str = "memory.kmem.usage_in_bytes";

/// Files of one group, held open between readings.
#[derive(Debug)]
pub struct GroupMemory {
    stat: GroupFile,
    /// Version 1: the kernel's memory, which `memory.stat` does not have.
    of_kernel: Option<GroupFile>,
}

impl GroupMemory {
    pub fn open(group: &Path, version: Version) -> io::Result<Self> {
        let of_kernel = (version == Version::One)
            .then(|| GroupFile::open(group, KERNEL_MEMORY, version).ok())
            .flatten()
            .filter(|file| file.number().is_ok());
        Ok(Self { stat: GroupFile::open(group, "memory.stat", version)?, of_kernel })
    }

    pub fn is_of(&self, group: &Path) -> bool {
        self.stat.path().parent() == Some(group)
    }

    pub fn held(&self) -> io::Result<HeldMemory> {
        let mut held = self.stat.memory()?;
        if let Some(of_kernel) = &self.of_kernel {
            held.resident_bytes = held.resident_bytes.saturating_add(of_kernel.number()?);
        }
        Ok(held)
    }
}

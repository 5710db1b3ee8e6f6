//! Why a limit cannot be put in force.

use std::path::PathBuf;

use super::KernelFileError;
use crate::{cgroups::Controller, journal::JournalError};

#[derive(Debug, thiserror::Error)]
pub enum LimitError {
    #[error(transparent)]
    KernelFile(#[from] KernelFileError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("no cgroup hierarchy serves {0:?}")]
    NotServed(Controller),
    #[error("{} belongs to another running agent: give each agent its own cgroup.parent", group.display())]
    Taken { group: PathBuf },
    #[error("its processes are in several groups: {} and {}", one.display(), other.display())]
    Scattered { one: PathBuf, other: PathBuf },
}

impl LimitError {
    /// Whether the group no longer exists.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::KernelFile(error) if error.is_gone())
    }
}

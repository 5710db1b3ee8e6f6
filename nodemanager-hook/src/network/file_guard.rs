//! A control file of a group that is set while the group is measured.

use std::path::{Path, PathBuf};

use super::{error::NetworkError, link::is_own};
use crate::actuators::{KernelFileError, read_text, write_text};

/// Writes the unset value back when it is dropped.
#[derive(Debug)]
pub struct FileGuard {
    path: PathBuf,
    unset: String,
}

impl FileGuard {
    /// Sets a file that holds 0, or a number that a killed agent left. Fails if the file holds
    /// another owner's number.
    pub fn take(path: &Path, unset: &str, text: &str) -> Result<Self, NetworkError> {
        Self::check(path, &read_text(path)?)?;
        Ok(Self::set(path, unset, text)?)
    }

    /// Sets a file without a check.
    pub fn set(path: &Path, unset: &str, text: &str) -> Result<Self, KernelFileError> {
        let guard = Self {
            path: path.into(),
            unset: unset.into(),
        };
        guard.write(text)?;
        Ok(guard)
    }

    /// Fails if the number that a file holds is neither 0 nor the agent's.
    pub fn check(path: &Path, held: &str) -> Result<(), NetworkError> {
        let held = held.trim();
        let is_free = held
            .parse()
            .is_ok_and(|number| number == 0 || is_own(number));
        is_free.then_some(()).ok_or_else(|| NetworkError::Foreign {
            path: path.into(),
            value: held.into(),
        })
    }

    pub fn write(&self, text: &str) -> Result<(), KernelFileError> {
        write_text(&self.path, text)
    }
}

impl Drop for FileGuard {
    fn drop(&mut self) {
        match self.write(&self.unset) {
            Err(error) if !error.is_gone() => log::warn!("{error}"),
            _ => {}
        }
    }
}

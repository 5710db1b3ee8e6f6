//! A file of a group that is set while the group is measured.

use std::path::{Path, PathBuf};

use super::{error::NetworkError, link::is_own};
use crate::actuators::{KernelFileError, read_text, write_text};

/// Holds what it held before again when it is dropped.
#[derive(Debug)]
pub struct TakenFile {
    path: PathBuf,
    unset: String,
}

impl TakenFile {
    /// Takes a file that holds `unset`, or what a killed agent left: a number of the agent's.
    ///
    /// # Errors
    /// What somebody else has written; those of the file.
    pub fn take(path: &Path, unset: &str, text: &str) -> Result<Self, NetworkError> {
        Self::check(path, &read_text(path)?, unset)?;
        let file = Self::hold(path, unset)?;
        file.write(text)?;
        Ok(file)
    }

    /// Writes `unset` to a file, now and at the end.
    ///
    /// # Errors
    /// Those of the file.
    pub fn hold(path: &Path, unset: &str) -> Result<Self, KernelFileError> {
        let file = Self {
            path: path.into(),
            unset: unset.into(),
        };
        file.write(unset)?;
        Ok(file)
    }

    /// # Errors
    /// A number in a file that is neither 0 nor the agent's.
    pub fn check(path: &Path, held: &str, unset: &str) -> Result<(), NetworkError> {
        let held = held.trim();
        let is_free = held == unset || held.parse().is_ok_and(is_own);
        is_free.then_some(()).ok_or_else(|| NetworkError::Foreign {
            path: path.into(),
            value: held.into(),
        })
    }

    /// # Errors
    /// Those of the file.
    pub fn write(&self, text: &str) -> Result<(), KernelFileError> {
        write_text(&self.path, text)
    }
}

impl Drop for TakenFile {
    fn drop(&mut self) {
        match self.write(&self.unset) {
            Err(error) if !error.is_gone() => log::warn!("{error}"),
            _ => {}
        }
    }
}

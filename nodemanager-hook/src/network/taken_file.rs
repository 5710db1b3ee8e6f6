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
    /// Takes a file that holds 0, or what a killed agent left: a number of the agent's.
    ///
    /// # Errors
    /// What somebody else has written; those of the file.
    pub fn take(path: &Path, unset: &str, text: &str) -> Result<Self, NetworkError> {
        Self::check(path, &read_text(path)?)?;
        Ok(Self::set(path, unset, text)?)
    }

    /// Writes `text` to a file, and `unset` at the end.
    ///
    /// # Errors
    /// Those of the file.
    pub fn set(path: &Path, unset: &str, text: &str) -> Result<Self, KernelFileError> {
        let file = Self {
            path: path.into(),
            unset: unset.into(),
        };
        file.write(text)?;
        Ok(file)
    }

    /// # Errors
    /// A number in a file that is neither 0 nor the agent's.
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

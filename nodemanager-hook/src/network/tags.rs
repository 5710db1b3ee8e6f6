//! The numbers with which `net_cls` and `net_prio` tag the packets of a group.

use std::path::{Path, PathBuf};

use super::{error::NetworkError, link::is_own};
use crate::actuators::{KernelFileError, read_text, write_text};

/// The class id of a `net_cls` group. Dropping this resets the file.
#[derive(Debug)]
pub struct ClassId(PathBuf);

impl ClassId {
    pub fn set(group: &Path, id: u32) -> Result<Self, NetworkError> {
        let path = group.join("net_cls.classid");
        check_free(&path, &read_text(&path)?)?;
        let set = Self(path);
        write_text(&set.0, &id.to_string())?;
        Ok(set)
    }
}

impl Drop for ClassId {
    fn drop(&mut self) {
        warn_unless_gone(write_text(&self.0, "0"));
    }
}

/// Fails if the number that a file holds is neither 0 nor the agent's. A killed agent leaves its
/// numbers.
pub fn check_free(path: &Path, held: &str) -> Result<(), NetworkError> {
    let held = held.trim();
    if held.parse().is_ok_and(|number| number == 0 || is_own(number)) {
        return Ok(());
    }
    Err(NetworkError::Foreign { path: path.into(), value: held.into() })
}

pub fn warn_unless_gone(reset: Result<(), KernelFileError>) {
    match reset {
        Err(error) if !error.is_gone() => log::warn!("{error}"),
        _ => {}
    }
}

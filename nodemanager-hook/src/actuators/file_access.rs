//! Reading and writing a kernel file as text.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    str::FromStr,
};

use nix::errno::Errno;

use crate::sensors::is_gone;

/// A kernel file or a group that could not be read or changed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}: {source}", path.display())]
pub struct KernelFileError {
    action: String,
    path: PathBuf,
    source: io::Error,
}

impl KernelFileError {
    pub fn new(action: impl Into<String>, path: &Path, source: io::Error) -> Self {
        Self { action: action.into(), path: path.into(), source }
    }

    /// The file's text does not have the documented format.
    pub fn unexpected(path: &Path, text: &str) -> Self {
        let reason = format!("unexpected content `{}`", text.trim().escape_default());
        let source = io::Error::new(io::ErrorKind::InvalidData, reason);
        Self::new("use", path, source)
    }

    /// Whether the group or the process no longer exists.
    pub fn is_gone(&self) -> bool {
        is_gone(&self.source)
    }

    /// The kernel's error; `UnknownErrno` where the error is not the kernel's.
    pub fn errno(&self) -> Errno {
        Errno::from_raw(self.source.raw_os_error().unwrap_or_default())
    }
}

pub fn read_text(path: &Path) -> Result<String, KernelFileError> {
    fs::read_to_string(path).map_err(|error| KernelFileError::new("read", path, error))
}

pub fn read_value<T: FromStr>(path: &Path) -> Result<T, KernelFileError> {
    let text = read_text(path)?;
    let value = text.trim().parse();
    value.map_err(|_| KernelFileError::unexpected(path, &text))
}

pub fn write_text(path: &Path, text: &str) -> Result<(), KernelFileError> {
    let written = open_to_write(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| not_written(text, path, error))
}

/// Kernel files are never created: a missing one has to be an error.
pub fn open_to_write(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).truncate(true).open(path)
}

/// Truncates first: kernel files have no length, but a recorded file may be longer than `text`.
pub fn write_at_start(file: &File, text: &str) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all_at(text.as_bytes(), 0)
}

pub fn not_written(text: &str, path: &Path, error: io::Error) -> KernelFileError {
    KernelFileError::new(format!("write {text} to"), path, error)
}

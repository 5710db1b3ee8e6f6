//! A file of a group that stays open, and why a group cannot be watched.

use std::{
    fs::File,
    io,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::FileExt,
    },
    path::{Path, PathBuf},
};

use nix::errno::Errno;

/// The longest of these files has some hundred bytes.
const MOST_BYTES: usize = 1024;

/// Reading fails with ENODEV after the removal of the group.
#[derive(Debug)]
pub struct OpenFile {
    path: PathBuf,
    file: File,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryWatchError {
    #[error("cannot wait for events: {0}")]
    Epoll(Errno),
    #[error("cannot {action} {}: {source}", path.display())]
    File { action: &'static str, path: PathBuf, source: Errno },
}

impl OpenFile {
    pub fn open(path: PathBuf) -> Result<Self, MemoryWatchError> {
        match File::open(&path) {
            Ok(file) => Ok(Self { path, file }),
            Err(error) => Err(MemoryWatchError::file("open", &path, error)),
        }
    }

    pub fn read<T>(&self, parse: impl FnOnce(&str) -> T) -> Result<T, MemoryWatchError> {
        let mut buffer = [0; MOST_BYTES];
        let length = self.file.read_at(&mut buffer, 0);
        let length = length.map_err(|error| MemoryWatchError::file("read", &self.path, error))?;
        Ok(parse(&String::from_utf8_lossy(&buffer[..length])))
    }

    /// Reads a file of one number.
    pub fn number(&self) -> Result<u64, MemoryWatchError> {
        let number: Option<u64> = self.read(|text| text.trim().parse().ok())?;
        let malformed = || MemoryWatchError::file("find a number in", &self.path, Errno::EINVAL);
        number.ok_or_else(malformed)
    }
}

impl AsFd for OpenFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl MemoryWatchError {
    pub(super) fn file(action: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        let errno = source.into().raw_os_error().unwrap_or_default();
        Self::File { action, path: path.into(), source: Errno::from_raw(errno) }
    }

    /// Whether the group no longer exists.
    pub fn is_gone(&self) -> bool {
        let gone = [Errno::ENOENT, Errno::ENODEV];
        matches!(self, Self::File { source, .. } if gone.contains(source))
    }
}

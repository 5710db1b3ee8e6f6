//! A file of a group that stays open.

use std::{
    fs::File,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::FileExt,
    },
    path::PathBuf,
};

use super::MemoryWatchError;

/// The longest of these files has some hundred bytes.
const MOST_BYTES: usize = 1024;

/// Reading fails with ENODEV after the removal of the group.
#[derive(Debug)]
pub struct OpenFile {
    path: PathBuf,
    file: File,
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
        self.read(|text| {
            let text = text.trim();
            text.parse().map_err(|_| MemoryWatchError::Value {
                path: self.path.clone(),
                text: text.into(),
            })
        })?
    }
}

impl AsFd for OpenFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

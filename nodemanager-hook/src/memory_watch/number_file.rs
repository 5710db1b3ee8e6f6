//! A file of one number that stays open.

use std::{
    fs::File,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::FileExt,
    },
    path::PathBuf,
};

use super::MemoryWatchError;

/// Reading it after its group was removed is an error that says so.
#[derive(Debug)]
pub struct NumberFile {
    path: PathBuf,
    file: File,
}

impl NumberFile {
    pub fn open(path: PathBuf) -> Result<Self, MemoryWatchError> {
        match File::open(&path) {
            Ok(file) => Ok(Self { path, file }),
            Err(error) => Err(MemoryWatchError::file("open", &path, error)),
        }
    }

    pub fn read(&self) -> Result<u64, MemoryWatchError> {
        let mut buffer = [0; 32];
        let length = self.file.read_at(&mut buffer, 0);
        let length = length.map_err(|error| MemoryWatchError::file("read", &self.path, error))?;
        let text = String::from_utf8_lossy(&buffer[..length]);
        let text = text.trim();
        text.parse().map_err(|_| MemoryWatchError::Value {
            path: self.path.clone(),
            text: text.into(),
        })
    }
}

impl AsFd for NumberFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

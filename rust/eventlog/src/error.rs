//! Errors in event logs, with the file.

use std::path::{Path, PathBuf};

/// Why a path or an event log cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct LogError {
    path: PathBuf,
    problem: String,
}

impl LogError {
    pub(crate) fn new(path: &Path, problem: impl ToString) -> Self {
        Self { path: path.to_owned(), problem: problem.to_string() }
    }
}

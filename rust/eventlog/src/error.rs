//! Errors in event logs, with the file.

use std::io;
use std::path::{Path, PathBuf};

/// Why a path or an event log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file system, or a damaged compressed stream.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system or the decoder.
        source: io::Error,
    },
    /// The log is compressed with an unsupported codec.
    #[error("{}: compressed with {codec}, which is not read; plain, zstd and lz4 are", path.display())]
    Codec {
        /// The file.
        path: PathBuf,
        /// The name of the codec.
        codec: &'static str,
    },
    /// The first line is not an event of Spark.
    #[error("{}: not a Spark event log", path.display())]
    NotALog {
        /// The file.
        path: PathBuf,
    },
    /// A line is not a valid event.
    #[error("{}: line {line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// The problem.
        problem: String,
    },
    /// The History Server removed events of ended jobs.
    #[error("{}: compacted by the History Server, events are missing", path.display())]
    Compacted {
        /// The folder.
        path: PathBuf,
    },
    /// A part of a rolling log is missing.
    #[error("{}: part {number} is missing", path.display())]
    MissingPart {
        /// The folder.
        path: PathBuf,
        /// Counted from 1.
        number: u64,
    },
    /// No event names the application.
    #[error("{}: no event names the application", path.display())]
    NoApplication {
        /// The file or folder.
        path: PathBuf,
    },
    /// No executor started.
    #[error("{}: no executor started", path.display())]
    NoExecutor {
        /// The file or folder.
        path: PathBuf,
    },
}

impl LogError {
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}

//! Why an event log makes no run, always with the file.

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
        /// What the system or the decoder says.
        source: io::Error,
    },
    /// Compressed by a codec that is not read.
    #[error("{}: compressed with {codec}, which is not read; plain, zstd and lz4 are", path.display())]
    Codec {
        /// The file.
        path: PathBuf,
        /// Spark's name of the codec.
        codec: &'static str,
    },
    /// Its first line is no event of Spark.
    #[error("{}: not a Spark event log", path.display())]
    NotALog {
        /// The file.
        path: PathBuf,
    },
    /// A line that is not the event that it says it is.
    #[error("{}: line {line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// The History Server dropped the events of jobs that were over.
    #[error("{}: compacted by the History Server, events are missing", path.display())]
    Compacted {
        /// The folder.
        path: PathBuf,
    },
    /// A part of a rolling log is not there.
    #[error("{}: part {number} is missing", path.display())]
    MissingPart {
        /// The folder.
        path: PathBuf,
        /// From 1.
        number: u64,
    },
    /// The log does not say whose it is.
    #[error("{}: no event names the application", path.display())]
    NoApplication {
        /// The file or folder.
        path: PathBuf,
    },
    /// Nothing ran.
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

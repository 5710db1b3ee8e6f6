//! Errors, each with its file.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, ffi};

/// Why the depository failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such file.
    #[error("depository {}: no such file", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("depository {}: cannot {action}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: String,
        /// The system's error.
        source: io::Error,
    },
    /// Another process held its lock for longer than 5 s.
    #[error("depository {}: cannot {action}, another process locks it", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: String,
    },
    /// Not an SQLite file, or a damaged one.
    #[error("depository {}: the file is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// An SQLite file that is not a depository.
    #[error("depository {}: an SQLite file of another program", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Written by a later Elastane.
    #[error(
        "depository {}: schema version {found}, this program knows up to {known}: \
         use the Elastane that wrote it, or another file",
        path.display()
    )]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i32,
        /// The newest that this program knows.
        known: i32,
    },
    /// A record that cannot be read or written.
    #[error("depository {}: {record}: {reason}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// The record, with its application.
        record: String,
        /// What is wrong.
        reason: String,
    },
    /// The disk is full.
    #[error("depository {}: cannot {action}, the disk is full", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: String,
    },
    /// Any other error of SQLite.
    #[error("depository {}: cannot {action}: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What was tried, with its application.
        action: String,
        /// SQLite's error.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// Whether saving the same record may work later: the reason is not the record itself.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        !matches!(self, Self::Record { .. })
    }

    /// SQLite's errors, by what an operator can do about them.
    pub(crate) fn from_sqlite(path: &Path, action: &str, source: rusqlite::Error) -> Self {
        let (path, action) = (path.to_owned(), action.to_owned());
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Locked { path, action }
            }
            Some(ErrorCode::DiskFull) => Self::Full { path, action },
            _ if has_no_room_for_the_index(&source) => Self::Full { path, action },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged {
                path,
                reason: source.to_string(),
            },
            _ => Self::Sqlite {
                path,
                action,
                source,
            },
        }
    }
}

/// SQLite reports a full disk as an I/O error where the index of its log has to grow.
fn has_no_room_for_the_index(error: &rusqlite::Error) -> bool {
    matches!(error, rusqlite::Error::SqliteFailure(code, _)
        if code.extended_code == ffi::SQLITE_IOERR_SHMSIZE)
}

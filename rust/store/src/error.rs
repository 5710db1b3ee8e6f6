//! Errors, each with its file.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, ffi};

use crate::private_file::PrivateFileError;

/// Why the depository failed.
#[derive(Debug, thiserror::Error)]
#[error("depository {}: {kind}", path.display())]
pub struct StoreError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub kind: StoreErrorKind,
}

/// What is wrong with a depository, by what an operator can do about it.
#[derive(Debug, thiserror::Error)]
pub enum StoreErrorKind {
    /// There is no such file.
    #[error("no such file")]
    Missing,
    /// The file system refused an action.
    #[error("cannot {0}: {1}")]
    File(String, io::Error),
    /// A link, or another user's file.
    #[error(transparent)]
    Distrusted(PrivateFileError),
    /// Another process held its lock for longer than 5 s, or still holds it after that.
    #[error("cannot {0}, another process locks it")]
    Locked(String),
    /// Not an SQLite file, or a damaged one.
    #[error("the file is damaged: {0}")]
    Damaged(String),
    /// An SQLite file that is not a depository.
    #[error("an SQLite file of another program, or an empty one")]
    Foreign,
    /// Written by another Elastane: the version found, and the oldest and newest that this program reads.
    #[error(
        "schema version {0}, this program reads {1} to {2}: use the Elastane that wrote it, or another file"
    )]
    OtherSchema(i32, i32, i32),
    /// A record that cannot be read or written.
    #[error("cannot {0}: {1}")]
    Record(String, String),
    /// The disk is full.
    #[error("cannot {0}, the disk is full")]
    Full(String),
    /// Any other error of SQLite.
    #[error("cannot {0}: {1}")]
    Sqlite(String, rusqlite::Error),
}

/// Why a statement, or a value in it, failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StatementError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// A value that cannot be read or written.
    #[error("{0}")]
    Value(String),
}

impl From<String> for StatementError {
    fn from(reason: String) -> Self {
        Self::Value(reason)
    }
}

impl From<serde_json::Error> for StatementError {
    fn from(error: serde_json::Error) -> Self {
        Self::Value(error.to_string())
    }
}

impl StoreError {
    pub(crate) fn new(path: &Path, kind: StoreErrorKind) -> Self {
        Self { path: path.to_owned(), kind }
    }

    pub(crate) fn file(path: &Path, action: impl Into<String>, error: io::Error) -> Self {
        Self::new(path, StoreErrorKind::File(action.into(), error))
    }

    pub(crate) fn refused(path: &Path, action: &str, why: impl Into<StatementError>) -> Self {
        let action = action.to_owned();
        let kind = match why.into() {
            StatementError::Value(reason) => StoreErrorKind::Record(action, reason),
            StatementError::Sqlite(error) => match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                    StoreErrorKind::Locked(action)
                }
                Some(ErrorCode::DiskFull) => StoreErrorKind::Full(action),
                _ if has_no_room_for_the_index(&error) => StoreErrorKind::Full(action),
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                    StoreErrorKind::Damaged(error.to_string())
                }
                _ => StoreErrorKind::Sqlite(action, error),
            },
        };
        Self::new(path, kind)
    }

    /// Whether the file is damaged; [`crate::Depository::open`] moves it aside then.
    pub fn is_damage(&self) -> bool {
        matches!(self.kind, StoreErrorKind::Damaged(_))
    }

    /// Whether saving the same record may work later: the reason is not the record itself.
    pub fn may_pass(&self) -> bool {
        !matches!(self.kind, StoreErrorKind::Record(..))
    }
}

/// SQLite reports a full disk as an I/O error where the index of its log has to grow.
fn has_no_room_for_the_index(error: &rusqlite::Error) -> bool {
    matches!(error, rusqlite::Error::SqliteFailure(code, _)
        if code.extended_code == ffi::SQLITE_IOERR_SHMSIZE)
}

//! What can go wrong, always with the file it went wrong in.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, ffi};

/// Why the depository could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such file, and none was to be made.
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
        /// What the system says.
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
        /// The newest that is known here.
        known: i32,
    },
    /// The series of a run cannot be read or written.
    #[error("depository {}: run {application_id} of {key}: {reason}", path.display())]
    Series {
        /// The file.
        path: PathBuf,
        /// The application's key.
        key: String,
        /// The run.
        application_id: String,
        /// What is wrong.
        reason: String,
    },
    /// A prediction cannot be read or written.
    #[error("depository {}: the prediction of {application_id} of {key}: {reason}", path.display())]
    Prediction {
        /// The file.
        path: PathBuf,
        /// The application's key.
        key: String,
        /// The run.
        application_id: String,
        /// What is wrong.
        reason: String,
    },
    /// A model cannot be read or written.
    #[error("depository {}: the model {name} of {key}: {reason}", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// The application's key.
        key: String,
        /// The model.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// A submission cannot be read or written.
    #[error("depository {}: the submission of {application_id}: {reason}", path.display())]
    Submission {
        /// The file.
        path: PathBuf,
        /// The run.
        application_id: String,
        /// What is wrong.
        reason: String,
    },
    /// What was recorded of a run that has not ended cannot be read or written.
    #[error("depository {}: the open run {application_id}: {reason}", path.display())]
    OpenRun {
        /// The file.
        path: PathBuf,
        /// The run.
        application_id: String,
        /// What is wrong.
        reason: String,
    },
    /// No room is left for it.
    #[error("depository {}: cannot {action}, the disk is full", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: String,
    },
    /// Anything else that SQLite refuses.
    #[error("depository {}: cannot {action}: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What was tried, with the key or run.
        action: String,
        /// What SQLite says.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// Whether saving the same may work later: it does not lie in what was to be saved.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        !matches!(
            self,
            Self::Series { .. }
                | Self::Submission { .. }
                | Self::Prediction { .. }
                | Self::Model { .. }
                | Self::OpenRun { .. }
        )
    }

    /// What SQLite refused, by what an operator can do about it.
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

/// The index of the log could not be made as large as it has to be: SQLite says that as an error of
/// the disk.
fn has_no_room_for_the_index(error: &rusqlite::Error) -> bool {
    matches!(error, rusqlite::Error::SqliteFailure(code, _)
        if code.extended_code == ffi::SQLITE_IOERR_SHMSIZE)
}

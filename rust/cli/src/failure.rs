//! Why a command ended early, and with which exit code.

use std::fs;
use std::io;
use std::path::Path;

use elastane_store::StoreError;

/// One line for a person, and an exit code for a script.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// What was given is wrong: exit code 2.
    #[error("{0}")]
    BadInput(String),
    /// It was right and did not work: exit code 1.
    #[error("{0}")]
    Failed(String),
    /// The output could not be written: exit code 1.
    #[error("the output cannot be written: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Failure::BadInput(_) => 2,
            Failure::Failed(_) | Failure::Output(_) => 1,
        }
    }

    pub(crate) fn bad(path: &Path, problem: impl std::fmt::Display) -> Self {
        Failure::BadInput(format!("{}: {problem}", path.display()))
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Missing { .. }
            | StoreError::Damaged { .. }
            | StoreError::Foreign { .. }
            | StoreError::NewerSchema { .. } => Failure::BadInput(error.to_string()),
            error => Failure::Failed(error.to_string()),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Failure::Output(error.into())
    }
}

/// The whole of a text file that was named on the command line.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::bad(path, error))
}

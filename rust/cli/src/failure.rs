//! Errors of commands and their exit codes.

use std::fs;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::Path;
use std::process::ExitCode;

use elastane_store::{StoreError, StoreErrorKind, private_file_options};

/// An error message of one line, and an exit code.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The input is wrong: exit code 2.
    #[error("{0}")]
    BadInput(String),
    /// The command failed: exit code 1.
    #[error("{0}")]
    Failed(String),
    /// The output could not be written: exit code 1.
    #[error("the output cannot be written: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    fn exit_code(&self) -> u8 {
        match self {
            Failure::BadInput(_) => 2,
            Failure::Failed(_) | Failure::Output(_) => 1,
        }
    }

    /// A problem with a given file.
    pub fn bad(path: &Path, problem: impl std::fmt::Display) -> Self {
        Failure::BadInput(format!("{}: {problem}", path.display()))
    }
}

/// Runs a command on standard output; prints its failure as one line on stderr.
pub fn exit_code_of(
    program: &str,
    run: impl FnOnce(&mut BufWriter<StdoutLock<'static>>) -> Result<(), Failure>,
) -> ExitCode {
    let mut output = BufWriter::new(io::stdout().lock());
    match run(&mut output).and_then(|()| Ok(output.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader closed the pipe.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            eprintln!("{program}: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error.kind {
            StoreErrorKind::Missing
            | StoreErrorKind::Damaged(_)
            | StoreErrorKind::Foreign
            | StoreErrorKind::OtherSchema(..) => Failure::BadInput(error.to_string()),
            _ => Failure::Failed(error.to_string()),
        }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Failure::Output(error.into())
    }
}

/// Reads a text file named on the command line.
///
/// # Errors
/// The file cannot be read.
pub fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::bad(path, error))
}

/// Writes a file named on the command line. It has data of users: a new one is its owner's alone.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let file = private_file_options().write(true).truncate(true).open(path);
    let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| Failure::Failed(format!("{}: {error}", path.display())))
}

use std::io;
use std::path::{Path, PathBuf};

/// Why a replay could not be done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    /// A file could not be read, written or made.
    #[error("{}: {cause}", path.display())]
    File { path: PathBuf, cause: io::Error },
    /// The series has a line that is not allowed.
    #[error("{}: {cause}", path.display())]
    Series { path: PathBuf, cause: csv::Error },
    /// A number of the series or an option is out of range.
    #[error("{place}: {value}, {allowed} is allowed")]
    OutOfRange { place: String, value: f64, allowed: &'static str },
    /// The series uses a device for which there is no option.
    #[error("the series uses the {device}, and there is no {option}")]
    NoDevice { device: &'static str, option: &'static str },
    /// The peer that should discard what is sent did not take it.
    #[error("sending to {peer}: {cause}")]
    Peer { peer: String, cause: io::Error },
    /// Memory could not be mapped.
    #[error("mapping {bytes} bytes: {cause}")]
    Memory { bytes: usize, cause: io::Error },
    /// The kernel did not tell the thread's CPU time.
    #[error("the thread's CPU time: {0}")]
    CpuTime(nix::Error),
}

impl ReplayError {
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::File { path: path.to_owned(), cause }
    }
}

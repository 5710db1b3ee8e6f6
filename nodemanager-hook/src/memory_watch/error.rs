//! Errors of a watch.

use std::path::{Path, PathBuf};

use nix::errno::Errno;

/// Why a group cannot be watched.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryWatchError {
    #[error("cannot wait for events: {0}")]
    Epoll(Errno),
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        action: &'static str,
        path: PathBuf,
        source: Errno,
    },
    #[error("{} holds `{text}` instead of a number", path.display())]
    Value { path: PathBuf, text: String },
}

impl MemoryWatchError {
    pub fn is_gone(&self) -> bool {
        matches!(
            self,
            Self::File {
                source: Errno::ENOENT | Errno::ENODEV,
                ..
            }
        )
    }

    pub(super) fn file(
        action: &'static str,
        path: &Path,
        source: impl Into<std::io::Error>,
    ) -> Self {
        let errno = source.into().raw_os_error().unwrap_or_default();
        Self::File {
            action,
            path: path.into(),
            source: Errno::from_raw(errno),
        }
    }
}

//! Why Elastane cannot start.

use std::path::PathBuf;

use elastane_core::policy::UnknownPolicy;
use elastane_store::StoreError;

/// Why Elastane cannot start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The depository.
    #[error("yarn.scheduler.elastane.depository.file: {0}")]
    Depository(#[from] StoreError),
    /// The journal.
    #[error("yarn.scheduler.elastane.journal.file: {0} cannot be opened: {1}")]
    Journal(PathBuf, std::io::Error),
    /// The policy.
    #[error("yarn.scheduler.elastane.policy: {0}")]
    Policy(#[from] UnknownPolicy),
    /// A thread.
    #[error("a thread cannot be started: {0}")]
    Thread(std::io::Error),
}

//! Why Elastane cannot start.

use elastane_core::policy::UnknownPolicy;
use elastane_store::StoreError;

/// Why Elastane cannot start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Not even a depository in memory.
    #[error("yarn.scheduler.elastane.depository.file: {0}")]
    Depository(#[from] StoreError),
    /// The policy.
    #[error("yarn.scheduler.elastane.policy: {0}")]
    Policy(#[from] UnknownPolicy),
    /// A thread.
    #[error("a thread cannot be started: {0}")]
    Thread(std::io::Error),
}

//! Application masters that wait for room in their queue's limit.

/// The master of applications of one name: while it waits, none of them arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MasterSpec {
    /// Its applications' [`ApplicationSpec::name`](super::ApplicationSpec::name).
    pub name: String,
    /// The memory of its request. It counts by its queue's limit only: its applications' requests book it.
    pub memory_bytes: u64,
}

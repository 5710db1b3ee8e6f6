//! Application masters that wait for room in their queue's limit.

/// The master of applications of one name: while it waits, none of them arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MasterSpec {
    /// Its applications' [`ApplicationSpec::name`](super::ApplicationSpec::name).
    pub name: String,
    /// The memory of its request. It counts by its queue's limit only: its applications' requests book it.
    pub memory_bytes: u64,
    /// It ran before, and waits for nothing.
    pub runs_already: bool,
    /// How long it runs on after the last of its applications, in milliseconds.
    pub lasts_ms: i64,
}

/// What the masters of a queue may take together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MastersLimit {
    /// The part of what the queue may have now.
    pub part: f64,
    /// The limit is rounded up to a multiple of this; at least 1.
    pub step_bytes: u64,
}

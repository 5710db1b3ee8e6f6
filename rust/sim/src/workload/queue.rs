//! The leaf queues of a workload.

use super::MastersLimit;

/// A leaf queue.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueSpec {
    /// Its path, such as `root.etl`.
    pub path: String,
    /// Its guaranteed part of the cluster.
    pub capacity: f64,
    /// The largest part that it may use while the others leave it idle.
    pub maximum: f64,
    /// What its application masters may take; none for any amount.
    pub masters: Option<MastersLimit>,
}

impl QueueSpec {
    /// A queue that may use the whole cluster.
    pub fn new(path: &str, capacity: f64) -> Self {
        Self { path: path.to_owned(), capacity, maximum: 1.0, masters: None }
    }
}

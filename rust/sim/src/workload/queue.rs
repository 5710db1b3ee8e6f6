//! The leaf queues of a workload.

/// A leaf queue. It may use the whole cluster while the others leave it idle.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueSpec {
    /// Its path, such as `root.etl`.
    pub path: String,
    /// Its guaranteed part of the cluster.
    pub capacity: f64,
}

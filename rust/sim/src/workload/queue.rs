//! The queues of a workload.

use elastane_core::cluster::UserLimit;

use super::MastersLimit;

/// A leaf queue, or one that has others below it.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueSpec {
    /// Its path, such as `root.etl`. Those above it are found by it.
    pub path: String,
    /// Whether applications run in it.
    pub is_leaf: bool,
    /// Its guaranteed part of the cluster.
    pub capacity: f64,
    /// The largest part that it may use while the others leave it idle.
    pub maximum: f64,
    /// What its application masters may take; none for any amount. Of a leaf queue.
    pub masters: Option<MastersLimit>,
    /// What each of its users may take; none for any amount. Of a leaf queue.
    pub user_limit: Option<UserLimit>,
}

impl QueueSpec {
    /// A leaf queue that may use the whole cluster.
    pub fn new(path: &str, capacity: f64) -> Self {
        Self {
            path: path.to_owned(),
            is_leaf: true,
            capacity,
            maximum: 1.0,
            masters: None,
            user_limit: None,
        }
    }

    /// Whether this path is its own or that of a queue below it.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let below = path.strip_prefix(self.path.as_str());
        below.is_some_and(|below| below.is_empty() || below.starts_with('.'))
    }
}

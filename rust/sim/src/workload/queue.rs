//! The queues of a workload.

use elastane_core::cluster::UserLimit;

use super::MastersLimit;

/// Parts of the cluster's memory and virtual cores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parts {
    /// Of the memory.
    pub memory: f64,
    /// Of the virtual cores.
    pub vcores: f64,
}

impl Parts {
    /// The same of both.
    pub fn both(part: f64) -> Self {
        Self { memory: part, vcores: part }
    }

    /// Whether it is all of both.
    pub(crate) fn is_whole(self) -> bool {
        self.memory >= 1.0 && self.vcores >= 1.0
    }

    pub(crate) fn largest(self) -> f64 {
        self.memory.max(self.vcores)
    }

    pub(crate) fn min(self, other: Self) -> Self {
        Self { memory: self.memory.min(other.memory), vcores: self.vcores.min(other.vcores) }
    }
}

/// A leaf queue, or one that has others below it.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueSpec {
    /// Its path, such as `root.etl`. Those above it are found by it.
    pub path: String,
    /// Whether applications run in it.
    pub is_leaf: bool,
    /// Its guaranteed part of the cluster.
    pub capacity: Parts,
    /// The largest part that it may use while the others leave it idle.
    pub maximum: Parts,
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
            capacity: Parts::both(capacity),
            maximum: Parts::both(1.0),
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

//! Entries of a priority queue.

use std::cmp::Ordering;

/// An entry of a max-heap: the highest priority first, then the earliest arrival.
#[derive(Debug, PartialEq)]
pub(super) struct Queued<T> {
    pub(super) priority: f64,
    pub(super) arrival: u64,
    pub(super) item: T,
}

impl<T: PartialEq> Eq for Queued<T> {}
impl<T: PartialEq> Ord for Queued<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        let priorities = self.priority.total_cmp(&other.priority);
        priorities.then(other.arrival.cmp(&self.arrival))
    }
}
impl<T: PartialEq> PartialOrd for Queued<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

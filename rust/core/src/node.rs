//! A node and the executors that run on it.

use std::collections::BTreeMap;

use crate::available::Available;
use crate::resources::Resources;
use crate::running::Running;

/// A container's id within the core; never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecutorId(pub u64);

/// The physical size of a node and its running executors.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Node {
    /// Physical size. A resource of capacity 0 is unknown and takes no part in placement.
    pub capacity: Resources,
    running: BTreeMap<ExecutorId, Running>,
}

impl Node {
    /// An idle node.
    pub fn new(capacity: Resources) -> Self {
        Self { capacity, running: BTreeMap::new() }
    }

    /// Starts an executor; replaces one of the same id.
    pub fn insert(&mut self, id: ExecutorId, executor: Running) {
        self.running.insert(id, executor);
    }

    /// Ends an executor.
    pub fn remove(&mut self, id: ExecutorId) -> Option<Running> {
        self.running.remove(&id)
    }

    /// One executor.
    pub fn get_mut(&mut self, id: ExecutorId) -> Option<&mut Running> {
        self.running.get_mut(&id)
    }

    /// One executor.
    pub fn get(&self, id: ExecutorId) -> Option<&Running> {
        self.running.get(&id)
    }

    /// The running executors.
    pub fn running(&self) -> impl Iterator<Item = &Running> {
        self.running.values()
    }

    pub(crate) fn running_mut(&mut self) -> impl Iterator<Item = &mut Running> {
        self.running.values_mut()
    }

    /// Number of running executors.
    pub fn running_count(&self) -> usize {
        self.running.len()
    }

    /// Available resources from `now_ms` on.
    pub fn available(&self, now_ms: i64) -> Available {
        Available::new(self.capacity, self.running.values(), now_ms)
    }

    /// Expected use of all executors at `at_ms`.
    pub fn expected_at(&self, at_ms: i64) -> Resources {
        let executors = self.running.values();
        executors.map(|executor| executor.expected_at(at_ms)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::Demand;

    #[test]
    fn removing_an_executor_undoes_it() {
        let amounts = Resources::from_array([0.1, 0.2, 0.3, 0.7]);
        let mut node = Node::new(Resources::from_array([8.0; 4]));
        let keep = Demand::series(3_000, &[amounts * 3.0, amounts]).unwrap();
        node.insert(ExecutorId(1), Running::new(0, keep));
        let before = node.available(1_000);
        node.insert(ExecutorId(2), Running::new(500, Demand::for_life(amounts)));
        assert_ne!(node.available(1_000), before);
        node.remove(ExecutorId(2));
        assert_eq!(node.available(1_000), before);
    }
}

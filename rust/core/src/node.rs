//! A node and the executors that run on it.

use std::collections::BTreeMap;

use crate::available::Available;
use crate::demand::Demand;
use crate::resources::Resources;

/// A container's number within the core; never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecutorId(pub u64);

/// One executor on a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Running {
    /// When it started, in milliseconds since the epoch.
    pub start_ms: i64,
    /// What it is expected to use.
    pub demand: Demand,
    /// What it was last seen to use; never given out again while it runs.
    pub measured_memory_bytes: f64,
}

impl Running {
    /// An executor that was not measured yet.
    #[must_use]
    pub fn new(start_ms: i64, demand: Demand) -> Self {
        Self {
            start_ms,
            demand,
            measured_memory_bytes: 0.0,
        }
    }

    /// Expected use at `at_ms`, were it to run then.
    #[must_use]
    pub fn expected_at(&self, at_ms: i64) -> Resources {
        self.with_memory_in_use(self.demand.at(at_ms.saturating_sub(self.start_ms)))
    }

    /// Its predicted end in milliseconds from `now_ms`; none without one, or past it.
    pub(crate) fn end_from(&self, now_ms: i64) -> Option<i64> {
        let elapsed_ms = now_ms.saturating_sub(self.start_ms);
        self.demand
            .duration_ms()
            .map(|duration_ms| duration_ms - elapsed_ms)
            .filter(|left_ms| *left_ms > 0)
    }

    /// Appends each change of its expected use after `now_ms` and returns the use at `now_ms`.
    pub(crate) fn changes_from(
        &self,
        now_ms: i64,
        changes: &mut Vec<(i64, Resources)>,
    ) -> Resources {
        let elapsed_ms = now_ms.saturating_sub(self.start_ms).max(0);
        let slot_ms = i64::from(self.demand.slot_ms());
        let now_slot = self.demand.slot_at(elapsed_ms);
        let now = self.with_memory_in_use(self.demand.slots()[now_slot]);

        let mut last = now;
        for (slot, amounts) in self.demand.slots().iter().enumerate().skip(now_slot + 1) {
            let amounts = self.with_memory_in_use(*amounts);
            if amounts != last {
                changes.push((slot as i64 * slot_ms - elapsed_ms, amounts - last));
                last = amounts;
            }
        }
        if let Some(duration_ms) = self.demand.duration_ms() {
            let left_ms = duration_ms - elapsed_ms;
            let end_ms = if left_ms > 0 { left_ms } else { slot_ms };
            changes.push((end_ms, last * -1.0));
        }
        now
    }

    fn with_memory_in_use(&self, amounts: Resources) -> Resources {
        Resources {
            memory_bytes: amounts.memory_bytes.max(self.measured_memory_bytes),
            ..amounts
        }
    }
}

/// The physical size of a node and what runs on it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Node {
    /// Physical size. A resource of capacity 0 is not known and takes no part in placement.
    pub capacity: Resources,
    running: BTreeMap<ExecutorId, Running>,
}

impl Node {
    /// A node on which nothing runs.
    #[must_use]
    pub fn new(capacity: Resources) -> Self {
        Self {
            capacity,
            running: BTreeMap::new(),
        }
    }

    /// Starts an executor; one of the same id is replaced.
    pub fn insert(&mut self, id: ExecutorId, executor: Running) {
        self.running.insert(id, executor);
    }

    /// Ends an executor.
    pub fn remove(&mut self, id: ExecutorId) -> Option<Running> {
        self.running.remove(&id)
    }

    /// One executor, to note what was measured.
    pub fn get_mut(&mut self, id: ExecutorId) -> Option<&mut Running> {
        self.running.get_mut(&id)
    }

    /// One executor.
    #[must_use]
    pub fn get(&self, id: ExecutorId) -> Option<&Running> {
        self.running.get(&id)
    }

    /// How many executors run.
    #[must_use]
    pub fn running_count(&self) -> usize {
        self.running.len()
    }

    /// What is left from `now_ms` on.
    #[must_use]
    pub fn available(&self, now_ms: i64) -> Available {
        Available::new(self.capacity, self.running.values(), now_ms)
    }

    /// What all executors are expected to use at `at_ms`.
    #[must_use]
    pub fn expected_at(&self, at_ms: i64) -> Resources {
        self.running
            .values()
            .fold(Resources::ZERO, |sum, executor| {
                sum + executor.expected_at(at_ms)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removing_an_executor_undoes_it() {
        let amounts = Resources::from_array([0.1, 0.2, 0.3, 0.7]);
        let mut node = Node::new(Resources::from_array([8.0; 4]));
        let keep = Demand::series(3_000, &[amounts * 3.0, amounts]).unwrap();
        node.insert(ExecutorId(1), Running::new(0, keep));
        let before = node.available(1_000);
        node.insert(
            ExecutorId(2),
            Running::new(500, Demand::for_life(amounts).unwrap()),
        );
        assert_ne!(node.available(1_000), before);
        node.remove(ExecutorId(2));
        assert_eq!(node.available(1_000), before);
    }
}

//! Leaf queues: which of them a node is offered to first.

use elastane_core::cluster::QueueShare;

use crate::workload::{QueueSpec, Workload};

/// The only queue of a workload without queues.
const QUEUE: &str = "root.default";

/// The leaf queues, and what each of them takes.
#[derive(Debug)]
pub(super) struct Queues {
    queues: Vec<QueueSpec>,
    /// By application, its queue and the memory of one of its requests.
    applications: Vec<(usize, u64)>,
    /// By queue, the memory of its containers' requests.
    used_bytes: Vec<u64>,
}

impl Queues {
    pub(super) fn new(workload: &Workload) -> Self {
        let applications = workload.applications.iter();
        let mut queues = workload.queues.clone();
        if queues.is_empty() {
            queues.push(QueueSpec::new(QUEUE, 1.0));
        }
        Self {
            used_bytes: vec![0; queues.len()],
            queues,
            applications: applications.map(|it| (it.queue, it.request.memory_bytes)).collect(),
        }
    }

    /// The path of a queue by its place.
    pub(super) fn path(&self, queue: usize) -> &str {
        &self.queues[queue].path
    }

    /// As CapacityScheduler would compute them.
    pub(super) fn shares(&self) -> Vec<QueueShare> {
        let share = |queue: &str, is_leaf, capacity, maximum| QueueShare {
            queue: queue.to_owned(),
            is_leaf,
            capacity,
            maximum,
            ..QueueShare::default()
        };
        let leaves =
            self.queues.iter().map(|queue| share(&queue.path, true, queue.capacity, queue.maximum));
        std::iter::once(share("root", false, 1.0, 1.0)).chain(leaves).collect()
    }

    /// Puts applications into the order in which CapacityScheduler asks their queues: first the queue that uses the
    /// smallest part of its capacity. As with its default calculator, memory counts. The order within a queue stays.
    pub(super) fn order<T>(&self, named: &mut [T], application: impl Fn(&T) -> usize) {
        if self.queues.len() == 1 {
            return;
        }
        let used = |queue: usize| self.used_bytes[queue] as f64 / self.queues[queue].capacity;
        let queue_of = |one: &T| self.applications[application(one)].0;
        named.sort_by(|a, b| {
            let (a, b) = (queue_of(a), queue_of(b));
            used(a).total_cmp(&used(b)).then(a.cmp(&b))
        });
    }

    /// Whether a queue may not have the whole cluster.
    pub(super) fn have_maximum(&self) -> bool {
        self.queues.iter().any(|queue| queue.maximum < 1.0)
    }

    /// Whether one more container of an application stays within its queue's part of so much memory.
    pub(super) fn may_have(&self, application: usize, bookable_bytes: u64) -> bool {
        let (queue, memory_bytes) = self.applications[application];
        let maximum = self.queues[queue].maximum;
        maximum >= 1.0
            || (self.used_bytes[queue] + memory_bytes) as f64 <= bookable_bytes as f64 * maximum
    }

    /// What the masters of a queue may take, of so much memory that may be booked; none for any amount. As in
    /// CapacityScheduler a part of what the queue may have beside the others now, and no less than of its guarantee.
    pub(super) fn masters_limit_bytes(&self, queue: usize, bookable_bytes: u64) -> Option<u64> {
        let QueueSpec { capacity, maximum, masters, .. } = &self.queues[queue];
        let limit = masters.as_ref()?;
        let bookable = bookable_bytes as f64;
        let all: u64 = self.used_bytes.iter().sum();
        let left = bookable - (all - self.used_bytes[queue]) as f64;
        let usable = left.min(maximum * bookable).max(capacity * bookable);
        let steps = (usable * limit.part / limit.step_bytes as f64).ceil();
        Some(steps as u64 * limit.step_bytes)
    }

    pub(super) fn started(&mut self, application: usize) {
        let (queue, memory_bytes) = self.applications[application];
        self.used_bytes[queue] += memory_bytes;
    }

    pub(super) fn ended(&mut self, application: usize) {
        let (queue, memory_bytes) = self.applications[application];
        self.used_bytes[queue] -= memory_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::MastersLimit;

    #[test]
    fn masters_have_a_part_of_what_the_other_queues_leave() {
        let masters = Some(MastersLimit { part: 0.1, step_bytes: 4 });
        let queue = |path, capacity| QueueSpec { masters, ..QueueSpec::new(path, capacity) };
        let mut queues = Queues {
            queues: vec![
                QueueSpec { maximum: 0.9, ..queue("root.a", 0.3) },
                QueueSpec::new("root.b", 0.7),
            ],
            applications: vec![(1, 400), (1, 350), (0, 100)],
            used_bytes: vec![0, 0],
        };
        let limit = |queues: &Queues| queues.masters_limit_bytes(0, 1_000).unwrap();
        assert_eq!(limit(&queues), 92, "a tenth of its maximum, in steps of 4");
        queues.started(0);
        assert_eq!(limit(&queues), 60, "of what root.b leaves");
        queues.started(2);
        assert_eq!(limit(&queues), 60, "its own counts as its own");
        queues.started(1);
        assert_eq!(limit(&queues), 32, "of its guarantee");
        assert_eq!(queues.masters_limit_bytes(1, 1_000), None);
    }

    #[test]
    fn the_queue_that_uses_the_smallest_part_of_its_capacity_comes_first() {
        let queue = QueueSpec::new;
        let mut queues = Queues {
            queues: vec![queue("root.large", 0.8), queue("root.small", 0.2)],
            applications: vec![(0, 10), (0, 10), (1, 10)],
            used_bytes: vec![0, 0],
        };
        let order = |queues: &Queues| {
            let mut named = vec![1, 2, 0];
            queues.order(&mut named, |application| *application);
            named
        };
        assert_eq!(order(&queues), [1, 0, 2], "the one that is named first in the workload");
        queues.started(0);
        assert_eq!(order(&queues), [2, 1, 0]);
        queues.started(2);
        assert_eq!(order(&queues), [1, 0, 2], "10 of 0.8 and of 0.2");
        queues.ended(2);
        assert_eq!(order(&queues), [2, 1, 0]);
    }
}

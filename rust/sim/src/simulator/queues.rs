//! Queues: which of them a node is offered to first, and how much each and its users may take.

use std::cmp::Ordering;

use elastane_core::cluster::{QueueMemory, QueueShare};

use super::queue_users::QueueUsers;
use crate::workload::{QueueSpec, Workload};

/// The only queue of a workload without queues.
const QUEUE: &str = "root.default";

/// The queues, and what each of them takes. As with CapacityScheduler's default calculator, memory counts.
#[derive(Debug)]
pub(super) struct Queues {
    queues: Vec<QueueSpec>,
    /// By queue, the places of those above it and its own, the topmost first.
    chains: Vec<Vec<usize>>,
    /// By application, its queue and the memory of one of its requests.
    applications: Vec<(usize, u64)>,
    /// By queue, the memory of the requests of its containers and of those of the queues below it.
    used_bytes: Vec<u64>,
    /// The same of all queues.
    all_used_bytes: u64,
    users: QueueUsers,
}

impl Queues {
    pub(super) fn new(workload: &Workload) -> Self {
        let applications = workload.applications.iter();
        let mut queues = workload.queues.clone();
        if queues.is_empty() {
            queues.push(QueueSpec::new(QUEUE, 1.0));
        }
        Self {
            chains: queues.iter().map(|queue| chain(&queues, &queue.path)).collect(),
            used_bytes: vec![0; queues.len()],
            all_used_bytes: 0,
            users: QueueUsers::new(&workload.applications, queues.len()),
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
        let share = |queue: &QueueSpec| QueueShare {
            queue: queue.path.clone(),
            is_leaf: queue.is_leaf,
            capacity: queue.capacity,
            maximum: queue.maximum,
            user_limit: queue.user_limit,
            ..QueueShare::default()
        };
        let root = QueueSpec { is_leaf: false, ..QueueSpec::new("root", 1.0) };
        std::iter::once(&root).chain(&self.queues).map(share).collect()
    }

    /// Puts applications into the order in which CapacityScheduler asks their queues: from the top, first the queue
    /// that uses the smallest part of its capacity. The order within a queue stays.
    pub(super) fn order<T>(&self, named: &mut [T], application: impl Fn(&T) -> usize) {
        if self.queues.len() == 1 {
            return;
        }
        let queue_of = |one: &T| self.applications[application(one)].0;
        named.sort_by(|a, b| self.compare(queue_of(a), queue_of(b)));
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        let used = |queue: usize| self.used_bytes[queue] as f64 / self.queues[queue].capacity;
        let mut levels = self.chains[a].iter().zip(&self.chains[b]);
        let siblings = levels.find(|(a, b)| a != b);
        siblings.map_or(Ordering::Equal, |(a, b)| used(*a).total_cmp(&used(*b)).then(a.cmp(b)))
    }

    /// Whether a queue or a user may not have the whole cluster.
    pub(super) fn have_limits(&self) -> bool {
        self.queues.iter().any(|queue| queue.maximum < 1.0 || queue.user_limit.is_some())
    }

    /// Whether one more container of an application stays within the parts of so much memory of its queue and those
    /// above it, and its user's limit allows it.
    pub(super) fn may_have(&self, application: usize, bookable_bytes: u64) -> bool {
        let (queue, memory_bytes) = self.applications[application];
        let has_room = |place: &usize| {
            let maximum = self.queues[*place].maximum;
            maximum >= 1.0
                || (self.used_bytes[*place] + memory_bytes) as f64
                    <= bookable_bytes as f64 * maximum
        };
        self.chains[queue].iter().all(has_room) && self.user_may_have(application, bookable_bytes)
    }

    /// As in CapacityScheduler, a user may exceed its limit by one container.
    fn user_may_have(&self, application: usize, bookable_bytes: u64) -> bool {
        let (queue, request_bytes) = self.applications[application];
        let QueueSpec { capacity, user_limit, .. } = &self.queues[queue];
        user_limit.is_none_or(|limit| {
            let now = QueueMemory {
                bookable_bytes,
                guaranteed_bytes: (bookable_bytes as f64 * capacity) as u64,
                used_bytes: self.used_bytes[queue],
                active_users: self.users.active(queue),
            };
            self.users.used_bytes(application) <= limit.memory_bytes(&now, request_bytes)
        })
    }

    /// What the masters of a queue may take, of so much memory that may be booked; none for any amount. As in
    /// CapacityScheduler a part of what the queue may have beside the others now, and no less than of its guarantee.
    pub(super) fn masters_limit_bytes(&self, queue: usize, bookable_bytes: u64) -> Option<u64> {
        let QueueSpec { capacity, masters, .. } = &self.queues[queue];
        let limit = masters.as_ref()?;
        let bookable = bookable_bytes as f64;
        let own = self.used_bytes[queue];
        let left = |maximum: f64, used: u64| maximum * bookable - (used - own) as f64;
        let of_queues = self.chains[queue].iter();
        let of_queues =
            of_queues.map(|place| left(self.queues[*place].maximum, self.used_bytes[*place]));
        let usable = of_queues.fold(left(1.0, self.all_used_bytes), f64::min);
        let usable = usable.max(capacity * bookable);
        let steps = (usable * limit.part / limit.step_bytes as f64).ceil();
        Some(steps as u64 * limit.step_bytes)
    }

    /// An application that waited for nothing asks for containers.
    pub(super) fn begins_to_wait(&mut self, application: usize) {
        self.users.begins_to_wait(application);
    }

    /// An application has all that it asked for.
    pub(super) fn waits_no_more(&mut self, application: usize) {
        self.users.waits_no_more(application);
    }

    pub(super) fn started(&mut self, application: usize) {
        let (queue, memory_bytes) = self.applications[application];
        for place in &self.chains[queue] {
            self.used_bytes[*place] += memory_bytes;
        }
        self.all_used_bytes += memory_bytes;
        self.users.started(application, memory_bytes);
    }

    pub(super) fn ended(&mut self, application: usize) {
        let (queue, memory_bytes) = self.applications[application];
        for place in &self.chains[queue] {
            self.used_bytes[*place] -= memory_bytes;
        }
        self.all_used_bytes -= memory_bytes;
        self.users.ended(application, memory_bytes);
    }
}

/// The places of the queues on the way to this path, the topmost first.
fn chain(queues: &[QueueSpec], path: &str) -> Vec<usize> {
    let holding = queues.iter().enumerate().filter(|(_, queue)| queue.holds(path));
    let mut places: Vec<usize> = holding.map(|(place, _)| place).collect();
    places.sort_by_key(|place| queues[*place].path.len());
    places
}

#[cfg(test)]
mod tests;

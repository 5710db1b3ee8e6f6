//! Queues: which of them a node is offered to first, and how much each and its users may take.

mod masters_limits;

use std::cmp::Ordering;

use elastane_core::cluster::{QueueAmounts, QueueShare, Request};

use super::amounts::{dominant_share, is_within, part_of};
use super::queue_users::QueueUsers;
use crate::workload::{QueueSpec, Workload};

/// The only queue of a workload without queues.
const QUEUE: &str = "root.default";

/// The queues, and what each of them takes.
#[derive(Debug)]
pub(super) struct Queues {
    queues: Vec<QueueSpec>,
    /// By queue, the places of those above it and its own, the topmost first.
    chains: Vec<Vec<usize>>,
    /// By application, its queue and one of its requests.
    applications: Vec<(usize, Request)>,
    /// By queue, the requests of its containers and of those of the queues below it.
    used: Vec<Request>,
    /// The same of all queues.
    all_used: Request,
    users: QueueUsers,
    virtual_cores_count: bool,
}

impl Queues {
    /// Without virtual cores, memory alone counts, as with CapacityScheduler's default calculator.
    pub(super) fn new(workload: &Workload, virtual_cores_count: bool) -> Self {
        let counted = |request: Request| match virtual_cores_count {
            true => request,
            false => Request { vcores: 0, ..request },
        };
        let applications = workload.applications.iter();
        let mut queues = workload.queues.clone();
        if queues.is_empty() {
            queues.push(QueueSpec::new(QUEUE, 1.0));
        }
        Self {
            chains: queues.iter().map(|queue| chain(&queues, &queue.path)).collect(),
            used: vec![Request::default(); queues.len()],
            all_used: Request::default(),
            users: QueueUsers::new(&workload.applications, queues.len()),
            queues,
            applications: applications.map(|it| (it.queue, counted(it.request))).collect(),
            virtual_cores_count,
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
            capacity: queue.capacity.memory,
            maximum: queue.maximum.memory,
            user_limit: queue.user_limit,
            ..QueueShare::default()
        };
        let root = QueueSpec { is_leaf: false, ..QueueSpec::new("root", 1.0) };
        std::iter::once(&root).chain(&self.queues).map(share).collect()
    }

    /// Puts applications into the order in which CapacityScheduler asks their queues: from the top, first the queue
    /// that uses the smallest part of its capacity. The order within a queue stays.
    pub(super) fn order<T>(
        &self,
        named: &mut [T],
        bookable: Request,
        application: impl Fn(&T) -> usize,
    ) {
        if self.queues.len() == 1 {
            return;
        }
        let queue_of = |one: &T| self.applications[application(one)].0;
        named.sort_by(|a, b| self.compare(queue_of(a), queue_of(b), bookable));
    }

    fn compare(&self, a: usize, b: usize, bookable: Request) -> Ordering {
        let used = |queue: usize| {
            let (used, capacity) = (self.used[queue], self.queues[queue].capacity);
            match self.virtual_cores_count {
                true => dominant_share(used, bookable) / capacity.largest(),
                false => used.memory_bytes as f64 / capacity.memory,
            }
        };
        let mut levels = self.chains[a].iter().zip(&self.chains[b]);
        let siblings = levels.find(|(a, b)| a != b);
        siblings.map_or(Ordering::Equal, |(a, b)| used(*a).total_cmp(&used(*b)).then(a.cmp(b)))
    }

    /// Whether virtual cores count.
    pub(super) fn virtual_cores_count(&self) -> bool {
        self.virtual_cores_count
    }

    /// Whether the order of queues depends on what may be booked, or a queue or a user may not have all of it.
    pub(super) fn need_bookable(&self) -> bool {
        let is_limited = |it: &QueueSpec| !it.maximum.is_whole() || it.user_limit.is_some();
        self.virtual_cores_count || self.queues.iter().any(is_limited)
    }

    /// Whether one more container of an application stays within its queue's parts of what may be booked and those of the
    /// queues above it, and its user's limit allows it.
    pub(super) fn may_have(&self, application: usize, bookable: Request) -> bool {
        let (queue, request) = self.applications[application];
        let has_room = |place: &usize| {
            let maximum = self.queues[*place].maximum;
            maximum.is_whole() || is_within(self.used[*place].plus(request), bookable, maximum)
        };
        self.chains[queue].iter().all(has_room) && self.user_may_have(application, bookable)
    }

    /// As in CapacityScheduler, a user may exceed its limit by one container.
    fn user_may_have(&self, application: usize, bookable: Request) -> bool {
        let (queue, request) = self.applications[application];
        let QueueSpec { capacity, user_limit, .. } = &self.queues[queue];
        user_limit.is_none_or(|limit| {
            let now = QueueAmounts {
                bookable,
                guaranteed: part_of(bookable, *capacity),
                consumed: self.users.consumed(queue, bookable),
                active_users: self.users.active(queue),
            };
            let share = |amount: Request| dominant_share(amount, bookable);
            share(self.users.used(application)) <= share(limit.amount(&now, request))
        })
    }

    /// A limit of masters holds an application back.
    pub(super) fn begins_to_be_held(&mut self, application: usize) {
        self.users.begins_to_be_held(application);
    }

    /// The master of an application starts that was held back.
    pub(super) fn is_held_no_more(&mut self, application: usize) {
        self.users.is_held_no_more(application);
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
        let (queue, request) = self.applications[application];
        for place in &self.chains[queue] {
            self.used[*place] = self.used[*place].plus(request);
        }
        self.all_used = self.all_used.plus(request);
        self.users.started(application, request);
    }

    pub(super) fn ended(&mut self, application: usize) {
        let (queue, request) = self.applications[application];
        for place in &self.chains[queue] {
            self.used[*place] = self.used[*place].minus(request);
        }
        self.all_used = self.all_used.minus(request);
        self.users.ended(application, request);
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

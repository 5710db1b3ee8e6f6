//! The users of leaf queues: what each of them takes, and who waits.

use std::collections::HashMap;

use elastane_core::cluster::Request;

use super::amounts::dominant_share;
use crate::workload::ApplicationSpec;

/// One user in one queue.
#[derive(Debug, Clone, Copy, Default)]
struct User {
    queue: usize,
    used: Request,
    /// Its applications that wait for containers.
    waiting: usize,
    /// Its applications that a limit of masters holds back.
    held: usize,
}

/// All of them.
#[derive(Debug)]
pub(super) struct QueueUsers {
    users: Vec<User>,
    /// By queue, the places of its users.
    by_queue: Vec<Vec<usize>>,
    /// By application, the place of its user.
    of: Vec<usize>,
    /// By queue, the number of users with waiting containers.
    active: Vec<usize>,
}

impl QueueUsers {
    pub(super) fn new(applications: &[ApplicationSpec], queues: usize) -> Self {
        let mut users = Vec::new();
        let mut by_queue = vec![Vec::new(); queues];
        let mut places: HashMap<(usize, &str), usize> = HashMap::new();
        let of = applications.iter().map(|application| {
            let queue = application.queue;
            *places.entry((queue, &application.user)).or_insert_with(|| {
                users.push(User { queue, ..User::default() });
                by_queue[queue].push(users.len() - 1);
                users.len() - 1
            })
        });
        let of = of.collect();
        Self { users, by_queue, of, active: vec![0; queues] }
    }

    /// The number of users of a queue with waiting containers.
    pub(super) fn active(&self, queue: usize) -> usize {
        self.active[queue]
    }

    /// What the user of an application takes of its queue.
    pub(super) fn used(&self, application: usize) -> Request {
        self.users[self.of[application]].used
    }

    /// What CapacityScheduler takes as consumed of a queue: the sum of its users' dominant shares of what may be booked.
    pub(super) fn consumed(&self, queue: usize, bookable: Request) -> f64 {
        let users = self.by_queue[queue].iter();
        users.map(|user| dominant_share(self.users[*user].used, bookable)).sum()
    }

    /// The number of users of an application's queue with waiting containers or masters that are held back; that of the
    /// application is one of them.
    pub(super) fn active_for_masters(&self, application: usize) -> usize {
        let own = self.of[application];
        let users = self.by_queue[self.users[own].queue].iter();
        let is_active = |place: &&usize| {
            let User { waiting, held, .. } = self.users[**place];
            **place == own || waiting > 0 || held > 0
        };
        users.filter(is_active).count()
    }

    pub(super) fn begins_to_be_held(&mut self, application: usize) {
        self.users[self.of[application]].held += 1;
    }

    pub(super) fn is_held_no_more(&mut self, application: usize) {
        self.users[self.of[application]].held -= 1;
    }

    pub(super) fn begins_to_wait(&mut self, application: usize) {
        let user = &mut self.users[self.of[application]];
        user.waiting += 1;
        if user.waiting == 1 {
            self.active[user.queue] += 1;
        }
    }

    pub(super) fn waits_no_more(&mut self, application: usize) {
        let user = &mut self.users[self.of[application]];
        user.waiting -= 1;
        if user.waiting == 0 {
            self.active[user.queue] -= 1;
        }
    }

    pub(super) fn started(&mut self, application: usize, request: Request) {
        let used = &mut self.users[self.of[application]].used;
        *used = used.plus(request);
    }

    pub(super) fn ended(&mut self, application: usize, request: Request) {
        let used = &mut self.users[self.of[application]].used;
        *used = used.minus(request);
    }
}

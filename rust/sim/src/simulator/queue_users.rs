//! The users of leaf queues: what each of them takes, and who waits.

use std::cell::Cell;
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

impl User {
    fn is_active_for_masters(self) -> bool {
        self.waiting > 0 || self.held > 0
    }
}

/// The users of one queue together, so that no question asks each of them.
#[derive(Debug, Default)]
struct Queue {
    users: Vec<usize>,
    /// The number of users with waiting containers.
    active: usize,
    /// The number of users with waiting containers or masters that are held back.
    active_for_masters: usize,
    /// What they take together.
    used: Request,
    /// The sum of their dominant shares of the amount beside it, since the last start or end.
    consumed: Cell<Option<(Request, f64)>>,
}

/// All of them.
#[derive(Debug)]
pub(super) struct QueueUsers {
    users: Vec<User>,
    queues: Vec<Queue>,
    /// By application, the place of its user.
    of: Vec<usize>,
}

impl QueueUsers {
    pub(super) fn new(applications: &[ApplicationSpec], queues: usize) -> Self {
        let mut users = Vec::new();
        let mut queues: Vec<Queue> = (0..queues).map(|_| Queue::default()).collect();
        let mut places: HashMap<(usize, &str), usize> = HashMap::new();
        let of = applications.iter().map(|application| {
            let queue = application.queue;
            *places.entry((queue, &application.user)).or_insert_with(|| {
                users.push(User { queue, ..User::default() });
                queues[queue].users.push(users.len() - 1);
                users.len() - 1
            })
        });
        let of = of.collect();
        Self { users, queues, of }
    }

    /// The number of users of a queue with waiting containers.
    pub(super) fn active(&self, queue: usize) -> usize {
        self.queues[queue].active
    }

    /// What the user of an application takes of its queue.
    pub(super) fn used(&self, application: usize) -> Request {
        self.users[self.of[application]].used
    }

    /// What CapacityScheduler takes as consumed of a queue: the sum of its users' dominant shares of what may be booked.
    pub(super) fn consumed(&self, queue: usize, bookable: Request) -> f64 {
        let Queue { users, used, consumed, .. } = &self.queues[queue];
        if used.vcores == 0 {
            // Shares of memory alone have the share of the sum as their sum.
            return dominant_share(*used, bookable);
        }
        if let Some((_, sum)) = consumed.get().filter(|(of, _)| *of == bookable) {
            return sum;
        }
        let sum = users.iter().map(|user| dominant_share(self.users[*user].used, bookable)).sum();
        consumed.set(Some((bookable, sum)));
        sum
    }

    /// The number of users of an application's queue with waiting containers or masters that are held back; that of the
    /// application is one of them.
    pub(super) fn active_for_masters(&self, application: usize) -> usize {
        let own = self.users[self.of[application]];
        let active = self.queues[own.queue].active_for_masters;
        active + usize::from(!own.is_active_for_masters())
    }

    pub(super) fn begins_to_be_held(&mut self, application: usize) {
        self.change(application, |user| user.held += 1);
    }

    pub(super) fn is_held_no_more(&mut self, application: usize) {
        self.change(application, |user| user.held -= 1);
    }

    pub(super) fn begins_to_wait(&mut self, application: usize) {
        self.change(application, |user| user.waiting += 1);
    }

    pub(super) fn waits_no_more(&mut self, application: usize) {
        self.change(application, |user| user.waiting -= 1);
    }

    pub(super) fn started(&mut self, application: usize, request: Request) {
        self.change(application, |user| user.used = user.used.plus(request));
    }

    pub(super) fn ended(&mut self, application: usize, request: Request) {
        self.change(application, |user| user.used = user.used.minus(request));
    }

    /// Changes the user of an application, and what is known of its queue's users together.
    fn change(&mut self, application: usize, change: impl FnOnce(&mut User)) {
        let user = &mut self.users[self.of[application]];
        let before = *user;
        change(user);
        let queue = &mut self.queues[user.queue];
        queue.active += usize::from(user.waiting > 0);
        queue.active -= usize::from(before.waiting > 0);
        queue.active_for_masters += usize::from(user.is_active_for_masters());
        queue.active_for_masters -= usize::from(before.is_active_for_masters());
        if user.used != before.used {
            queue.used = queue.used.plus(user.used).minus(before.used);
            queue.consumed.set(None);
        }
    }
}

#[cfg(test)]
mod tests;

//! The users of leaf queues: what each of them takes, and who waits.

use std::collections::HashMap;

use crate::workload::ApplicationSpec;

/// One user in one queue.
#[derive(Debug, Clone, Copy, Default)]
struct User {
    queue: usize,
    used_bytes: u64,
    /// Its applications that wait for containers.
    waiting: usize,
}

/// All of them.
#[derive(Debug)]
pub(super) struct QueueUsers {
    users: Vec<User>,
    /// By application, the place of its user.
    of: Vec<usize>,
    /// By queue, the number of users with waiting containers.
    active: Vec<usize>,
}

impl QueueUsers {
    pub(super) fn new(applications: &[ApplicationSpec], queues: usize) -> Self {
        let mut users = Vec::new();
        let mut places: HashMap<(usize, &str), usize> = HashMap::new();
        let of = applications.iter().map(|application| {
            let queue = application.queue;
            *places.entry((queue, &application.user)).or_insert_with(|| {
                users.push(User { queue, ..User::default() });
                users.len() - 1
            })
        });
        let of = of.collect();
        Self { users, of, active: vec![0; queues] }
    }

    /// The number of users of a queue with waiting containers.
    pub(super) fn active(&self, queue: usize) -> usize {
        self.active[queue]
    }

    /// What the user of an application takes of its queue.
    pub(super) fn used_bytes(&self, application: usize) -> u64 {
        self.users[self.of[application]].used_bytes
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

    pub(super) fn started(&mut self, application: usize, memory_bytes: u64) {
        self.users[self.of[application]].used_bytes += memory_bytes;
    }

    pub(super) fn ended(&mut self, application: usize, memory_bytes: u64) {
        self.users[self.of[application]].used_bytes -= memory_bytes;
    }
}

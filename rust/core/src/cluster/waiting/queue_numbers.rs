//! Small numbers for the queues of waiting applications.

use std::collections::HashMap;
use std::sync::Arc;

/// Numbers in use are dense: the number of a queue for which nobody waits any more goes to the next new queue,
/// so that any number of queues may come and go.
#[derive(Debug, Default)]
pub(super) struct QueueNumbers {
    by_name: HashMap<String, u32>,
    queues: Vec<Numbered>,
    free: Vec<u32>,
}

#[derive(Debug, Default)]
struct Numbered {
    name: String,
    rows: usize,
    /// The number of rows of each user.
    users: HashMap<Arc<str>, usize>,
}

impl QueueNumbers {
    /// All numbers are below this one.
    pub(super) fn end(&self) -> usize {
        self.queues.len()
    }

    /// The number of a queue with rows.
    pub(super) fn number_of(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    /// The number of users with rows of this queue.
    pub(super) fn users_in(&self, name: &str) -> usize {
        let queue = self.by_name.get(name).and_then(|number| self.queues.get(*number as usize));
        queue.map_or(0, |queue| queue.users.len())
    }

    /// A row of this queue and this user comes.
    pub(super) fn enter(&mut self, name: &str, user: &Arc<str>) -> u32 {
        let number = self.by_name.get(name).copied().unwrap_or_else(|| self.add(name));
        if let Some(queue) = self.queues.get_mut(number as usize) {
            queue.rows += 1;
            *queue.users.entry(Arc::clone(user)).or_default() += 1;
        }
        number
    }

    fn add(&mut self, name: &str) -> u32 {
        let queue = Numbered { name: name.to_owned(), ..Numbered::default() };
        let number = match self.free.pop() {
            Some(number) => {
                self.queues[number as usize] = queue;
                number
            }
            None => {
                self.queues.push(queue);
                u32::try_from(self.queues.len() - 1).unwrap_or(u32::MAX)
            }
        };
        self.by_name.insert(name.to_owned(), number);
        number
    }

    /// A row of this queue and this user goes.
    pub(super) fn leave(&mut self, number: u32, user: &str) {
        let Some(queue) = self.queues.get_mut(number as usize) else {
            return;
        };
        queue.rows = queue.rows.saturating_sub(1);
        if let Some(rows) = queue.users.get_mut(user) {
            *rows -= 1;
            if *rows == 0 {
                queue.users.remove(user);
            }
        }
        if queue.rows == 0 {
            self.by_name.remove(&std::mem::take(&mut queue.name));
            self.free.push(number);
        }
    }
}

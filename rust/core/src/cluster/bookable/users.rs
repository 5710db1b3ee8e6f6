//! What one user may take of a leaf queue.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;

use super::booked::{Booked, Ratios};
use super::taken::{Taken, TakenBy};
use crate::cluster::state::Request;

/// CapacityScheduler counts in whole MiB and virtual cores.
const UNIT: Booked = Booked { memory_bytes: 1 << 20, millivcores: 1_000 };

/// A leaf queue's limit for each of its users, as it is configured.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct UserLimit {
    /// The largest multiple of the queue's guaranteed part; -1 for any.
    pub factor: f64,
    /// The part of the queue that a user gets however many others wait, in percent.
    pub minimum_percent: f64,
    /// The size of the smallest container.
    pub minimum_allocation: Request,
}

/// What a queue has and takes; no virtual cores where CapacityScheduler does not count them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueueAmounts {
    /// What may be booked on all nodes.
    pub bookable: Request,
    /// Its guaranteed part of that.
    pub guaranteed: Request,
    /// The sum of its users' dominant shares of `bookable`.
    pub consumed: f64,
    /// The number of users with waiting containers.
    pub active_users: usize,
}

/// What a queue has and takes of the nodes of a label.
pub(super) struct QueueNow {
    pub(super) registered: Booked,
    pub(super) guaranteed: Booked,
    /// As a part of `registered`.
    pub(super) consumed: f64,
    /// The number of users with waiting containers.
    pub(super) active_users: usize,
}

impl UserLimit {
    /// What each user may take if a container with this request is to start.
    pub fn amount(self, queue: &QueueAmounts, request: Request) -> Request {
        let now = QueueNow {
            registered: Booked::from(queue.bookable),
            guaranteed: Booked::from(queue.guaranteed),
            consumed: queue.consumed,
            active_users: queue.active_users,
        };
        self.of(&now, Booked::from(request)).as_request(true)
    }

    /// The limit if a container of this demand is to start: that of CapacityScheduler's
    /// `UsersManager.computeUserLimit`, of the registered sizes and what is demanded of them. Without the users'
    /// weights.
    pub(super) fn of(self, queue: &QueueNow, demanded: Booked) -> Booked {
        let share = |amount: Booked| amount.dominant_share(queue.registered);
        let smallest = Booked::from(self.minimum_allocation);
        let capacity = share(queue.guaranteed).max(share(smallest));
        let is_below = queue.consumed < capacity;
        let current = if is_below { capacity } else { queue.consumed + share(demanded) };
        let of_each = current / queue.active_users.max(1) as f64;
        let is_capped = self.factor >= 0.0 && queue.guaranteed != Booked::default();
        let at_most = if is_capped { capacity * self.factor } else { f64::INFINITY };
        let limit = of_each.max(current * self.minimum_percent / 100.0).min(at_most);
        rounded_up(queue.registered.scaled(Ratios::both(limit)), smallest)
    }
}

/// To a multiple of the smallest container, without what is less than a unit.
fn rounded_up(amount: Booked, smallest: Booked) -> Booked {
    let up = |amount: i64, unit: i64, step: i64| {
        let step = step.max(unit);
        // A byte more, against rounding.
        (amount + 1 - unit).div_euclid(step).saturating_add(1).saturating_mul(step)
    };
    Booked {
        memory_bytes: up(amount.memory_bytes, UNIT.memory_bytes, smallest.memory_bytes),
        millivcores: up(amount.millivcores, UNIT.millivcores, smallest.millivcores),
    }
}

/// What the users of a leaf queue take of the nodes of a label.
#[derive(Debug, Default)]
pub(super) struct Users {
    taken: HashMap<Arc<str>, Taken>,
    /// By how much the sum of the users' dominant shares was more than the queue's.
    spread: f64,
}

impl Users {
    pub(super) fn of(&self, user: &str) -> Taken {
        self.taken.get(user).copied().unwrap_or_default()
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.taken.len()
    }

    pub(super) fn started(&mut self, by: &TakenBy) {
        self.set(by, self.of(&by.user).plus(by.taken));
    }

    pub(super) fn ended(&mut self, by: &TakenBy) {
        self.set(by, self.of(&by.user).minus(by.taken));
    }

    fn set(&mut self, by: &TakenBy, taken: Taken) {
        if taken == Taken::default() {
            self.taken.remove(&by.user);
        } else {
            self.taken.insert(Arc::clone(&by.user), taken);
        }
    }

    /// To be called every second or so.
    pub(super) fn refresh(&mut self, all: Taken, registered: Booked) {
        let of_each = self.taken.values().map(|taken| taken.demanded.dominant_share(registered));
        self.spread = (of_each.sum::<f64>() - all.demanded.dominant_share(registered)).max(0.0);
    }

    /// What CapacityScheduler takes as consumed: the sum of the users' dominant shares.
    pub(super) fn consumed(&self, all: Taken, registered: Booked) -> f64 {
        all.demanded.dominant_share(registered) + self.spread
    }
}

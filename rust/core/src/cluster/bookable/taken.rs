//! What containers take of a queue's share.

use std::sync::Arc;

use super::booked::Booked;

/// What containers take: by their requests, and by their demand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) requested: Booked,
    pub(crate) demanded: Booked,
}

/// What one running container takes, and in whose name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TakenBy {
    pub(crate) queue: Arc<str>,
    pub(crate) label: Arc<str>,
    pub(crate) user: Arc<str>,
    pub(crate) taken: Taken,
}

/// A container that is to start, and in whose name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Next<'a> {
    /// The leaf queue.
    pub(crate) queue: &'a str,
    pub(crate) label: &'a str,
    pub(crate) user: &'a str,
    /// The number of users with waiting containers in the queue.
    pub(crate) active_users: usize,
    pub(crate) container: Taken,
}

impl Taken {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            requested: self.requested.plus(other.requested),
            demanded: self.demanded.plus(other.demanded),
        }
    }

    pub(crate) fn times(self, count: u32) -> Self {
        Self { requested: self.requested.times(count), demanded: self.demanded.times(count) }
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        Self {
            requested: self.requested.minus(other.requested),
            demanded: self.demanded.minus(other.demanded),
        }
    }
}

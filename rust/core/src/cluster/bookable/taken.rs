//! What containers take of a queue's share.

use std::sync::Arc;

use super::booked::{Booked, Ratios};
use crate::amounts::Amounts;

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
    /// The mean of its demand, as planned at its start.
    pub(crate) planned: Amounts,
    /// Whether it started because its queue was owed a flow.
    pub(crate) is_owed_flow: bool,
}

impl TakenBy {
    pub(super) fn owed_flows(&self) -> Amounts {
        if self.is_owed_flow { self.planned } else { Amounts::ZERO }
    }
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

/// How much more of containers like this one may be taken up to a maximum, and up to `by_demand` where demand is
/// limited.
pub(super) fn room(
    taken: Taken,
    at_most: Booked,
    by_demand: Option<Booked>,
    ceiling: f64,
    container: Taken,
) -> Booked {
    left(taken, at_most, by_demand, ceiling, container).max(Booked::default())
}

/// The same, below zero where more is taken.
pub(super) fn left(
    taken: Taken,
    at_most: Booked,
    by_demand: Option<Booked>,
    ceiling: f64,
    container: Taken,
) -> Booked {
    let by_request = at_most.minus(taken.requested);
    let under_ceiling = at_most.scaled(Ratios::both(ceiling)).minus(taken.requested);
    let proven = container.demanded.over(container.requested, 1.0).map(|ratio| ratio.max(1e-3));
    let by_demand = by_demand.map_or(under_ceiling, |by_demand| {
        by_demand.minus(taken.demanded).scaled(proven.map(|ratio| 1.0 / ratio))
    });
    by_request.max(by_demand.min(under_ceiling))
}

/// A queue's path and those above it, up to the root.
pub(crate) fn with_ancestors(queue: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(queue), |path| Some(path.rsplit_once('.')?.0))
}

//! A queue's part of the nodes of one label: what it may take, and what its containers take.

use std::sync::Arc;

use serde::Deserialize;

use super::booked::{Booked, Ratios};
use super::guarantee::History;
use super::taken::{Next, Taken, TakenBy};
use super::users::{QueueNow, UserLimit, Users};
use crate::amounts::Amounts;
use crate::cluster::state::Request;

/// A queue's share of the nodes of one label, as CapacityScheduler computes it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueShare {
    /// The queue's path.
    pub queue: String,
    /// The label of the nodes; empty for those without one.
    pub label: String,
    /// Whether the label is not exclusive: CapacityScheduler lends what is idle there to all queues, whatever
    /// their maximum capacity.
    #[serde(default)]
    pub is_label_shared: bool,
    /// Whether applications run in it.
    pub is_leaf: bool,
    /// The guaranteed part of all nodes of the label.
    pub capacity: f64,
    /// The largest part.
    pub maximum: f64,
    /// The guaranteed amount, where it is configured as an amount.
    pub guaranteed: Option<Request>,
    /// The largest amount, where it is configured as an amount.
    pub at_most: Option<Request>,
    /// The part of what it may use that application masters may take; none for any. Replays alone read it.
    #[serde(default)]
    pub masters: Option<f64>,
    /// What each of its users may take; none for any amount.
    #[serde(default)]
    pub user_limit: Option<UserLimit>,
    /// How long CapacityScheduler's preemption monitor takes from its first choice of a container of this leaf queue to
    /// that container's end, in milliseconds; none where it takes none.
    #[serde(default)]
    pub preempted_within_ms: Option<i64>,
}

/// A queue's part of one label.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) label: Arc<str>,
    pub(super) share: Option<QueueShare>,
    pub(super) taken: Taken,
    /// Of a leaf queue: the means of its containers' demands, as planned at their starts.
    pub(super) planned: Amounts,
    /// Of a leaf queue: what is planned beyond its share of each flow, at the latest look.
    pub(super) beyond: Amounts,
    /// Of a leaf queue: the part of `planned` that started because flows were owed.
    pub(super) owed_flows: Amounts,
    /// Of a leaf queue.
    pub(super) users: Users,
    pub(super) history: History,
}

impl Part {
    pub(super) fn is_leaf(&self) -> bool {
        self.share.as_ref().is_some_and(|share| share.is_leaf)
    }

    /// A container of this leaf queue starts.
    pub(super) fn leaf_started(&mut self, by: &TakenBy) {
        self.planned = self.planned.plus(by.planned);
        self.owed_flows = self.owed_flows.plus(by.owed_flows());
        self.users.started(by);
    }

    /// A container of this leaf queue ended.
    pub(super) fn leaf_ended(&mut self, by: &TakenBy) {
        self.planned = self.planned.minus(by.planned);
        self.owed_flows = self.owed_flows.minus(by.owed_flows());
        self.users.ended(by);
    }

    pub(super) fn may_be_preempted(&self) -> bool {
        self.share
            .as_ref()
            .is_some_and(|share| share.is_leaf && share.preempted_within_ms.is_some())
    }

    pub(super) fn guaranteed(&self, registered: Booked) -> Booked {
        let Some(share) = &self.share else {
            return Booked::default();
        };
        share
            .guaranteed
            .map_or_else(|| registered.scaled(Ratios::both(share.capacity)), Booked::from)
    }

    /// The guaranteed share of the nodes, which for flows is that of the memory.
    pub(super) fn guaranteed_share(&self, registered: Booked) -> f64 {
        self.guaranteed(registered).over(registered, 0.0).memory
    }

    pub(super) fn at_most(&self, registered: Booked) -> Booked {
        let Some(share) = &self.share else {
            return registered;
        };
        share.at_most.map_or_else(|| registered.scaled(Ratios::both(share.maximum)), Booked::from)
    }

    /// What each user may take if this container is to start.
    pub(super) fn user_limit(&self, registered: Booked, next: &Next<'_>) -> Option<Booked> {
        let limit = self.share.as_ref()?.user_limit?;
        let guaranteed = self.guaranteed(registered);
        let consumed = self.users.consumed(self.taken, registered);
        let queue = QueueNow { registered, guaranteed, consumed, active_users: next.active_users };
        Some(limit.of(&queue, next.container.demanded))
    }

    /// The limit on the queue's demand. `None` if the maximum is all nodes: the sum of peaks that never coincide may
    /// exceed the nodes, although the containers fit.
    pub(super) fn at_most_by_demand(&self, registered: Booked) -> Option<Booked> {
        let at_most = self.at_most(registered);
        (!registered.fits_into(at_most)).then_some(at_most)
    }

    /// Whether containers of this demand stay within its maximum.
    pub(super) fn admits(&self, demanded: Booked, registered: Booked) -> bool {
        self.at_most_by_demand(registered).is_none_or(|at_most| demanded.fits_into(at_most))
    }

    /// Whether the queue is within its guarantee with one more container of this size.
    pub(super) fn guarantees(&self, requested: Booked, registered: Booked) -> bool {
        self.taken.requested.plus(requested).fits_into(self.guaranteed(registered))
    }

    pub(super) fn is_below_guarantee(&self, registered: Booked) -> bool {
        self.taken.requested.is_below(self.guaranteed(registered))
    }

    pub(super) fn is_over_guarantee(&self, registered: Booked) -> bool {
        !self.taken.requested.fits_into(self.guaranteed(registered))
    }
}

//! The queues' shares of the nodes' registered sizes, and what their containers take of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::booked::{Booked, Ratios};
use super::guarantee::{Claim, claimed};
use super::owed::Owed;
use super::part::{Part, QueueShare};
use super::queues::Queues;
use super::taken::{Next, Taken, TakenBy, room, with_ancestors};
use super::waits::{BelowGuarantee, GuaranteeWaits, WaitsByQueue};
use crate::amounts::Amounts;
use crate::cluster::state::{Container, NodeEntry, PlacedReason, Request};
use crate::resources::Resource;

/// The shares of all queues.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    queues: Queues,
    /// Sum of the registered sizes, by label.
    pub(super) registered: BTreeMap<Arc<str>, Booked>,
    owed: Owed,
    /// The labels with a raised node.
    raised: BTreeSet<Arc<str>>,
    /// The labels that are not exclusive.
    shared_labels: BTreeSet<String>,
    ceilings: BTreeMap<String, f64>,
    /// When the latest hold of preemption began, by label.
    hold_began_ms: BTreeMap<Arc<str>, i64>,
    /// Of the latest look.
    waits: GuaranteeWaits,
}

impl Shares {
    /// Ceilings by queue: requests may exceed the queue's maximum capacity of the registered sizes by this factor.
    pub(crate) fn set_ceilings(&mut self, ceilings: BTreeMap<String, f64>) {
        self.ceilings = ceilings;
    }

    /// The queues as they are now configured.
    pub(crate) fn configure(&mut self, shares: Vec<QueueShare>) {
        let is_shared = |share: &&QueueShare| share.is_label_shared;
        self.shared_labels = shares.iter().filter(is_shared).map(|it| it.label.clone()).collect();
        let monitor_ms = shares.iter().filter_map(|share| share.preempted_within_ms).max();
        self.waits.set_monitor_ms(monitor_ms);
        self.queues.configure(shares);
    }

    /// The number of queues that are configured or hold containers.
    #[cfg(test)]
    pub(crate) fn queue_count(&self) -> usize {
        self.queues.paths().count()
    }

    /// The number of users that hold containers in a queue.
    #[cfg(test)]
    pub(crate) fn user_count(&self, queue: &str) -> usize {
        let parts = self.queues.iter().filter(|(path, _)| ***path == *queue);
        parts.map(|(_, part)| part.users.count()).sum()
    }

    pub(crate) fn started(&mut self, by: &TakenBy) {
        self.queues.started(by);
    }

    /// Containers change their queue or their node's label.
    pub(crate) fn carry_over<'a>(
        &mut self,
        containers: impl Iterator<Item = &'a mut Container>,
        change: impl Fn(&mut TakenBy),
    ) {
        for container in containers {
            self.ended(&container.taken_by);
            change(&mut container.taken_by);
            self.started(&container.taken_by);
        }
    }

    pub(crate) fn ended(&mut self, by: &TakenBy) {
        self.queues.ended(by);
    }

    pub(super) fn known(&self, queue: &str, label: &str) -> Option<&Part> {
        self.queues.known(queue, label)
    }

    /// The sum of the registered sizes of a label's nodes changed.
    pub(crate) fn set_registered(&mut self, label: &str, registered: Booked) {
        self.registered.insert(label.into(), registered);
    }

    /// The labels with a raised node. Elsewhere CapacityScheduler's own maxima hold, which are by request and
    /// know when a label may be borrowed.
    pub(crate) fn set_raised(&mut self, labels: BTreeSet<Arc<str>>) {
        self.raised = labels;
    }

    /// Whether queues may use the label's nodes above their maximum capacity while these are idle.
    pub(crate) fn is_label_shared(&self, label: &str) -> bool {
        self.shared_labels.contains(label)
    }

    /// Whether a node of the label is raised.
    pub(crate) fn is_raised(&self, label: &str) -> bool {
        self.raised.contains(label)
    }

    /// Advances the queues' histories to `now_ms`, with what the nodes of each label have.
    pub(crate) fn advance(&mut self, capacity: &BTreeMap<Arc<str>, Amounts>, now_ms: i64) {
        self.owed.clear();
        for part in self.queues.iter_mut() {
            part.history.advance(part.taken, now_ms);
            let registered = registered_of(&self.registered, &part.label);
            part.users.refresh(part.taken, registered);
            if part.is_leaf() {
                let capacity = capacity.get(&part.label).copied().unwrap_or_default();
                self.owed.note(part, registered, capacity);
            }
        }
    }

    /// The most that may be booked on all nodes of a label together, as a multiple of the registered
    /// size; none while no queue is known. `waiting` is what each leaf queue's containers would take, and
    /// `fullest_bytes` what the nodes hold of memory in their fullest slots together.
    pub(super) fn most_booked(
        &self,
        label: &str,
        waiting: &WaitsByQueue<'_>,
        fullest_bytes: i64,
    ) -> Option<Ratios> {
        let registered = registered_of(&self.registered, label);
        let mut claims = Vec::new();
        for (queue, part) in self.queues.iter() {
            if &*part.label == label && part.is_leaf() {
                let waits = waiting.get(&(&**queue, label));
                let waits = waits.map(|waits| waits.taken).unwrap_or_default();
                let guaranteed = part.guaranteed(registered);
                claims.push(Claim { guaranteed, taken: part.taken, waits, history: part.history });
            }
        }
        let most = || claimed(registered, &claims, fullest_bytes).map(|claimed| 1.0 / claimed);
        (!claims.is_empty()).then(most)
    }

    /// Notes the leaf queues that wait and hold less than their guarantee.
    pub(super) fn read_waits(&mut self, waiting: &WaitsByQueue<'_>, now_ms: i64) {
        let parts = self.queues.iter().filter_map(|(queue, part)| {
            Some((queue, waiting.get(&(&**queue, &*part.label))?, part))
        });
        let below = parts.filter(|(_, _, part)| {
            part.is_leaf() && part.is_below_guarantee(registered_of(&self.registered, &part.label))
        });
        let below = below.map(|(queue, waits, part)| BelowGuarantee {
            label: Arc::clone(&part.label),
            queue: Arc::clone(queue),
            waits_for_room: waits.for_room,
        });
        self.waits.set(below, now_ms);
    }

    /// Whether a leaf queue waited at the latest look that held less than its guarantee.
    pub(crate) fn is_guarantee_waited_for(&self, label: &str) -> bool {
        self.waits.of(label).next().is_some()
    }

    /// The capacity to withhold from a label's nodes because a guarantee is overdue: the preemption monitor could take
    /// containers of other queues and takes none. `None` if no guarantee is overdue; if `Some`, no node grows either.
    ///
    /// Cause: the monitor compares dominant shares and assigns to a queue all virtual cores that nobody asks for. On
    /// raised nodes the queue's memory is a smaller share, so the queue seems to hold less than its guarantee.
    pub(super) fn withheld(&self, label: &str, now_ms: i64) -> Option<Booked> {
        let registered = registered_of(&self.registered, label);
        let overdue = self.waits.overdue(label, now_ms).filter_map(|overdue| {
            let part = self.known(overdue.queue, label)?;
            let may_give =
                |giver: &Arc<str>| self.may_give(giver, overdue.queue, label, registered);
            let lacks = part.guaranteed(registered).minus(part.taken.requested);
            let withheld =
                if overdue.is_new { lacks.times(overdue.times) } else { Booked::default() };
            self.queues.paths().any(may_give).then_some(withheld)
        });
        overdue.reduce(Booked::max)
    }

    /// Whether the monitor may take containers of one leaf queue for another one: up to the first queue above both, it
    /// and those above it hold more than their guarantees.
    fn may_give(&self, giver: &str, taker: &str, label: &str, registered: Booked) -> bool {
        let is_above_both = |queue: &str| with_ancestors(taker).any(|other| other == queue);
        let mut own = with_ancestors(giver).take_while(|queue| !is_above_both(queue));
        giver != taker
            && self.known(giver, label).is_some_and(Part::may_be_preempted)
            && own.all(|it| self.known(it, label).is_none_or(|it| it.is_over_guarantee(registered)))
    }

    /// The preemption monitor may take a container on a node of a label.
    pub(super) fn monitor_acts(&mut self, label: &str, now_ms: i64) {
        self.waits.monitor_acts(label, now_ms);
    }

    /// A container started, as CapacityScheduler allocated it.
    pub(crate) fn granted(&mut self, by: &TakenBy, now_ms: i64) {
        self.waits.granted(&by.label, &by.queue, now_ms);
    }

    /// The process stood still for a while.
    pub(super) fn restart_waits(&mut self) {
        self.waits.restart();
    }

    /// Whether a queue gets nothing of what nodes may book above their registered size: it has its guarantee, and
    /// another queue waits for its own.
    pub(crate) fn yields(&self, queue: &str, label: &str) -> bool {
        self.yields_to(queue, label).is_some()
    }

    /// The first queue to which a queue yields.
    pub(super) fn yields_to(&self, queue: &str, label: &str) -> Option<&Arc<str>> {
        let registered = registered_of(&self.registered, label);
        let is_below = |queue: &str| {
            self.known(queue, label).is_some_and(|part| part.is_below_guarantee(registered))
        };
        if !self.is_guarantee_waited_for(label)
            || self.known(queue, label).is_none()
            || is_below(queue)
        {
            return None;
        }
        self.waits.of(label).find(|other| ***other != *queue && is_below(other))
    }

    /// Whether a queue yields on a node: this container would exceed the registered size there.
    pub(crate) fn yields_on(&self, entry: &NodeEntry, queue: &str, request: Request) -> bool {
        !entry.has_room_by_request(request) && self.yields(queue, &entry.label)
    }

    pub(crate) fn hold_begins(&mut self, label: &Arc<str>, now_ms: i64) {
        self.hold_began_ms.insert(Arc::clone(label), now_ms);
    }

    /// When the latest hold of preemption began for a label.
    pub(crate) fn hold_began_ms(&self, label: &str) -> Option<i64> {
        self.hold_began_ms.get(label).copied()
    }

    /// Whether a queue's requests are within its guaranteed part of nodes of this size.
    pub(crate) fn is_within_share(&self, queue: &str, label: &str, size: Booked) -> bool {
        self.known(queue, label)
            .is_some_and(|part| part.taken.requested.fits_into(part.guaranteed(size)))
    }

    /// Whether this queue or one above is by request above its maximum part of nodes of this size, while all of
    /// them are by demand within that part of the registered nodes.
    pub(crate) fn is_above_maximum_of(&self, queue: &str, label: &str, size: Booked) -> bool {
        let registered = registered_of(&self.registered, label);
        let parts = || with_ancestors(queue).filter_map(|queue| self.known(queue, label));
        parts().all(|part| part.admits(part.taken.demanded, registered))
            && parts().any(|part| !part.taken.requested.fits_into(part.at_most(size)))
    }

    /// Whether a queue holds more than its guarantee.
    #[inline]
    pub(crate) fn is_any_over_guarantee(&self, label: &str) -> bool {
        self.owed.is_any_over_guarantee(label)
    }

    /// Whether a queue is planned to use more than its share of a flow.
    #[inline]
    pub(crate) fn is_any_flow_beyond(&self, label: &str) -> bool {
        self.owed.is_any_flow_beyond(label)
    }

    /// Whether a container of this queue goes by request, at once: with it the queue is within its guarantee,
    /// while another queue holds more than its own.
    pub(crate) fn owes(&self, queue: &str, label: &str, request: Request) -> bool {
        if !self.is_any_over_guarantee(label) {
            return false;
        }
        let registered = registered_of(&self.registered, label);
        let part = self.known(queue, label);
        part.is_some_and(|part| part.guarantees(request.into(), registered))
    }

    /// Why a container that lacks a resource goes by request all the same, if it does: with it the queue is within its
    /// guarantee, and others take more than theirs. `mean` is its planned use.
    pub(crate) fn owed(
        &self,
        queue: &str,
        label: &str,
        request: Request,
        mean: impl FnOnce() -> Amounts,
        lacking: Resource,
    ) -> Option<PlacedReason> {
        if self.owes(queue, label, request) {
            return Some(PlacedReason::Owed);
        }
        if !self.is_any_flow_beyond(label) {
            return None;
        }
        let registered = registered_of(&self.registered, label);
        let part = self.known(queue, label)?;
        let is_owed = part.guarantees(request.into(), registered)
            && self.owed.owes_flow(part, registered, self.owed_flows(label), mean(), lacking);
        is_owed.then_some(PlacedReason::OwedFlow)
    }

    /// What the queues of a label started because flows were owed.
    fn owed_flows(&self, label: &str) -> Amounts {
        let parts = self.queues.iter().filter(|(_, part)| &*part.label == label);
        parts.fold(Amounts::ZERO, |sum, (_, part)| sum.plus(part.owed_flows))
    }

    /// How much more of containers like this one fits below the maxima of a queue and of those above it, and
    /// below the limit of its user where a node is raised; none while none of the queues is known.
    pub(crate) fn headroom(&self, next: &Next<'_>) -> Option<Booked> {
        let registered = registered_of(&self.registered, next.label);
        let of_queues = with_ancestors(next.queue).filter_map(|queue| {
            let part = self.known(queue, next.label)?;
            let (at_most, by_demand) =
                (part.at_most(registered), part.at_most_by_demand(registered));
            Some(room(part.taken, at_most, by_demand, self.ceiling(queue), next.container))
        });
        let limited = self.known(next.queue, next.label).filter(|_| self.is_raised(next.label));
        let of_user = limited.and_then(|part| {
            let limit = part.user_limit(registered, next)?;
            let of_user = part.users.of(next.user);
            Some(room(of_user, limit, Some(limit), f64::INFINITY, next.container))
        });
        of_queues.chain(of_user).reduce(Booked::min)
    }

    /// Whether a user is above its limit both by request and by demand. As in CapacityScheduler the next
    /// container does not count: a user may exceed its limit by one. Never where no node is raised.
    pub(crate) fn is_user_at_limit(&self, next: &Next<'_>) -> bool {
        if !self.is_raised(next.label) {
            return false;
        }
        let registered = registered_of(&self.registered, next.label);
        let Some(part) = self.known(next.queue, next.label) else {
            return false;
        };
        part.user_limit(registered, next).is_some_and(|limit| {
            let limit = limit.dominant_share(registered);
            let Taken { requested, demanded } = part.users.of(next.user);
            requested.dominant_share(registered) > limit
                && demanded.dominant_share(registered) > limit
        })
    }

    /// Whether a container belongs to its queue's guarantee, and no limit of its user or of the queues above keeps it
    /// from starting on nodes of their registered size.
    pub(super) fn is_due(&self, next: &Next<'_>) -> bool {
        let registered = registered_of(&self.registered, next.label);
        self.known(next.queue, next.label).is_some_and(|part| {
            let of_user = part.users.of(next.user).requested.dominant_share(registered);
            let limit = part.user_limit(registered, next);
            part.guarantees(next.container.requested, registered)
                && limit.is_none_or(|limit| of_user <= limit.dominant_share(registered))
                && self.at_maximum(next).is_none()
        })
    }

    pub(super) fn ceiling(&self, queue: &str) -> f64 {
        self.ceilings.get(queue).copied().unwrap_or(f64::INFINITY)
    }

    /// The first queue, from this one upwards, that has no room for a container. A queue has room while its requests
    /// stay within its maximum, as in CapacityScheduler. Beyond that, its demand must stay within the maximum, and its
    /// requests within the ceiling. `None` if no node of the label is raised.
    pub(crate) fn at_maximum<'a>(&self, next: &Next<'a>) -> Option<&'a str> {
        if !self.is_raised(next.label) {
            return None;
        }
        let registered = registered_of(&self.registered, next.label);
        with_ancestors(next.queue).find(|queue| {
            let Some(part) = self.known(queue, next.label) else {
                return false;
            };
            let at_most = part.at_most(registered);
            let with_it = part.taken.plus(next.container);
            if with_it.requested.fits_into(at_most) {
                return false;
            }
            let ceiling = self.ceiling(queue);
            !part.admits(with_it.demanded, registered)
                || !with_it.requested.fits_into(at_most.scaled(Ratios::both(ceiling)))
        })
    }
}

/// The sum of the registered sizes of a label's nodes.
pub(super) fn registered_of(registered: &BTreeMap<Arc<str>, Booked>, label: &str) -> Booked {
    registered.get(label).copied().unwrap_or_default()
}

//! What queues and users may still take, by request, for a look ahead.

use std::sync::Arc;

use super::booked::Booked;
use super::shares::{Shares, registered_of};
use super::taken::{Next, Taken, left, with_ancestors};

/// What a queue holds on the nodes of a label, and what it is guaranteed there.
pub(crate) fn held_and_guaranteed(shares: &Shares, queue: &str, label: &str) -> (Booked, Booked) {
    let registered = registered_of(&shares.registered, label);
    let part = shares.known(queue, label);
    part.map_or_else(Default::default, |part| (part.taken.requested, part.guaranteed(registered)))
}

/// What a queue, and each one above it, may still take on the nodes of a label. Where nodes are raised, containers are
/// taken to demand the same part of their requests as those that the queue holds.
pub(crate) fn left_for_queues(
    shares: &Shares,
    queue: &str,
    label: &str,
) -> impl Iterator<Item = (Arc<str>, Booked)> {
    let registered = registered_of(&shares.registered, label);
    let is_raised = shares.is_raised(label);
    with_ancestors(queue).filter_map(move |path| {
        let part = shares.known(path, label)?;
        let (taken, at_most) = (part.taken, part.at_most(registered));
        let left = if is_raised {
            let by_demand = part.at_most_by_demand(registered);
            left(taken, at_most, by_demand, shares.ceiling(path), taken)
        } else {
            at_most.minus(taken.requested)
        };
        Some((path.into(), left))
    })
}

/// What a user may still take of a leaf queue, below zero where it has more; none without a limit.
pub(crate) fn left_for_user(shares: &Shares, next: &Next<'_>) -> Option<Booked> {
    let registered = registered_of(&shares.registered, next.label);
    let part = shares.known(next.queue, next.label)?;
    let limit = part.user_limit(registered, next)?;
    let Taken { requested, demanded } = part.users.of(next.user);
    let by_request = limit.minus(requested);
    if !shares.is_raised(next.label) {
        return Some(by_request);
    }
    let proven = demanded.over(requested, 1.0).map(|ratio| 1.0 / ratio.max(1e-3));
    Some(by_request.max(limit.minus(demanded).scaled(proven)))
}

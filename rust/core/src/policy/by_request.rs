//! Placing by what was asked for: what schedulers do that know nothing of demand.

use super::{Candidate, Place};
use crate::fit::{Excess, TOLERANCE};
use crate::resources::{Resource, Resources};

/// Whether CPU and memory that were asked for fit into `bookable` beside what is booked.
pub(super) fn fit_by_request(
    place: &Place<'_>,
    candidate: &Candidate<'_>,
    bookable: Resources,
) -> Result<(), Excess> {
    let asked = place.booked + candidate.request;
    fit_once(place, asked, bookable, &[Resource::Cpu, Resource::Memory])
}

/// Whether `taken` is at most `bookable`, of each of `resources` that the node has.
pub(super) fn fit_once(
    place: &Place<'_>,
    taken: Resources,
    bookable: Resources,
    resources: &[Resource],
) -> Result<(), Excess> {
    let capacity = place.node.capacity;
    let fits = |resource: &Resource| {
        let capacity = capacity.get(*resource);
        capacity == 0.0 || taken.get(*resource) <= bookable.get(*resource) + TOLERANCE * capacity
    };
    match resources.iter().copied().find(|resource| !fits(resource)) {
        Some(resource) => Err(Excess {
            resource,
            amount: taken.get(resource) - bookable.get(resource),
            from_ms: 0,
        }),
        None => Ok(()),
    }
}

/// For how long something has lasted, in seconds.
pub(super) fn seconds_since(since_ms: i64, now_ms: i64) -> f64 {
    now_ms.saturating_sub(since_ms) as f64 / 1e3
}

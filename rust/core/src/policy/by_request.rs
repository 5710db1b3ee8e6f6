//! Fit by request, as in schedulers without demands.

use super::{Candidate, Place};
use crate::fit::{Excess, TOLERANCE};
use crate::resources::{Resource, Resources};

/// Whether the requested CPU and memory fit into `bookable` beside the booked containers.
///
/// # Errors
/// The first resource that lacks, and by how much.
pub fn fit_by_request(
    place: &Place<'_>,
    candidate: &Candidate<'_>,
    bookable: Resources,
) -> Result<(), Excess> {
    let asked = place.booked + candidate.request;
    fit_once(place, asked, bookable, &[Resource::Cpu, Resource::Memory])
}

/// Whether `taken` is at most `bookable` for each of `resources` that the node has.
///
/// # Errors
/// The first resource that lacks, and by how much.
pub fn fit_once(
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

/// The time since `since_ms`, in seconds.
pub fn seconds_since(since_ms: i64, now_ms: i64) -> f64 {
    now_ms.saturating_sub(since_ms) as f64 / 1e3
}

//! The planned start of a container that does not fit now.

use std::collections::BTreeMap;

use super::starts::Starts;
use crate::SLOT_MS;
use crate::cluster::state::{NodeEntry, Request, State};
use crate::cluster::waiting::Line;
use crate::fit::Peaks;
use crate::slot_of;
use crate::timeline::on_grid_ms;

/// The first time from `now_ms` on at which the row's next container may start if nothing else arrives: it has
/// room by request, so that a starving application is admitted, or it fits by demand. None if this depends on
/// the end of a container without a predicted end. The caller has refreshed the node's plan.
pub(crate) fn planned_start(
    state: &State,
    entry: &NodeEntry,
    line: &Line,
    peaks: Peaks,
    now_ms: i64,
) -> Option<i64> {
    let predicted = state.applications.get(line.application)?;
    let need = entry
        .need(predicted.demands.of(line.kind), line.request)
        .ok()?;
    let left = entry.plan.left();
    let mut starts = Starts::new(&need, left, need.terms(peaks, left.capacity()));
    let mut booked = entry.booked;
    let nothing_ends = (0, Request::default());
    let ends = ends(state, entry, now_ms);
    let start = std::iter::once(nothing_ends).chain(ends).find(|end| {
        let (slot, freed) = *end;
        booked = booked.minus(freed);
        let has_room = |bookable: Request| line.request.fits_into(bookable.minus(booked));
        has_room(entry.registered)
            || has_room(entry.bookable(state.virtual_cores_count)) && starts.fits_from(slot)
    });
    let (slot, _) = start?;
    let slot = i64::try_from(slot).unwrap_or(i64::MAX);
    let start_slot = slot_of(now_ms).saturating_add(slot);
    Some(start_slot.saturating_mul(i64::from(SLOT_MS)).max(now_ms))
}

/// Booked resources that become free, by the slot of their predicted end.
fn ends(state: &State, entry: &NodeEntry, now_ms: i64) -> BTreeMap<usize, Request> {
    let now_ms = on_grid_ms(now_ms, now_ms);
    let mut ends: BTreeMap<usize, Request> = BTreeMap::new();
    for (_, container) in state.containers_on(entry) {
        let Some(running) = entry.node.get(container.executor) else {
            continue;
        };
        if running.demand.duration_ms().is_none() {
            continue;
        }
        // An executor that outlives its prediction is expected to end in one slot.
        let left_ms = running.end_from(now_ms).unwrap_or(0);
        let slots = usize::try_from(left_ms / i64::from(SLOT_MS)).unwrap_or(usize::MAX);
        let freed = ends.entry(slots.max(1)).or_default();
        *freed = freed.plus(container.request.bookable(state.virtual_cores_count));
    }
    ends
}

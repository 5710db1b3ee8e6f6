//! The planned start of a container that does not fit now: the search for the slot from which on it
//! fits a node.

use std::collections::BTreeMap;

use crate::SLOT_MS;
use crate::amounts::Amounts;
use crate::cluster::state::{NodeEntry, Request, State};
use crate::cluster::waiting::Line;
use crate::fit::{Fit, Peaks, Terms};
use crate::left_ahead::LeftAhead;
use crate::need::Need;
use crate::timeline::on_grid_ms;
use crate::{slot_of, slot_start_ms};

/// The first time from `now_ms` on at which the row's next container may start if nothing else arrives: it has
/// room by request, so that a starving application is admitted, or it fits by demand and is not in observe. None if
/// this depends on the end of a container without a predicted end. The caller has refreshed the node's plan.
pub(crate) fn planned_start(
    state: &State,
    entry: &NodeEntry,
    line: &Line,
    peaks: Peaks,
    now_ms: i64,
) -> Option<i64> {
    let demands = &state.applications.get(&line.application)?.demands;
    let need = entry.need(demands.of(line.kind), line.request);
    let left = entry.plan.left();
    let needs = LifeNeeds::new(&need, peaks, left.capacity());
    let mut starts = Starts::new(&needs, left);
    let mut booked = entry.booked;
    let nothing_ends = (0, Request::default());
    let ends = ends(state, entry, now_ms);
    let start = std::iter::once(nothing_ends).chain(ends).find(|end| {
        let (slot, freed) = *end;
        booked = booked.minus(freed);
        let has_room = |bookable: Request| line.request.fits_into(bookable.minus(booked));
        has_room(entry.registered)
            || entry.registered_only(line.observed, now_ms).is_none()
                && has_room(entry.bookable_size(state.virtual_cores_count))
                && starts.fits_from(slot)
    });
    let (slot, _) = start?;
    let slot = i64::try_from(slot).unwrap_or(i64::MAX);
    let start_slot = slot_of(now_ms).saturating_add(slot);
    Some(slot_start_ms(start_slot).max(now_ms))
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

/// The needs of one container in each slot of its life, on nodes of one size.
#[derive(Debug)]
pub(crate) struct LifeNeeds {
    pub(crate) capacity: Amounts,
    pub(crate) terms: Terms,
    /// One entry without an end.
    pub(crate) in_slots: Vec<Amounts>,
    /// None without an end.
    in_total: Option<Amounts>,
}

impl LifeNeeds {
    pub(crate) fn new(need: &Need<'_>, peaks: Peaks, capacity: Amounts) -> Self {
        let life = need.life();
        let in_slots: Vec<_> = (0..life.unwrap_or(1)).map(|slot| need.needed(slot)).collect();
        let sum = || in_slots.iter().copied().fold(Amounts::ZERO, Amounts::plus);
        Self {
            capacity,
            terms: need.terms(peaks, capacity),
            in_total: life.map(|_| sum()),
            in_slots,
        }
    }
}

/// Checks start slots of one container, if nothing else arrives.
pub(crate) struct Starts<'a, L> {
    needs: &'a LifeNeeds,
    left: &'a L,
    /// The slot of its life that lacked a resource at the last start checked. Mostly the slot or the
    /// one before lacks it at the next start too, so both are checked first.
    failed_in: usize,
}

impl<'a, L: LeftAhead> Starts<'a, L> {
    pub(crate) fn new(needs: &'a LifeNeeds, left: &'a L) -> Self {
        Self { needs, left, failed_in: 0 }
    }

    fn fit_from(&self, start: usize) -> Fit<'a, L> {
        Fit { left: self.left, terms: self.needs.terms, start }
    }

    /// Whether the container fits when it starts `start` slots from now.
    pub(crate) fn fits_from(&mut self, start: usize) -> bool {
        let fit = self.fit_from(start);
        let LifeNeeds { terms, in_slots, in_total, .. } = self.needs;
        let life = in_total.map(|_| in_slots.len());
        let needed = |slot: usize, resource| {
            let needed = in_slots.get(slot).or(in_slots.last());
            needed.map_or(0, |needed| needed.get(resource))
        };
        let allowed = terms.allowed(self.left);
        let near = [self.failed_in, self.failed_in.saturating_sub(1)];
        if let Some(slot) =
            near.into_iter().find(|slot| fit.shortage_in(*slot, allowed, needed).is_some())
        {
            self.failed_in = slot;
            return false;
        }
        if let Some((slot, _)) = fit.first_shortage(life, needed, |_| true) {
            self.failed_in = slot;
            return false;
        }
        in_total.is_none_or(|needed| fit.shortage_in_total(in_slots.len(), needed).is_none())
    }
}

//! When by plan a container that does not go to a node now will.

use std::collections::BTreeMap;

use super::Cluster;
use super::node_entry::{NodeEntry, Request};
use super::prospect::need;
use super::waiting::Line;
use crate::SLOT_MS;
use crate::amounts::Amounts;
use crate::fit::Terms;
use crate::left::Left;
use crate::need::Need;
use crate::slot_of;
use crate::timeline::on_grid_ms;

impl Cluster {
    /// The first moment from `now_ms` on at which a row's next container goes to a node by plan,
    /// were nothing else to come: it has room by request, so that one that starves passes, or it
    /// fits by demand. None where that takes the end of what has no predicted one. What is left of
    /// the node was looked at.
    pub(super) fn planned_start(&self, entry: &NodeEntry, line: &Line, now_ms: i64) -> Option<i64> {
        let predicted = self.applications.get(&line.application)?;
        let predicted = predicted.demands.of(line.application_master);
        let need = need(entry, predicted, line.request).ok()?;
        let left = entry.plan.left();
        let terms = need.terms(self.policy.peaks());
        let mut booked = entry.booked;
        let ends = self.ends(entry, now_ms);
        let nothing_ends = (0, Request::default());
        let start = std::iter::once(nothing_ends).chain(ends).find(|end| {
            let (slot, freed) = *end;
            booked = booked.minus(freed);
            let has_room = |bookable: Request| line.request.fits_into(bookable.minus(booked));
            has_room(entry.registered)
                || has_room(entry.bookable(self.settings.virtual_cores_count))
                    && fits_from(&need, left, slot, terms)
        });
        let (slot, _) = start?;
        let slot = i64::try_from(slot).unwrap_or(i64::MAX);
        let start_slot = slot_of(now_ms).saturating_add(slot);
        Some(start_slot.saturating_mul(i64::from(SLOT_MS)).max(now_ms))
    }

    /// In how many slots how much of what is booked becomes free, by the predicted ends.
    fn ends(&self, entry: &NodeEntry, now_ms: i64) -> BTreeMap<usize, Request> {
        let now_ms = on_grid_ms(now_ms, now_ms);
        let mut ends: BTreeMap<usize, Request> = BTreeMap::new();
        for (executor, id) in &entry.containers {
            let (Some(running), Some(container)) =
                (entry.node.get(*executor), self.containers.get(id))
            else {
                continue;
            };
            if running.demand.duration_ms().is_none() {
                continue;
            }
            // One that outlives its prediction is expected to end in one slot, again and again.
            let left_ms = running.end_from(now_ms).unwrap_or(0);
            let slots = usize::try_from(left_ms / i64::from(SLOT_MS)).unwrap_or(usize::MAX);
            let request = container
                .request
                .bookable(self.settings.virtual_cores_count);
            let freed = ends.entry(slots.max(1)).or_default();
            *freed = freed.plus(request);
        }
        ends
    }
}

/// Whether it fits when it starts so many slots from now.
pub(super) fn fits_from(need: &Need<'_>, left: &Left, start: usize, terms: Terms) -> bool {
    let allowed = left.allowed(terms.soft);
    // A slot past the last change stands for all that follow.
    let end = left.slots_ahead().saturating_sub(start).saturating_add(1);
    let life = need.life();
    let fits_slot = |slot: usize| {
        let (needed, there) = (need.needed(slot), left.slot(start.saturating_add(slot)));
        let there = there.plus(allowed);
        terms
            .in_every_slot
            .iter()
            .all(|resource| needed.get(*resource) <= there.get(*resource))
    };
    (0..life.unwrap_or(end)).all(fits_slot)
        && life.is_none_or(|life| {
            let needed = (0..life).fold(Amounts::ZERO, |sum, slot| sum.plus(need.needed(slot)));
            let there = left.sum(start.saturating_add(life)).minus(left.sum(start));
            terms
                .in_total
                .iter()
                .all(|resource| needed.get(*resource) <= there.get(*resource))
        })
}

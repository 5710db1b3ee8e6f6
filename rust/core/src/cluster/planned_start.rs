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
use crate::resources::Resource;
use crate::slot_of;
use crate::timeline::on_grid_ms;

impl Cluster {
    /// The first moment from `now_ms` on at which a row's next container goes to a node by plan,
    /// were nothing else to come: it has room by request, so that one that starves passes, or it
    /// fits by demand. None where that takes the end of what has no predicted one. What is left of
    /// the node was looked at.
    pub(super) fn planned_start(&self, entry: &NodeEntry, line: &Line, now_ms: i64) -> Option<i64> {
        let predicted = self.applications.get(&line.application)?;
        let predicted = predicted.demands.of(line.kind);
        let need = need(entry, predicted, line.request).ok()?;
        let left = entry.plan.left();
        let mut starts = Starts::new(&need, left, need.terms(self.policy.peaks()));
        let mut booked = entry.booked;
        let ends = self.ends(entry, now_ms);
        let nothing_ends = (0, Request::default());
        let start = std::iter::once(nothing_ends).chain(ends).find(|end| {
            let (slot, freed) = *end;
            booked = booked.minus(freed);
            let has_room = |bookable: Request| line.request.fits_into(bookable.minus(booked));
            has_room(entry.registered)
                || has_room(entry.bookable(self.settings.virtual_cores_count))
                    && starts.fits_from(slot)
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

/// The slots from which on a container fits, were nothing else to come.
pub(super) struct Starts<'a> {
    left: &'a Left,
    terms: Terms,
    /// In each slot of its life; in any one where that has no end.
    needed: Vec<Amounts>,
    /// Over its life; none where that has no end.
    needed_in_total: Option<Amounts>,
    /// The slot of its life that did not fit at the last start. Mostly it is what does not fit at the
    /// next one either, so that it is tried first.
    failed_in: usize,
}

impl<'a> Starts<'a> {
    pub(super) fn new(need: &Need<'_>, left: &'a Left, terms: Terms) -> Self {
        let life = need.life();
        let needed: Vec<_> = (0..life.unwrap_or(1))
            .map(|slot| need.needed(slot))
            .collect();
        let sum = || needed.iter().copied().fold(Amounts::ZERO, Amounts::plus);
        Self {
            left,
            terms,
            needed_in_total: life.map(|_| sum()),
            needed,
            failed_in: 0,
        }
    }

    pub(super) fn needed(&self) -> &[Amounts] {
        &self.needed
    }

    /// Whether it fits when it starts so many slots from now.
    pub(super) fn fits_from(&mut self, start: usize) -> bool {
        let end = match self.needed_in_total {
            Some(_) => self.needed.len(),
            // A slot past the last change stands for all that follow.
            None => self
                .left
                .slots_ahead()
                .saturating_sub(start)
                .saturating_add(1),
        };
        let allowed = self.left.allowed(self.terms.soft);
        let lacks = |slot: &usize| {
            let needed = self.needed.get(*slot).or(self.needed.last());
            let needed = needed.copied().unwrap_or_default();
            let there = self.left.slot(start.saturating_add(*slot)).plus(allowed);
            lacks_any(self.terms.in_every_slot, needed, there)
        };
        if self.failed_in < end && lacks(&self.failed_in) {
            return false;
        }
        if let Some(slot) = (0..end).find(lacks) {
            self.failed_in = slot;
            return false;
        }
        let beside = self.beside_in_total(start);
        beside.is_none_or(|beside| !lacks_any(self.terms.in_total, Amounts::ZERO, beside))
    }

    /// What is left beside it in total over its life from this slot on; none without an end.
    pub(super) fn beside_in_total(&self, start: usize) -> Option<Amounts> {
        let needed = self.needed_in_total?;
        let to = self.left.sum(start.saturating_add(self.needed.len()));
        Some(to.minus(self.left.sum(start)).minus(needed))
    }
}

/// Whether more of one of `resources` is needed than there is.
pub(super) fn lacks_any(resources: &[Resource], needed: Amounts, there: Amounts) -> bool {
    let lacks = |resource: &Resource| needed.get(*resource) > there.get(*resource);
    resources.iter().any(lacks)
}

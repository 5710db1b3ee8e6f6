//! Room that is held on a node for applications that go first and do not fit there now.
//!
//! Whoever goes behind such an application may take what is free until it starts, and beside it what
//! it will leave: EASY backfilling (Lifka, "The ANL/IBM SP Scheduling System", JSSPP 1995; Mu'alem
//! and Feitelson, IEEE TPDS 12(6), 2001), with demands over time in the place of processors.

use super::application::ApplicationId;
use super::contest::{Contender, Rank};
use super::planned_start::fits_from;
use crate::amounts::Amounts;
use crate::fit::{Peaks, Terms};
use crate::left::Left;
use crate::need::Need;
use crate::resources::Resource;

/// Nobody waits for what an application may take in an hour, in slots of 3 s.
const LOOKS_AHEAD_SLOTS: usize = 1_200;

/// What one application is going to leave on a node.
pub(super) struct Hold {
    rank: Rank,
    queue: usize,
    /// Slots from now until its next container fits.
    starts_in: usize,
    /// What is left beside it in each slot from its start to its end, with what may be passed.
    beside: Vec<Amounts>,
    /// The least of that over its life.
    least: Amounts,
}

impl Hold {
    /// None where it does not start soon, or has no end: then it is held up by others than those
    /// that may go there now.
    pub(super) fn new(
        contender: &Contender,
        need: &Need<'_>,
        left: &Left,
        peaks: Peaks,
    ) -> Option<Self> {
        let life = need.life()?;
        let terms = need.terms(peaks);
        let last = left.slots_ahead().min(LOOKS_AHEAD_SLOTS);
        let starts_in = (1..=last).find(|start| fits_from(need, left, *start, terms))?;
        let allowed = left.allowed(terms.soft);
        let beside: Vec<_> = (0..life)
            .map(|slot| {
                let there = left.slot(starts_in + slot).plus(allowed);
                there.minus(need.needed(slot))
            })
            .collect();
        let least = beside.iter().copied().reduce(Amounts::min)?;
        Some(Self {
            rank: contender.rank,
            queue: contender.queue,
            starts_in,
            beside,
            least,
        })
    }

    pub(super) fn application(&self) -> ApplicationId {
        self.rank.application
    }

    /// Whether another one that fits now has to wait so that this one can start as planned. `most` is
    /// the most that the other one needs in a slot.
    pub(super) fn holds_up(
        &self,
        other: &Contender,
        most: Amounts,
        need: &Need<'_>,
        terms: Terms,
    ) -> bool {
        if self.queue != other.queue || self.rank >= other.rank {
            return false;
        }
        let held = terms.in_every_slot;
        let more = |needed: Amounts, beside: Amounts| {
            let more_of = |resource: &Resource| needed.get(*resource) > beside.get(*resource);
            held.iter().any(more_of)
        };
        let life = need.life().unwrap_or(usize::MAX);
        let together = life.saturating_sub(self.starts_in);
        let mut beside = self.beside.iter().enumerate().take(together);
        more(most, self.least)
            && beside.any(|(slot, beside)| more(need.needed(self.starts_in + slot), *beside))
    }
}

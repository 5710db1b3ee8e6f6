//! Room that is held on a node for applications that go first and do not fit there now.
//!
//! Whoever goes behind such an application may take what is free until it starts, and beside it what
//! it will leave: EASY backfilling (Lifka, "The ANL/IBM SP Scheduling System", JSSPP 1995; Mu'alem
//! and Feitelson, IEEE TPDS 12(6), 2001), with demands over time in the place of processors.

use super::contest::Contender;
use super::planned_start::{Starts, lacks_any};
use crate::amounts::Amounts;
use crate::fit::{Peaks, Terms};
use crate::left::Left;
use crate::need::Need;

/// Nobody waits for what an application may take in an hour, in slots of 3 s.
const LOOKS_AHEAD_SLOTS: usize = 1_200;

/// What one application is going to leave on a node.
pub(super) struct Hold {
    contender: Contender,
    /// Slots from now until its next container fits.
    starts_in: usize,
    /// What it is held to itself.
    terms: Terms,
    /// What is left beside it in each slot from its start to its end, with what may be passed.
    beside: Vec<Amounts>,
    /// The least of that over its life.
    least: Amounts,
    /// What is left beside it over its life, of what it is held to in total.
    beside_in_total: Amounts,
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
        need.life()?;
        let terms = need.terms(peaks);
        let mut starts = Starts::new(need, left, terms);
        let last = left.slots_ahead().min(LOOKS_AHEAD_SLOTS);
        let starts_in = (1..=last).find(|start| starts.fits_from(*start))?;
        let allowed = left.allowed(terms.soft);
        let beside: Vec<_> = starts
            .needed()
            .iter()
            .enumerate()
            .map(|(slot, needed)| left.slot(starts_in + slot).plus(allowed).minus(*needed))
            .collect();
        let least = beside.iter().copied().reduce(Amounts::min)?;
        let beside_in_total = starts.beside_in_total(starts_in)?;
        Some(Self {
            contender: *contender,
            starts_in,
            terms,
            beside,
            least,
            beside_in_total,
        })
    }

    /// Whether another one that fits now has to wait so that this one can start as planned. `most` is
    /// the most that the other one needs in a slot.
    pub(super) fn holds_up(&self, other: &Contender, most: Amounts, need: &Need<'_>) -> bool {
        let life = need.life().unwrap_or(usize::MAX);
        let together = life.saturating_sub(self.starts_in).min(self.beside.len());
        self.contender.goes_before(other)
            && together > 0
            && (self.lacks_in_a_slot(most, need, together)
                || self.lacks_in_total(most, need, together))
    }

    /// Whether the other one takes too much in one of the slots in which both run.
    fn lacks_in_a_slot(&self, most: Amounts, need: &Need<'_>, together: usize) -> bool {
        let more = |needed, beside| lacks_any(self.terms.in_every_slot, needed, beside);
        let mut beside = self.beside.iter().enumerate().take(together);
        more(most, self.least)
            && beside.any(|(slot, beside)| {
                more(most, *beside) && more(need.needed(self.starts_in + slot), *beside)
            })
    }

    fn lacks_in_total(&self, most: Amounts, need: &Need<'_>, together: usize) -> bool {
        let lacks = |needed| lacks_any(self.terms.in_total, needed, self.beside_in_total);
        let slots = self.starts_in..self.starts_in + together;
        lacks(most.times(i64::try_from(together).unwrap_or(i64::MAX)))
            && lacks(slots.fold(Amounts::ZERO, |sum, slot| sum.plus(need.needed(slot))))
    }
}

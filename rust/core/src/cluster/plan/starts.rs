//! Search for the slot from which on a container fits a node.

use crate::amounts::Amounts;
use crate::fit::{Fit, Terms};
use crate::left::Left;
use crate::need::Need;

/// Checks start slots of one container, if nothing else arrives.
pub(crate) struct Starts<'a> {
    left: &'a Left,
    terms: Terms,
    /// Needs in each slot of its life; one entry without an end.
    needed: Vec<Amounts>,
    /// Total need over its life; none without an end.
    needed_in_total: Option<Amounts>,
    /// The slot of its life that lacked a resource at the last start checked. Mostly the slot or the
    /// one before lacks it at the next start too, so both are checked first.
    failed_in: usize,
}

impl<'a> Starts<'a> {
    pub(crate) fn new(need: &Need<'_>, left: &'a Left, terms: Terms) -> Self {
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

    pub(crate) fn needed(&self) -> &[Amounts] {
        &self.needed
    }

    fn fit_from(&self, start: usize) -> Fit<'a> {
        Fit {
            left: self.left,
            terms: self.terms,
            start,
        }
    }

    /// Whether the container fits when it starts `start` slots from now.
    pub(crate) fn fits_from(&mut self, start: usize) -> bool {
        let fit = self.fit_from(start);
        let life = self.needed_in_total.map(|_| self.needed.len());
        let needed = |slot: usize, resource| {
            let needed = self.needed.get(slot).or(self.needed.last());
            needed.map_or(0, |needed| needed.get(resource))
        };
        let near = [self.failed_in, self.failed_in.saturating_sub(1)];
        if let Some(slot) = near
            .into_iter()
            .find(|slot| fit.shortage_in(*slot, needed).is_some())
        {
            self.failed_in = slot;
            return false;
        }
        if let Some((slot, _)) = fit.first_shortage(life, needed, |_| true) {
            self.failed_in = slot;
            return false;
        }
        self.needed_in_total
            .is_none_or(|needed| fit.shortage_in_total(self.needed.len(), needed).is_none())
    }

    /// Total left over its life from this start slot on, less its needs; none without an end.
    pub(crate) fn spare_in_total(&self, start: usize) -> Option<Amounts> {
        let available = self.fit_from(start).available_in_total(self.needed.len());
        self.needed_in_total.map(|needed| available.minus(needed))
    }
}

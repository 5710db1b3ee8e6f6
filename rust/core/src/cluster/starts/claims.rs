//! What waiting containers claim of a node by the plan of starts.

use std::cell::OnceCell;
use std::sync::Arc;

use crate::amounts::Amounts;
use crate::cluster::plan::LifeNeeds;
use crate::cluster::ranking::Contender;
use crate::cluster::state::ApplicationId;
use crate::fit::Terms;
use crate::left_sums::LeftSums;
use crate::need::Need;

/// A container that starts on a node later.
#[derive(Debug)]
pub(crate) struct Claim {
    /// The application as it was ranked when the plan was made.
    pub(crate) owner: Contender,
    /// The slot of its start, counted from the epoch.
    pub(crate) start: i64,
    pub(crate) needs: Arc<LifeNeeds>,
}

/// The claims on one node, in the order of the plan. What a claim leaves spare is computed when the first
/// contender behind its owner is checked.
pub(crate) struct ClaimsOnNode<'a> {
    left: &'a LeftSums,
    /// The slot of now.
    slot: i64,
    claims: Vec<(&'a Claim, OnceCell<Spare>)>,
}

impl<'a> ClaimsOnNode<'a> {
    pub(crate) fn new(
        claims: impl Iterator<Item = &'a Claim>,
        left: &'a LeftSums,
        slot: i64,
    ) -> Self {
        Self { left, slot, claims: claims.map(|claim| (claim, OnceCell::new())).collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.claims.is_empty()
    }

    /// The first owner whose planned start `contender`, which fits now, would delay. `most` is the contender's
    /// peak need in a slot.
    pub(crate) fn blocking_owner(
        &self,
        contender: &Contender,
        most: Amounts,
        need: &Need<'_>,
    ) -> Option<ApplicationId> {
        let mut claims = self.claims.iter().enumerate();
        let blocking = claims.find(|(index, (claim, spare))| {
            claim.owner.goes_before(contender)
                && spare.get_or_init(|| self.spare(*index, claim)).is_exceeded_by(most, need)
        });
        blocking.map(|(_, (claim, _))| claim.owner.application())
    }

    /// Slots from now until a claim's start. One whose start has passed starts now.
    fn starts_in(&self, claim: &Claim) -> usize {
        usize::try_from(claim.start.saturating_sub(self.slot)).unwrap_or(0)
    }

    /// What a claim leaves spare beside what runs and the claims before it in its queue. Which queue goes first
    /// is CapacityScheduler's decision.
    fn spare(&self, index: usize, claim: &Claim) -> Spare {
        let starts_in = self.starts_in(claim);
        let before: Vec<_> = self
            .claims
            .iter()
            .take(index)
            .filter(|(before, _)| before.owner.queue == claim.owner.queue)
            .map(|(before, _)| (self.starts_in(before), &before.needs.in_slots))
            .collect();
        let taken_before = |slot: usize| {
            let taken = before
                .iter()
                .filter_map(|(start, in_slots)| in_slots.get(slot.checked_sub(*start)?).copied());
            taken.fold(Amounts::ZERO, Amounts::plus)
        };
        let LifeNeeds { terms, in_slots, .. } = &*claim.needs;
        let allowed = terms.allowed(self.left);
        let mut in_total = Amounts::ZERO;
        let in_slots = in_slots.iter().enumerate().map(|(slot, needed)| {
            let slot = starts_in + slot;
            let spare = self.left.slot(slot).minus(taken_before(slot)).minus(*needed);
            in_total = in_total.plus(spare).plus(self.left.tolerance());
            // What is already exceeded is delayed by nobody who needs nothing of it.
            spare.plus(allowed).max(Amounts::ZERO)
        });
        let in_slots: Vec<_> = in_slots.collect();
        Spare {
            starts_in,
            terms: *terms,
            least: in_slots.iter().copied().reduce(Amounts::min).unwrap_or_default(),
            in_slots,
            in_total: in_total.max(Amounts::ZERO),
        }
    }
}

/// What a claim leaves spare over its life.
struct Spare {
    /// Slots from now until its start.
    starts_in: usize,
    /// The terms that the owner's fit is checked by.
    terms: Terms,
    /// In each slot, allowed excess included.
    in_slots: Vec<Amounts>,
    /// The minimum of `in_slots`.
    least: Amounts,
    in_total: Amounts,
}

impl Spare {
    /// Whether an executor that starts now needs more. `most` is its peak need in a slot.
    fn is_exceeded_by(&self, most: Amounts, need: &Need<'_>) -> bool {
        let life = need.life().unwrap_or(usize::MAX);
        let together = life.saturating_sub(self.starts_in).min(self.in_slots.len());
        together > 0
            && (self.is_exceeded_in_a_slot(most, need, together)
                || self.is_exceeded_in_total(most, need, together))
    }

    /// Whether it needs more than is spare in a slot in which both run.
    fn is_exceeded_in_a_slot(&self, most: Amounts, need: &Need<'_>, together: usize) -> bool {
        let mut spare = self.in_slots.iter().enumerate().take(together);
        self.terms.lacks(most, self.least)
            && spare.any(|(slot, spare)| {
                self.terms.lacks(most, *spare)
                    && self.terms.lacks(need.needed(self.starts_in + slot), *spare)
            })
    }

    fn is_exceeded_in_total(&self, most: Amounts, need: &Need<'_>, together: usize) -> bool {
        let lacks = |needed| self.terms.lacking_in_total(needed, self.in_total).is_some();
        let slots = self.starts_in..self.starts_in + together;
        lacks(most.times(i64::try_from(together).unwrap_or(i64::MAX)))
            && lacks(slots.fold(Amounts::ZERO, |sum, slot| sum.plus(need.needed(slot))))
    }
}

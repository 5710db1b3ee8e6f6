//! What waiting containers claim of a node by the plan of starts.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::amounts::Amounts;
use crate::cluster::plan::LifeNeeds;
use crate::cluster::ranking::Contender;
use crate::cluster::state::ApplicationId;
use crate::fit::Terms;
use crate::left_sums::LeftSums;
use crate::need::Need;

/// An hour of a claim's life is compared; a day would cost a heartbeat milliseconds.
const LIFE_COMPARED_SLOTS: usize = 1_200;

/// A container that starts on a node later.
#[derive(Debug)]
pub(crate) struct Claim {
    /// The application as it was ranked when the plan was made.
    pub(crate) owner: Contender,
    /// The slot of its start, counted from the epoch.
    pub(crate) start: i64,
    pub(crate) needs: Arc<LifeNeeds>,
}

/// The claims on one node, in the order of the plan. What they leave spare is computed when a contender is checked
/// that may be in the way of one.
pub(crate) struct ClaimsOnNode<'a> {
    left: &'a LeftSums,
    /// The slot of now.
    slot: i64,
    claims: Vec<&'a Claim>,
    spare: OnceCell<Vec<Spare>>,
}

impl<'a> ClaimsOnNode<'a> {
    pub(crate) fn new(
        claims: impl Iterator<Item = &'a Claim>,
        left: &'a LeftSums,
        slot: i64,
    ) -> Self {
        Self { left, slot, claims: claims.collect(), spare: OnceCell::new() }
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
        let life = need.life().unwrap_or(usize::MAX);
        let mut claims = self.claims.iter().enumerate();
        let blocking = claims.find(|(index, claim)| {
            claim.owner.goes_before(contender)
                && self.starts_in(claim) < life
                && self.spare.get_or_init(|| self.spare())[*index].is_exceeded_by(most, need)
        });
        blocking.map(|(_, claim)| claim.owner.application())
    }

    /// Slots from now until a claim's start. One whose start has passed starts now.
    fn starts_in(&self, claim: &Claim) -> usize {
        usize::try_from(claim.start.saturating_sub(self.slot)).unwrap_or(0)
    }

    /// What each claim leaves spare beside what runs and the claims before it in its queue. Which queue goes first
    /// is CapacityScheduler's decision.
    fn spare(&self) -> Vec<Spare> {
        let mut left_by_queue: HashMap<usize, LeftSums> = HashMap::new();
        let horizon = self.claims.iter().map(|claim| self.starts_in(claim)).max().unwrap_or(0);
        let horizon = horizon.saturating_add(LIFE_COMPARED_SLOTS);
        let spare = self.claims.iter().map(|claim| {
            let left =
                left_by_queue.entry(claim.owner.queue).or_insert_with(|| self.left.up_to(horizon));
            let (starts_in, needs) = (self.starts_in(claim), &claim.needs);
            let spare = Spare::new(left, starts_in, needs);
            left.take(starts_in, &needs.in_slots, horizon);
            spare
        });
        spare.collect()
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
    fn new(left: &LeftSums, starts_in: usize, needs: &LifeNeeds) -> Self {
        let allowed = needs.terms.allowed(left);
        let mut in_total = Amounts::ZERO;
        let in_slots = needs.in_slots.iter().take(LIFE_COMPARED_SLOTS).enumerate();
        let in_slots = in_slots.map(|(slot, needed)| {
            let spare = left.slot(starts_in + slot).minus(*needed);
            in_total = in_total.plus(spare).plus(left.tolerance());
            // What is already exceeded is delayed by nobody who needs nothing of it.
            spare.plus(allowed).max(Amounts::ZERO)
        });
        let in_slots: Vec<_> = in_slots.collect();
        Self {
            starts_in,
            terms: needs.terms,
            least: in_slots.iter().copied().reduce(Amounts::min).unwrap_or_default(),
            in_slots,
            in_total: in_total.max(Amounts::ZERO),
        }
    }

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

//! What waiting containers claim of a node by the plan of starts.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::search::PLANNED_AHEAD_SLOTS;
use crate::amounts::Amounts;
use crate::cluster::plan::LifeNeeds;
use crate::cluster::ranking::Contender;
use crate::cluster::state::{ApplicationId, PlanState};
use crate::fit::Terms;
use crate::left::Left;
use crate::left_ahead::LeftAhead;
use crate::need::Need;

/// An hour of a claim's life is compared; a day would cost a heartbeat milliseconds.
const LIFE_COMPARED_SLOTS: usize = 1_200;

/// Number of slots for which a contender's need is computed at once.
const SLOTS_AT_ONCE: usize = 8;

/// A container that starts on a node later.
#[derive(Debug)]
pub(crate) struct Claim {
    /// The application as it was ranked when the plan was made.
    pub(crate) owner: Contender,
    /// The slot of its start, counted from the epoch.
    pub(crate) start: i64,
    pub(crate) needs: Arc<LifeNeeds>,
}

/// The claims on one node, in the order of the plan.
#[derive(Debug, Default)]
pub(crate) struct ClaimsOnNode {
    claims: Vec<Claim>,
    /// What the claims leave spare; computed when a contender is checked that may be in the way of one, and kept.
    spare: OnceCell<Vec<Spare>>,
    /// The state of the node's plan from which `spare` was computed.
    as_of: PlanState,
}

impl ClaimsOnNode {
    /// A claim that comes after all others.
    pub(super) fn push(&mut self, claim: Claim) {
        self.claims.push(claim);
        self.spare.take();
    }

    /// Forgets the claims of applications that no longer wait, and what is no longer true of the node's plan.
    pub(super) fn update(&mut self, waits: impl Fn(ApplicationId) -> bool, as_of: PlanState) {
        let before = self.claims.len();
        self.claims.retain(|claim| waits(claim.owner.application()));
        if self.claims.len() < before || self.as_of != as_of {
            self.spare.take();
        }
        self.as_of = as_of;
    }

    pub(super) fn len(&self) -> usize {
        self.claims.len()
    }

    /// The first owner whose planned start `contender`, which fits now, would delay. `left` is what is left of the
    /// node, and `most` the contender's peak need in a slot.
    pub(crate) fn blocking_owner(
        &self,
        left: &Left,
        contender: &Contender,
        most: Amounts,
        need: &Need<'_>,
    ) -> Option<ApplicationId> {
        let mut in_the_way = InTheWay { most, need, in_slots: Vec::new() };
        let mut claims = self.claims.iter().enumerate();
        let blocking = claims.find(|(index, claim)| {
            claim.owner.goes_before(contender)
                && self.starts_in(claim) < in_the_way.life()
                && self.spare.get_or_init(|| self.spare(left))[*index]
                    .is_exceeded_by(&mut in_the_way)
        });
        blocking.map(|(_, claim)| claim.owner.application())
    }

    /// Slots from now until a claim's start. One whose start has passed starts now.
    fn starts_in(&self, claim: &Claim) -> usize {
        let slots = usize::try_from(claim.start.saturating_sub(self.as_of.slot)).unwrap_or(0);
        // More only if a clock was set back.
        slots.min(PLANNED_AHEAD_SLOTS)
    }

    /// What each claim leaves spare beside what runs and the claims before it in its queue. Which queue goes first
    /// is CapacityScheduler's decision.
    fn spare(&self, left: &Left) -> Vec<Spare> {
        let end_of = |claim: &Claim| self.starts_in(claim) + compared_life(claim).len();
        let end = self.claims.iter().map(end_of).max().unwrap_or(0);
        let in_slots: Vec<_> = (0..end).map(|slot| left.slot(slot)).collect();
        let mut left_by_queue: HashMap<usize, Vec<Amounts>> = HashMap::new();
        let spare = self.claims.iter().map(|claim| {
            let of_queue =
                left_by_queue.entry(claim.owner.queue).or_insert_with(|| in_slots.clone());
            Spare::take(of_queue, self.starts_in(claim), claim, left)
        });
        spare.collect()
    }
}

fn compared_life(claim: &Claim) -> &[Amounts] {
    let life = &claim.needs.in_slots;
    life.get(..LIFE_COMPARED_SLOTS).unwrap_or(life)
}

/// What a claim leaves spare over its life.
#[derive(Debug)]
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
    /// Takes the needs of a claim out of what is left in each slot from now.
    fn take(in_slots: &mut [Amounts], starts_in: usize, claim: &Claim, left: &Left) -> Self {
        let terms = claim.needs.terms;
        let (allowed, tolerance) = (terms.allowed(left), left.tolerance());
        let life = compared_life(claim);
        let mut in_total = Amounts::ZERO;
        let spare = in_slots.iter_mut().skip(starts_in).zip(life).map(|(left, needed)| {
            *left = left.minus(*needed);
            in_total = in_total.plus(*left).plus(tolerance);
            // At least 0: if a slot is overfull already, a contender that needs nothing in it delays nobody.
            left.plus(allowed).max(Amounts::ZERO)
        });
        let in_slots: Vec<_> = spare.collect();
        Self {
            starts_in,
            terms,
            least: in_slots.iter().copied().reduce(Amounts::min).unwrap_or_default(),
            in_slots,
            in_total: in_total.max(Amounts::ZERO),
        }
    }

    /// Whether a contender that starts now needs more.
    fn is_exceeded_by(&self, contender: &mut InTheWay<'_>) -> bool {
        let together = contender.life().saturating_sub(self.starts_in).min(self.in_slots.len());
        together > 0
            && (self.is_exceeded_in_a_slot(contender, together)
                || self.is_exceeded_in_total(contender, together))
    }

    /// Whether it needs more than is spare in a slot in which both run.
    fn is_exceeded_in_a_slot(&self, contender: &mut InTheWay<'_>, together: usize) -> bool {
        // Mostly it is the first few slots that lack.
        self.terms.lacks(contender.most, self.least)
            && self.in_slots[..together].chunks(SLOTS_AT_ONCE).enumerate().any(|(chunk, spare)| {
                let from = self.starts_in + chunk * SLOTS_AT_ONCE;
                let mut both = contender.needed(from, spare.len()).iter().zip(spare);
                both.any(|(needed, spare)| self.terms.lacks(*needed, *spare))
            })
    }

    fn is_exceeded_in_total(&self, contender: &mut InTheWay<'_>, together: usize) -> bool {
        let lacks = |needed| self.terms.lacking_in_total(needed, self.in_total).is_some();
        lacks(contender.most.times(i64::try_from(together).unwrap_or(i64::MAX))) && {
            let needed = contender.needed(self.starts_in, together);
            lacks(needed.iter().copied().fold(Amounts::ZERO, Amounts::plus))
        }
    }
}

/// A contender that fits now and may be in the way of claims.
struct InTheWay<'a> {
    /// Its peak need in a slot.
    most: Amounts,
    need: &'a Need<'a>,
    /// What it needs in its first slots; as many as were compared.
    in_slots: Vec<Amounts>,
}

impl InTheWay<'_> {
    fn life(&self) -> usize {
        self.need.life().unwrap_or(usize::MAX)
    }

    /// What it needs in `count` slots from the slot `from` of its life on.
    fn needed(&mut self, from: usize, count: usize) -> &[Amounts] {
        let computed = self.in_slots.len();
        self.in_slots.extend((computed..from + count).map(|slot| self.need.needed(slot)));
        &self.in_slots[from..from + count]
    }
}

//! Backfill reservations: room on a node for applications that go first and do not fit now.
//!
//! Applications behind them may take free resources until the planned start, and from then on the resources
//! that the reservation leaves spare. This is EASY backfilling (Lifka, "The ANL/IBM SP Scheduling System",
//! JSSPP 1995; Mu'alem and Feitelson, IEEE TPDS 12(6), 2001) with demands over time instead of processors.
//! YARN's reserved containers are another mechanism and play no part here.

use std::cell::OnceCell;

use crate::amounts::Amounts;
use crate::by_plan::ByPlan;
use crate::cluster::plan::{LifeNeeds, Starts};
use crate::cluster::ranking::{Contender, Contest, Rank, Scores, Urgency};
use crate::cluster::state::ApplicationId;
use crate::cluster::waiting::{Line, Row};
use crate::fit::{Peaks, Terms};
use crate::left::Left;
use crate::need::Need;
use crate::policy::Turn;

/// Latest planned start of a reservation, in slots of 3 s: one hour.
const PLANNED_AHEAD_SLOTS: usize = 1_200;

/// An application that headed the order for this long without a container is blocked by something
/// unknown to the core, such as limits, labels or blacklists. It gets no reservation.
const IN_VAIN_AFTER_MS: i64 = 10_000;

/// The contest for reservations: the best few of each queue among the applications that do not fit now.
pub(crate) struct ReservationContest {
    contest: Option<Contest>,
}

impl ReservationContest {
    pub(crate) fn new(by: ByPlan, queues: usize) -> Self {
        Self {
            contest: (by.reservations > 0).then(|| Contest::new(by.reservations as usize, queues)),
        }
    }

    #[inline]
    pub(crate) fn offer<'a>(
        &mut self,
        row: Row,
        line: &Line,
        urgency: Urgency,
        now_ms: i64,
        scores: &Scores<'_>,
        need: impl FnOnce() -> Need<'a>,
    ) {
        let Some(contest) = &mut self.contest else {
            return;
        };
        let in_vain = line
            .listed_first_since_ms
            .is_some_and(|since_ms| now_ms.saturating_sub(since_ms) >= IN_VAIN_AFTER_MS);
        if in_vain || contest.is_lost(line, urgency, scores.lower_bound(row, line)) {
            return;
        }
        let score = scores.exact(row, line, &need());
        let rank = Rank::new(line, urgency, Turn::Usual, score);
        contest.enter(Contender::new(row, line, rank));
    }

    pub(crate) fn reservations<'a>(&self, left: &'a Left, peaks: Peaks) -> Reservations<'a> {
        let contenders = self.contest.iter().flat_map(Contest::in_order);
        Reservations {
            left,
            peaks,
            owners: contenders.map(|owner| (owner, OnceCell::new())).collect(),
        }
    }
}

/// The reservations on one node. A reservation is planned when the first contender behind its owner is checked.
pub(crate) struct Reservations<'a> {
    left: &'a Left,
    peaks: Peaks,
    /// The owners, best first, with their reservations; none where the owner does not start soon.
    owners: Vec<(Contender, OnceCell<Option<Reservation>>)>,
}

impl Reservations<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.owners.is_empty()
    }

    /// The first owner whose planned start `contender`, which fits now, would delay. `most` is the
    /// contender's peak need in a slot, and `need` returns the needs of a row.
    pub(crate) fn blocking_owner<'b>(
        &self,
        contender: &Contender,
        most: Amounts,
        need: impl Fn(Row) -> Need<'b>,
    ) -> Option<ApplicationId> {
        let needed = need(contender.row);
        let plan =
            |owner: &Contender| Reservation::new(owner, &need(owner.row), self.left, self.peaks);
        let mut owners = self.owners.iter();
        let blocking = owners.find(|(owner, reservation)| {
            owner.goes_before(contender)
                && reservation
                    .get_or_init(|| plan(owner))
                    .as_ref()
                    .is_some_and(|reservation| reservation.blocks(contender, most, &needed))
        });
        blocking.map(|(owner, _)| owner.rank.application)
    }
}

/// The planned start of one application, and the resources that it leaves spare from then on.
pub(crate) struct Reservation {
    owner: Contender,
    /// Slots from now until the owner's next container fits: EASY's shadow time.
    starts_in: usize,
    /// The terms that the owner's fit is checked by.
    terms: Terms,
    /// Spare resources in each slot from the planned start to the owner's end, allowed excess included.
    spare: Vec<Amounts>,
    /// The minimum of `spare`.
    least_spare: Amounts,
    /// Spare resources in total over the owner's life.
    spare_in_total: Amounts,
}

impl Reservation {
    /// None where the application has no predicted end or does not start within the horizon: those
    /// who may go to the node now do not delay it.
    pub(crate) fn new(
        owner: &Contender,
        need: &Need<'_>,
        left: &Left,
        peaks: Peaks,
    ) -> Option<Self> {
        need.life()?;
        let needs = LifeNeeds::new(need, peaks, left.capacity());
        let mut starts = Starts::new(&needs, left);
        let last = left.slots_ahead().min(PLANNED_AHEAD_SLOTS);
        let starts_in = (1..=last).find(|start| starts.fits_from(*start))?;
        let terms = needs.terms;
        let allowed = terms.allowed(left);
        let spare: Vec<_> = needs
            .in_slots
            .iter()
            .enumerate()
            .map(|(slot, needed)| left.slot(starts_in + slot).plus(allowed).minus(*needed))
            .collect();
        let least_spare = spare.iter().copied().reduce(Amounts::min)?;
        let spare_in_total = starts.spare_in_total(starts_in)?;
        Some(Self { owner: *owner, starts_in, terms, spare, least_spare, spare_in_total })
    }

    /// Whether `other`, which fits now, would delay the planned start. `most` is the peak need of
    /// `other` in a slot.
    pub(crate) fn blocks(&self, other: &Contender, most: Amounts, need: &Need<'_>) -> bool {
        let life = need.life().unwrap_or(usize::MAX);
        let together = life.saturating_sub(self.starts_in).min(self.spare.len());
        self.owner.goes_before(other)
            && together > 0
            && (self.is_exceeded_in_a_slot(most, need, together)
                || self.is_exceeded_in_total(most, need, together))
    }

    /// Whether the other application needs more than is spare in a slot in which both run.
    fn is_exceeded_in_a_slot(&self, most: Amounts, need: &Need<'_>, together: usize) -> bool {
        let mut spare = self.spare.iter().enumerate().take(together);
        self.terms.lacks(most, self.least_spare)
            && spare.any(|(slot, spare)| {
                self.terms.lacks(most, *spare)
                    && self.terms.lacks(need.needed(self.starts_in + slot), *spare)
            })
    }

    fn is_exceeded_in_total(&self, most: Amounts, need: &Need<'_>, together: usize) -> bool {
        let spare = self.spare_in_total;
        let lacks = |needed| self.terms.lacking_in_total(needed, spare).is_some();
        let slots = self.starts_in..self.starts_in + together;
        lacks(most.times(i64::try_from(together).unwrap_or(i64::MAX)))
            && lacks(slots.fold(Amounts::ZERO, |sum, slot| sum.plus(need.needed(slot))))
    }
}

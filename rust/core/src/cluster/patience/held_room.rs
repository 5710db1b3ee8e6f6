//! Room that is held on a node for applications that go first and do not fit there now.
//!
//! Whoever goes behind such an application may take what is free until it starts, and beside it what
//! it will leave: EASY backfilling (Lifka, "The ANL/IBM SP Scheduling System", JSSPP 1995; Mu'alem
//! and Feitelson, IEEE TPDS 12(6), 2001), with demands over time in the place of processors.

use std::cell::OnceCell;

use crate::amounts::Amounts;
use crate::by_plan::ByPlan;
use crate::cluster::plan::Starts;
use crate::cluster::ranking::{Contender, Contest, Rank, Scores};
use crate::cluster::state::ApplicationId;
use crate::cluster::waiting::{Line, Row};
use crate::fit::{Peaks, Terms};
use crate::left::Left;
use crate::need::Need;
use crate::policy::Turn;
use crate::windows::WindowSet;

/// How far ahead a start is planned, in slots of 3 s: an hour.
const LOOKS_AHEAD_SLOTS: usize = 1_200;

/// An application that was named first for this long and not placed is blocked by something that the core
/// does not know, such as limits, labels and blacklists: no room is held for it.
const IN_VAIN_AFTER_MS: i64 = 10_000;

/// The contest for held room: the best few of each queue among the applications that do not fit now.
pub(crate) struct NextToStart {
    contest: Option<Contest>,
}

impl NextToStart {
    pub(crate) fn new(by: ByPlan, queues: usize) -> Self {
        Self {
            contest: (by.hold > 0).then(|| Contest::new(by.hold as usize, queues)),
        }
    }

    #[inline]
    pub(crate) fn offer<'a>(
        &mut self,
        row: Row,
        line: &Line,
        now_ms: i64,
        scores: &Scores<'_>,
        need: impl FnOnce() -> Option<Need<'a>>,
    ) {
        let Some(contest) = &mut self.contest else {
            return;
        };
        let in_vain = line
            .named_first_since_ms
            .is_some_and(|since_ms| now_ms.saturating_sub(since_ms) >= IN_VAIN_AFTER_MS);
        if in_vain || contest.is_lost(line, false, scores.at_least(row, line)) {
            return;
        }
        if let Some(need) = need() {
            contest.enter(Contender {
                rank: Rank::new(line, false, Turn::Usual, scores.exactly(row, line, &need)),
                row,
                queue: line.queue as usize,
                delayed_in: WindowSet::NONE,
                behind: None,
            });
        }
    }

    pub(crate) fn held_rooms<'a>(&self, left: &'a Left, peaks: Peaks) -> HeldRooms<'a> {
        let contenders = self.contest.iter().flat_map(Contest::in_order);
        HeldRooms {
            left,
            peaks,
            first: contenders.map(|first| (first, OnceCell::new())).collect(),
        }
    }
}

/// The rooms held on one node. Each is planned when the first application wants to go before its owner.
pub(crate) struct HeldRooms<'a> {
    left: &'a Left,
    peaks: Peaks,
    /// The owners, best first, with their rooms; no room where the owner does not start soon.
    first: Vec<(Contender, OnceCell<Option<HeldRoom>>)>,
}

impl HeldRooms<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// The owner of held room that `contender`, which fits now, would take. `most` is the most that the
    /// contender needs in a slot, and `need` gives the needs of a row.
    pub(crate) fn behind<'b>(
        &self,
        contender: &Contender,
        most: Amounts,
        need: impl Fn(Row) -> Option<Need<'b>>,
    ) -> Option<ApplicationId> {
        let needed = need(contender.row)?;
        let hold =
            |first: &Contender| HeldRoom::new(first, &need(first.row)?, self.left, self.peaks);
        let mut first = self.first.iter();
        let found = first.find(|(first, kept)| {
            first.goes_before(contender)
                && kept
                    .get_or_init(|| hold(first))
                    .as_ref()
                    .is_some_and(|hold| hold.holds_up(contender, most, &needed))
        });
        found.map(|(first, _)| first.rank.application)
    }
}

/// The room held for one application: its planned start, and what it leaves to others from then on.
pub(crate) struct HeldRoom {
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

impl HeldRoom {
    /// None where the application does not start soon or has no end: then others hold it up than those that
    /// may go to the node now.
    pub(crate) fn new(
        contender: &Contender,
        need: &Need<'_>,
        left: &Left,
        peaks: Peaks,
    ) -> Option<Self> {
        need.life()?;
        let terms = need.terms(peaks, left.capacity());
        let mut starts = Starts::new(need, left, terms);
        let last = left.slots_ahead().min(LOOKS_AHEAD_SLOTS);
        let starts_in = (1..=last).find(|start| starts.fits_from(*start))?;
        let allowed = terms.allowed(left);
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

    /// Whether `other`, which fits now, has to wait so that the owner can start as planned. `most` is the most
    /// that `other` needs in a slot.
    pub(crate) fn holds_up(&self, other: &Contender, most: Amounts, need: &Need<'_>) -> bool {
        let life = need.life().unwrap_or(usize::MAX);
        let together = life.saturating_sub(self.starts_in).min(self.beside.len());
        self.contender.goes_before(other)
            && together > 0
            && (self.lacks_in_a_slot(most, need, together)
                || self.lacks_in_total(most, need, together))
    }

    /// Whether the other one takes too much in one of the slots in which both run.
    fn lacks_in_a_slot(&self, most: Amounts, need: &Need<'_>, together: usize) -> bool {
        let mut beside = self.beside.iter().enumerate().take(together);
        self.terms.lacks(most, self.least)
            && beside.any(|(slot, beside)| {
                self.terms.lacks(most, *beside)
                    && self
                        .terms
                        .lacks(need.needed(self.starts_in + slot), *beside)
            })
    }

    fn lacks_in_total(&self, most: Amounts, need: &Need<'_>, together: usize) -> bool {
        let lacks = |needed| self.terms.lacks_in_total(needed, self.beside_in_total);
        let slots = self.starts_in..self.starts_in + together;
        lacks(most.times(i64::try_from(together).unwrap_or(i64::MAX)))
            && lacks(slots.fold(Amounts::ZERO, |sum, slot| sum.plus(need.needed(slot))))
    }
}

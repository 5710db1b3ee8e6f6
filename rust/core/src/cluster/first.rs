//! The applications that room is held for: the first few of each queue among those that do not fit.

use std::cell::OnceCell;

use super::application::ApplicationId;
use super::contest::{Contender, Contest, Rank};
use super::hold::Hold;
use super::scores::Scores;
use super::waiting::{Line, Row};
use crate::amounts::Amounts;
use crate::by_plan::ByPlan;
use crate::fit::Peaks;
use crate::left::Left;
use crate::need::Need;
use crate::policy::Turn;
use crate::windows::WindowSet;

/// An application that was named first for so long and was not placed is kept away by what the core does
/// not know, such as limits, labels and blacklists: no room is held for it.
const IN_VAIN_AFTER_MS: i64 = 10_000;

/// The first few of each queue among those that do not fit now.
pub(super) struct First {
    contest: Option<Contest>,
}

impl First {
    pub(super) fn new(by: ByPlan, queues: usize) -> Self {
        Self {
            contest: (by.hold > 0).then(|| Contest::new(by.hold as usize, queues)),
        }
    }

    #[inline]
    pub(super) fn offer<'a>(
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

    pub(super) fn holds<'a>(&self, left: &'a Left, peaks: Peaks) -> Holds<'a> {
        let contenders = self.contest.iter().flat_map(Contest::in_order);
        Holds {
            left,
            peaks,
            first: contenders.map(|first| (first, OnceCell::new())).collect(),
        }
    }
}

/// The room that is held on one node. It is planned only once somebody would go before.
pub(super) struct Holds<'a> {
    left: &'a Left,
    peaks: Peaks,
    /// None where no room is held for one.
    first: Vec<(Contender, OnceCell<Option<Hold>>)>,
}

impl Holds<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// The application that one which fits now has to wait for. `most` is the most that the one which
    /// fits needs in a slot, and `need` what a row does.
    pub(super) fn behind<'b>(
        &self,
        contender: &Contender,
        most: Amounts,
        need: impl Fn(Row) -> Option<Need<'b>>,
    ) -> Option<ApplicationId> {
        let needed = need(contender.row)?;
        let hold = |first: &Contender| Hold::new(first, &need(first.row)?, self.left, self.peaks);
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

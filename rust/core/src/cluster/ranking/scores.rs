//! Scores of rows on one node, from the columns of [`Screen`] and the sums of [`Left`].

use crate::amounts::Amounts;
use crate::by_plan::{ByPlan, PlanScore, SLOT_S, horizon, life_s};
use crate::cluster::waiting::{DemandSumsAround, Line, Row, Screen};
use crate::left::Left;
use crate::left_ahead::LeftAhead;
use crate::need::Need;

pub(crate) struct Scores<'a> {
    by: ByPlan,
    left: &'a Left,
    screen: &'a Screen,
    /// The earliest predicted end on the node, which is the horizon of all rows that live longer. None for a score
    /// without a horizon.
    first_end: Option<FirstEnd<'a>>,
}

struct FirstEnd<'a> {
    slots: usize,
    /// Sum of what is left up to it.
    left: Amounts,
    /// The rows' demand up to it.
    demanded: DemandSumsAround<'a>,
}

impl<'a> Scores<'a> {
    pub(crate) fn new(by: ByPlan, left: &'a Left, screen: &'a Screen) -> Self {
        let up_to = |slots| FirstEnd {
            slots,
            left: left.sum(slots),
            demanded: screen.demanded().around(slots),
        };
        let first_end = match by.score {
            PlanScore::Remaining(_) => left.first_end().map(up_to),
            PlanScore::Waiting(_) => None,
        };
        Self { by, left, screen, first_end }
    }

    /// A lower bound of the row's score.
    #[inline]
    pub(crate) fn lower_bound(&self, row: Row, line: &Line) -> f64 {
        self.score(row, line, |demanded| demanded.upper_bound(row))
    }

    pub(crate) fn exact(&self, row: Row, line: &Line, need: &Need<'_>) -> f64 {
        self.score(row, line, |demanded| demanded.exact(row, need))
    }

    /// `up_to_first_end` returns the row's demand up to the earliest predicted end, if the row lives longer.
    #[inline]
    fn score(
        &self,
        row: Row,
        line: &Line,
        up_to_first_end: impl FnOnce(&DemandSumsAround<'a>) -> Amounts,
    ) -> f64 {
        let life = self.screen.life(row);
        let shares = match self.by.score {
            PlanScore::Waiting(power) => {
                let nodes = self.screen.needs(row).mean_share * f64::from(line.executors);
                return power.of(nodes, life_s(life, SLOT_S));
            }
            PlanScore::Remaining(shares) => shares,
        };
        let total = self.screen.demanded().total(row);
        let (horizon, left, demanded) = match (&self.first_end, life) {
            (Some(end), Some(life)) if life > end.slots => {
                (end.slots, end.left, up_to_first_end(&end.demanded))
            }
            (_, Some(life)) => (life, self.left.sum(life), total),
            (_, None) => {
                let horizon = horizon(self.left, None);
                (horizon, self.left.sum(horizon), total.times(horizon as i64))
            }
        };
        shares.remaining(self.left.capacity(), left, horizon, demanded)
    }
}

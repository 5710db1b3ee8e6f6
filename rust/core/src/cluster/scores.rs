//! The scores of rows on one node, from what [`Screen`] and [`Left`] keep.

use super::screen::Screen;
use super::sums::SumsAround;
use super::waiting::{Line, Row};
use crate::amounts::Amounts;
use crate::by_plan::{ByPlan, PlanScore, Power, Shares, horizon, life_s};
use crate::left::Left;
use crate::need::Need;

/// The scores of rows on one node.
pub(super) struct Scores<'a> {
    by: ByPlan,
    left: &'a Left,
    screen: &'a Screen,
    /// 1 ÷ capacity; 0 for what the node does not know.
    per_capacity: [f64; 4],
    first_end: Option<ToFirstEnd<'a>>,
}

/// Up to the earliest predicted end on the node, which is the horizon of all rows that live longer.
struct ToFirstEnd<'a> {
    slots: usize,
    remaining: Remaining,
    demanded: SumsAround<'a>,
}

/// What is left up to a horizon, as a score goes by it.
#[derive(Clone, Copy)]
struct Remaining {
    left: [f64; 4],
    per_capacity: [f64; 4],
}

impl Remaining {
    /// `per_capacity` is 1 ÷ capacity, 0 for what the node does not know.
    fn new(left: Amounts, per_capacity: [f64; 4], horizon: usize) -> Self {
        let per_slot = 1.0 / horizon as f64;
        Self {
            left: left.to_array().map(|left| left as f64),
            per_capacity: per_capacity.map(|per_capacity| per_capacity * per_slot),
        }
    }

    /// The score but for the last digits.
    #[inline]
    fn score(&self, shares: Shares, demanded: Amounts) -> f64 {
        let demanded = demanded.to_array();
        shares.score(std::array::from_fn(|i| {
            (self.left[i] - demanded[i] as f64) * self.per_capacity[i]
        }))
    }
}

impl<'a> Scores<'a> {
    pub(super) fn new(by: ByPlan, left: &'a Left, screen: &'a Screen) -> Self {
        let per_capacity = left.capacity().to_array().map(|capacity| {
            if capacity > 0 {
                1.0 / capacity as f64
            } else {
                0.0
            }
        });
        let first_end = left.first_end().map(|slots| ToFirstEnd {
            slots,
            remaining: Remaining::new(left.sum(slots), per_capacity, slots),
            demanded: screen.demanded().around(slots),
        });
        Self {
            by,
            left,
            screen,
            per_capacity,
            first_end,
        }
    }

    /// No more than the row's score but for the last digits.
    #[inline]
    pub(super) fn at_least(&self, row: Row, line: &Line) -> f64 {
        let shares = match self.by.score {
            PlanScore::Waiting(power) => return self.waiting(power, row, line),
            PlanScore::Remaining(shares) => shares,
        };
        let demanded = self.screen.demanded().total(row);
        let (horizon, demanded) = match (&self.first_end, self.screen.life(row)) {
            (Some(end), Some(life)) if life > end.slots => {
                return end.remaining.score(shares, end.demanded.at_least(row));
            }
            (_, Some(life)) => (life, demanded),
            (_, None) => {
                let horizon = horizon(self.left, None);
                (horizon, demanded.times(horizon as i64))
            }
        };
        let left = self.left.sum(horizon);
        Remaining::new(left, self.per_capacity, horizon).score(shares, demanded)
    }

    pub(super) fn exactly(&self, row: Row, line: &Line, need: &Need<'_>) -> f64 {
        let shares = match self.by.score {
            PlanScore::Waiting(power) => return self.waiting(power, row, line),
            PlanScore::Remaining(shares) => shares,
        };
        match (&self.first_end, self.screen.life(row)) {
            (Some(end), Some(life)) if life > end.slots => {
                let demanded = end.demanded.exactly(row, need);
                shares.remaining(self.left, end.slots, demanded)
            }
            (_, Some(life)) => shares.remaining(self.left, life, self.screen.demanded().total(row)),
            (_, None) => self.by.score(self.left, need, line.executors),
        }
    }

    #[inline]
    fn waiting(&self, power: Power, row: Row, line: &Line) -> f64 {
        let nodes = self.screen.mean_share(row) * f64::from(line.executors);
        power.of(nodes, life_s(self.screen.life(row)))
    }
}

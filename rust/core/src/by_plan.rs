//! Scores of policies by the plan. A round computes them for all rows at once.

use crate::SLOT_MS;
use crate::amounts::Amounts;
use crate::fit::Peaks;
use crate::left::Left;
use crate::left_ahead::LeftAhead;
use crate::need::Need;

/// A policy whose fit is by demand over time ([`crate::fit`]) and whose score is by the node's plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByPlan {
    /// Whether peaks may coincide.
    pub peaks: Peaks,
    /// The score; the smallest wins.
    pub score: PlanScore,
    /// Number of applications of each queue, first in the order, whose planned starts those behind may not
    /// delay; 0 if no starts are planned. See `docs/placement.md`.
    pub planned_ahead: u32,
}

/// A score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanScore {
    /// Resources that remain up to the earliest predicted end t (one slot without an end): `∫₀ᵗ
    /// remaining_r dt ÷ ∫₀ᵗ capacity_r dt`.
    Remaining(Shares),
    /// Mean demand of the waiting executors, in nodes, times a power of their length; see
    /// [`crate::policy::Elastane`].
    Waiting(Power),
}

/// How one score is formed from the shares of the resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shares {
    /// The largest, at least 0 (MinFrag).
    Largest,
    /// Their sum (TRC).
    Sum,
}

/// The power of an executor's length in a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Power {
    /// 0: the length has no influence.
    Zero,
    /// 1/2.
    Half,
}

/// Assumed life of an executor without a predicted end, in seconds. It ranks an unknown application
/// between known short and known long ones.
const UNKNOWN_LIFE_S: f64 = 600.0;

/// The length of a slot of the plan, in seconds.
pub(crate) const SLOT_S: f64 = SLOT_MS as f64 / 1e3;

/// A score and its parts.
pub(crate) struct Explained {
    pub(crate) score: f64,
    /// A share of the node for each resource: remaining after placement, or demanded by one
    /// executor on average.
    pub(crate) shares: [f64; 4],
    pub(crate) weighed: Weighed,
}

/// The parts of a score other than the shares.
pub(crate) enum Weighed {
    /// The horizon, in slots.
    Horizon(usize),
    /// Mean demand of all waiting executors, in nodes, and the length of each.
    Waiting { nodes: f64, life_s: f64 },
}

impl ByPlan {
    /// Whether starts are planned.
    pub fn plans_starts(self) -> bool {
        self.planned_ahead > 0
    }

    /// The score on a node with `left`, and its parts. `executors` is the number that the application waits
    /// for; a slot lasts `slot_s` seconds.
    pub(crate) fn explain(
        self,
        left: &Left,
        need: &Need<'_>,
        executors: u32,
        slot_s: f64,
    ) -> Explained {
        let life = need.life();
        match self.score {
            PlanScore::Remaining(how) => {
                let horizon = horizon(left, life);
                let demanded = need.demanded_in(0, horizon);
                let sum = left.sum(horizon);
                let shares = remaining_shares(left.capacity(), sum, horizon, demanded);
                Explained { score: how.score(shares), shares, weighed: Weighed::Horizon(horizon) }
            }
            PlanScore::Waiting(power) => {
                let demanded = need.demanded_in(0, life.unwrap_or(1));
                let shares = mean_shares(left.capacity(), demanded, life);
                let nodes = largest(shares) * f64::from(executors);
                let life_s = life_s(life, slot_s);
                Explained {
                    score: power.of(nodes, life_s),
                    shares,
                    weighed: Weighed::Waiting { nodes, life_s },
                }
            }
        }
    }
}

/// The horizon of a score, in slots from now. `life` is the executor's; none without an end.
pub(crate) fn horizon(left: &Left, life: Option<usize>) -> usize {
    let ends = [left.first_end(), life];
    ends.into_iter().flatten().min().unwrap_or(1)
}

impl Shares {
    /// The score after an executor takes `demanded` up to `horizon`.
    #[inline]
    pub(crate) fn remaining(
        self,
        capacity: Amounts,
        left: Amounts,
        horizon: usize,
        demanded: Amounts,
    ) -> f64 {
        self.score(remaining_shares(capacity, left, horizon, demanded))
    }

    #[inline]
    fn score(self, shares: [f64; 4]) -> f64 {
        match self {
            Shares::Largest => largest(shares),
            Shares::Sum => shares.into_iter().sum(),
        }
    }
}

/// The share of each resource that remains up to `horizon` after an executor takes `demanded` of the `left`; 0
/// for unknown resources.
#[inline]
pub(crate) fn remaining_shares(
    capacity: Amounts,
    left: Amounts,
    horizon: usize,
    demanded: Amounts,
) -> [f64; 4] {
    let remaining = left.minus(demanded);
    let share = |remaining, capacity| remaining / (capacity * horizon as f64);
    shares_of(capacity, remaining, share)
}

/// `share(amount, capacity)` of each resource; 0 for unknown resources.
#[inline]
fn shares_of(capacity: Amounts, amounts: Amounts, share: impl Fn(f64, f64) -> f64) -> [f64; 4] {
    let (capacity, amounts) = (capacity.to_array(), amounts.to_array());
    std::array::from_fn(|i| match capacity[i] {
        known @ 1.. => share(amounts[i] as f64, known as f64),
        _ => 0.0,
    })
}

impl Power {
    /// The score of executors that demand `nodes` nodes on average for `life_s`.
    #[inline]
    pub(crate) fn of(self, nodes: f64, life_s: f64) -> f64 {
        match self {
            Power::Zero => nodes,
            Power::Half => nodes * life_s.sqrt(),
        }
    }
}

/// Mean share of a node that an executor demands, for each resource. `demanded` is the total over
/// `life` slots, or the demand in each slot without an end.
fn mean_shares(capacity: Amounts, demanded: Amounts, life: Option<usize>) -> [f64; 4] {
    let slots = life.map_or(1.0, |life| life as f64);
    shares_of(capacity, demanded, |demanded, capacity| demanded / capacity / slots)
}

/// The largest of [`mean_shares`].
pub(crate) fn mean_share(capacity: Amounts, demanded: Amounts, life: Option<usize>) -> f64 {
    largest(mean_shares(capacity, demanded, life))
}

#[inline]
fn largest(shares: [f64; 4]) -> f64 {
    shares.into_iter().fold(0.0, f64::max)
}

/// The length of an executor with `life` slots of `slot_s`, in seconds.
#[inline]
pub(crate) fn life_s(life: Option<usize>, slot_s: f64) -> f64 {
    life.map_or(UNKNOWN_LIFE_S, |life| life as f64 * slot_s)
}

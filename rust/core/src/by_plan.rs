//! Policies that go by a node's plan: the quick way of a round is made for them.

use crate::SLOT_MS;
use crate::amounts::Amounts;
use crate::fit::Peaks;
use crate::left::Left;
use crate::need::Need;

/// A policy that fits by demand over time ([`crate::fit::fit_by`]) and scores by the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByPlan {
    /// Whether peaks may meet.
    pub peaks: Peaks,
    /// Which score it gives; the smallest wins.
    pub score: PlanScore,
    /// For so many applications of each queue, those with the smallest scores of all that do not fit
    /// now, room is held: nobody behind them may take what they are going to need.
    pub hold: u32,
}

/// What a score is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanScore {
    /// What remains of the resources up to the earliest predicted end t, one slot where there is none:
    /// `∫₀ᵗ remaining_r dt ÷ ∫₀ᵗ capacity_r dt`.
    Remaining(Shares),
    /// What the executors that wait demand on the average, in nodes, times a power of how long they
    /// run, see [`crate::policy::Elastane`].
    Waiting(Power),
}

/// How the shares of the resources make one score.
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
    /// 0: the length is nothing to it.
    Zero,
    /// 1/2.
    Half,
}

/// How long an executor is taken to run of which nobody knows when it ends, in seconds. It puts an
/// unknown application between short known ones and long known ones.
pub(crate) const UNKNOWN_LIFE_S: f64 = 600.0;

const SLOT_S: f64 = SLOT_MS as f64 / 1e3;

impl ByPlan {
    /// The score on a node of which this is left; `executors` are all that the application waits for.
    pub(crate) fn score(self, left: &Left, need: &Need<'_>, executors: u32) -> f64 {
        match self.score {
            PlanScore::Waiting(power) => {
                let demanded = need.demanded_in(0, need.life().unwrap_or(1));
                power.score(left.capacity(), demanded, need.life(), executors)
            }
            PlanScore::Remaining(shares) => {
                let horizon = horizon(left, need.life());
                shares.remaining(left, horizon, need.demanded_in(0, horizon))
            }
        }
    }
}

/// Up to when a score looks at what remains, in slots from now; `life` is the executor's, none without
/// an end.
pub(crate) fn horizon(left: &Left, life: Option<usize>) -> usize {
    let ends = [left.first_end(), life];
    ends.into_iter().flatten().min().unwrap_or(1)
}

impl Shares {
    /// The score once an executor takes `demanded` of what is left up to `horizon`.
    pub(crate) fn remaining(self, left: &Left, horizon: usize, demanded: Amounts) -> f64 {
        let remaining = left.sum(horizon).minus(demanded).to_array();
        let capacity = left.capacity().to_array();
        self.score(std::array::from_fn(|i| {
            if capacity[i] > 0 {
                remaining[i] as f64 / (capacity[i] as f64 * horizon as f64)
            } else {
                0.0
            }
        }))
    }

    #[inline]
    pub(crate) fn score(self, shares: [f64; 4]) -> f64 {
        match self {
            Shares::Largest => shares.into_iter().fold(0.0, f64::max),
            Shares::Sum => shares.into_iter().sum(),
        }
    }
}

impl Power {
    /// The score of executors that demand this much in total over `life` slots each, or in every
    /// slot where nobody knows when they end.
    #[inline]
    pub(crate) fn score(
        self,
        capacity: Amounts,
        demanded: Amounts,
        life: Option<usize>,
        executors: u32,
    ) -> f64 {
        let nodes = mean_share(capacity, demanded, life) * f64::from(executors);
        self.of(nodes, life_s(life))
    }

    /// The score of executors that demand so many nodes on the average, for so long.
    #[inline]
    pub(crate) fn of(self, nodes: f64, life_s: f64) -> f64 {
        match self {
            Power::Zero => nodes,
            Power::Half => nodes * life_s.sqrt(),
        }
    }
}

/// The share of a node that an executor demands on the average of the resource of which it demands
/// most; `demanded` in total over `life` slots, or in every slot where nobody knows when it ends.
pub(crate) fn mean_share(capacity: Amounts, demanded: Amounts, life: Option<usize>) -> f64 {
    let (capacity, demanded) = (capacity.to_array(), demanded.to_array());
    let mut most = 0.0_f64;
    for i in 0..4 {
        if capacity[i] > 0 {
            most = most.max(demanded[i] as f64 / capacity[i] as f64);
        }
    }
    most / life.map_or(1.0, |life| life as f64)
}

/// How long an executor is taken to run.
#[inline]
pub(crate) fn life_s(life: Option<usize>) -> f64 {
    life.map_or(UNKNOWN_LIFE_S, |life| life as f64 * SLOT_S)
}

//! Policies that go by what remains: the quick way of a round is made for them.

use crate::amounts::Amounts;
use crate::fit::Peaks;
use crate::left::Left;

/// A policy that fits by demand over time ([`crate::fit::fit_by`]) and scores by what remains of
/// each resource up to the earliest predicted end, as MinFrag and TRC do:
/// `∫₀ᵗ remaining_r dt ÷ ∫₀ᵗ capacity_r dt`, one slot where nothing has a predicted end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByRemaining {
    /// Whether peaks may meet.
    pub peaks: Peaks,
    /// What becomes of the resources' shares.
    pub shares: Shares,
}

/// How the shares of the resources make one score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shares {
    /// The largest, at least 0.
    Largest,
    /// Their sum.
    Sum,
}

impl Shares {
    #[inline]
    pub(crate) fn score(self, shares: [f64; 4]) -> f64 {
        match self {
            Shares::Largest => shares.into_iter().fold(0.0, f64::max),
            Shares::Sum => shares.into_iter().sum(),
        }
    }
}

impl ByRemaining {
    /// Up to when a score looks, in slots from now; `life` is the executor's, none without an end.
    pub(crate) fn horizon(self, left: &Left, life: Option<usize>) -> usize {
        let ends = [left.first_end(), life];
        ends.into_iter().flatten().min().unwrap_or(1)
    }

    /// The score once an executor takes `demanded` of what is left up to `horizon`.
    pub(crate) fn score(self, left: &Left, horizon: usize, demanded: Amounts) -> f64 {
        let remaining = left.sum(horizon).minus(demanded).to_array();
        let capacity = left.capacity().to_array();
        self.shares.score(std::array::from_fn(|i| {
            if capacity[i] > 0 {
                remaining[i] as f64 / (capacity[i] as f64 * horizon as f64)
            } else {
                0.0
            }
        }))
    }
}

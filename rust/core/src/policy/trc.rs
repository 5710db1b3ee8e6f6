//! TRC: the executor that leaves the least of all resources together.

use super::bounded::bounded;
use super::minfrag::Remaining;
use super::{Candidate, Detail, Place, Policy, close_shares};
use crate::by_plan::{ByPlan, PlanScore, Shares};
use crate::fit::{Excess, Peaks, fit_by};

/// Elasecutor (IEEE/ACM ToN 2021), section VI, the ablation of MinFrag: total remaining capacity
/// instead of the dominant one. With t as [`MinFrag`](super::MinFrag) has it,
/// `TRC_j = Σ over r of ( ∫₀ᵗ remaining_r dt ÷ ∫₀ᵗ capacity_r dt )`, the smallest wins.
///
/// Departs from it where [`MinFrag`](super::MinFrag) does.
#[derive(Debug, Clone, Copy, Default)]
pub struct Trc {
    /// Whether peaks may meet.
    pub peaks: Peaks,
}

impl Policy for Trc {
    fn name(&self) -> &'static str {
        "trc"
    }

    fn fits(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Result<(), Excess> {
        fit_by(self.peaks, place.available, candidate.needed)
    }

    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        let remaining = Remaining::new(place.available, candidate.demand);
        bounded(remaining.share.to_array().into_iter().sum())
    }

    fn peaks(&self) -> Peaks {
        self.peaks
    }

    fn close_scores(&self) -> f64 {
        close_shares(self.peaks)
    }

    fn by_plan(&self) -> Option<ByPlan> {
        Some(ByPlan {
            peaks: self.peaks,
            score: PlanScore::Remaining(Shares::Sum),
            hold: 0,
        })
    }

    fn detail(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Detail {
        Remaining::new(place.available, candidate.demand).detail(place.node.capacity)
    }
}

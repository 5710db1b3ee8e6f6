//! TRC: the executor that leaves the least of all resources together.

use super::{Candidate, Detail, Place, Policy, on_plan};
use crate::by_plan::{ByPlan, PlanScore, Shares};
use crate::fit::{Excess, Peaks};

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

impl Trc {
    fn plan(&self) -> ByPlan {
        ByPlan {
            peaks: self.peaks,
            score: PlanScore::Remaining(Shares::Sum),
            hold: 0,
        }
    }
}

impl Policy for Trc {
    fn name(&self) -> &'static str {
        "trc"
    }

    fn fits(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Result<(), Excess> {
        on_plan::fits(self.plan(), place, candidate)
    }

    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        on_plan::score(self.plan(), place, candidate)
    }

    fn by_plan(&self) -> Option<ByPlan> {
        Some(self.plan())
    }

    fn detail(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Detail {
        on_plan::detail(self.plan(), place, candidate)
    }
}

//! TRC: the executor that leaves the least of all resources together.

use super::on_plan::PlanPolicy;
use crate::by_plan::{ByPlan, PlanScore, Shares};
use crate::fit::Peaks;

/// Elasecutor (IEEE/ACM ToN 2021), section VI, the ablation of MinFrag: total remaining capacity
/// instead of the dominant one. With t as in [`MinFrag`](super::MinFrag), `TRC_j = Σ over r of (
/// ∫₀ᵗ remaining_r dt ÷ ∫₀ᵗ capacity_r dt )`, the smallest wins.
///
/// Departures: those of [`MinFrag`](super::MinFrag).
#[derive(Debug, Clone, Copy, Default)]
pub struct Trc {
    /// Whether peaks may coincide.
    pub peaks: Peaks,
}

impl PlanPolicy for Trc {
    const NAME: &'static str = "trc";

    fn plan(&self) -> ByPlan {
        ByPlan { peaks: self.peaks, score: PlanScore::Remaining(Shares::Sum), planned_ahead: 0 }
    }
}

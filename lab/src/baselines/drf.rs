//! DRF: dominant resource fairness.

use elastane_core::policy::{Candidate, Detail, Place, Policy, bounded};

/// Dominant Resource Fairness (Ghodsi et al., NSDI 2011), section 4.1, algorithm 1: with u the sum of
/// what the application's running executors asked for and C the cluster's size,
/// `s = max over r of ( u_r ÷ C_r )`, the application with the smallest goes first.
/// `Σ request_r ≤ capacity_r` for CPU and memory.
///
/// Departs from it in two points: the shares are of applications instead of users, and an application
/// whose next executor does not fit this node is skipped, where the algorithm waits.
#[derive(Debug, Clone, Copy, Default)]
pub struct Drf;

impl Policy for Drf {
    fn name(&self) -> &'static str {
        "drf"
    }

    fits_by_request_alone!();

    fn score(&self, _place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        bounded(candidate.waiting.dominant_share)
    }

    fn detail(&self, _place: &Place<'_>, candidate: &Candidate<'_>) -> Detail {
        Detail::default().number("dominant_share", candidate.waiting.dominant_share)
    }
}

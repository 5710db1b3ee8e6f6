//! DRF: dominant resource fairness.

use super::bounded::bounded;
use super::by_request::fit_by_request;
use super::{Candidate, Detail, Place, Policy};
use crate::fit::Excess;

/// Dominant Resource Fairness (Ghodsi et al., NSDI 2011), section 4.1, algorithm 1: with u the sum of
/// what the application's running executors asked for and C the cluster's size,
/// `s = max over r of ( u_r ÷ C_r )`, the application with the smallest goes first.
/// `Σ request_r ≤ capacity_r` for CPU and memory.
///
/// Departs from it in that an application takes the place of a user, and that one whose next executor
/// does not fit this node is passed over, where the algorithm waits.
#[derive(Debug, Clone, Copy, Default)]
pub struct Drf;

impl Policy for Drf {
    fn name(&self) -> &'static str {
        "drf"
    }

    fn looks_ahead(&self) -> bool {
        false
    }

    fn depends_on_time(&self) -> bool {
        false
    }

    fn most_booked(&self) -> Option<f64> {
        Some(1.0)
    }

    fn fits(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Result<(), Excess> {
        fit_by_request(place, candidate, place.node.capacity)
    }

    fn score(&self, _place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        bounded(candidate.waiting.dominant_share)
    }

    fn detail(&self, _place: &Place<'_>, candidate: &Candidate<'_>) -> Detail {
        Detail::default().number("dominant_share", candidate.waiting.dominant_share)
    }
}

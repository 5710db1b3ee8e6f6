//! Capacity: as CapacityScheduler packs.

use elastane_core::fit::Excess;
use elastane_core::policy::by_request::{fit_by_request, seconds_since};
use elastane_core::policy::{Candidate, Place, Policy};

/// YARN's CapacityScheduler within one leaf queue with its `fifo` ordering and
/// `DominantResourceCalculator`: `Σ request_r ≤ capacity_r` for CPU and memory; the application that
/// was submitted first goes first, so the score is the time since then, in seconds, and the highest
/// wins.
///
/// Leaves out limits, locality, reservations and preemption. Prophet's tables call it `CS`,
/// Ursa's `Capacity`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Capacity;

impl Policy for Capacity {
    fn name(&self) -> &'static str {
        "capacity"
    }

    fn looks_ahead(&self) -> bool {
        false
    }

    fn most_booked(&self) -> Option<f64> {
        Some(1.0)
    }

    fn fits(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Result<(), Excess> {
        fit_by_request(place, candidate, place.node.capacity)
    }

    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        -seconds_since(candidate.waiting.submitted_ms, place.now_ms)
    }

    fn highest_wins(&self) -> bool {
        true
    }
}

//! Capacity: as CapacityScheduler packs.

use super::by_request::{fit_by_request, seconds_since};
use super::{Candidate, Place, Policy};
use crate::fit::Excess;

/// YARN's CapacityScheduler within one leaf queue with its `fifo` ordering and
/// `DominantResourceCalculator`: `Σ request_r ≤ capacity_r` for CPU and memory; the application that
/// was submitted first goes first, so the score is the time since then, in seconds, and the highest
/// wins.
///
/// Departs from it in what is not placement: queues, limits, locality, reservations, preemption.
/// `CS` in Prophet's and `Capacity` in Ursa's tables are this.
#[derive(Debug, Clone, Copy, Default)]
pub struct Capacity;

impl Policy for Capacity {
    fn name(&self) -> &'static str {
        "capacity"
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

    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        -seconds_since(candidate.waiting.submitted_ms, place.now_ms)
    }

    fn highest_wins(&self) -> bool {
        true
    }
}

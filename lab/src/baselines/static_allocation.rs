//! Static: executors by request, the one queued longest first.

use elastane_core::policy::by_request::seconds_since;
use elastane_core::policy::{Candidate, Place, Policy};

/// Spark's static allocation, a baseline of Elasecutor (IEEE/ACM ToN 2021, section VI-A): an executor
/// holds the CPU and memory that it asked for from start to end.
/// `Σ request_r ≤ capacity_r` for CPU and memory; the executor that is queued longest goes first, so
/// the score is the time that it waits, in seconds, and the highest wins.
#[derive(Debug, Clone, Copy, Default)]
pub struct StaticAllocation;

impl Policy for StaticAllocation {
    fn name(&self) -> &'static str {
        "static"
    }

    fits_by_request_alone!();

    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        -seconds_since(candidate.waiting.queued_ms, place.now_ms)
    }

    fn highest_wins(&self) -> bool {
        true
    }
}

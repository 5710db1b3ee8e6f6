//! Dynamic: Spark's dynamic allocation, as far as placement goes.

use elastane_core::policy::{Candidate, Place, Policy};

use super::StaticAllocation;

/// Spark's dynamic allocation (`spark.dynamicAllocation.*`), a baseline of Elasecutor (IEEE/ACM ToN
/// 2021, section VI-A).
///
/// Dynamic allocation is the behaviour of an application: while its tasks queue it asks for executors,
/// twice as many each time, and it releases executors that were idle for a minute. The simulator plays
/// that part. The scheduler places by request, so fit and order are those of [`StaticAllocation`].
#[derive(Debug, Clone, Copy, Default)]
pub struct DynamicAllocation;

impl Policy for DynamicAllocation {
    fn name(&self) -> &'static str {
        "dynamic"
    }

    fits_by_request_alone!();

    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        StaticAllocation.score(place, candidate)
    }

    fn highest_wins(&self) -> bool {
        StaticAllocation.highest_wins()
    }
}

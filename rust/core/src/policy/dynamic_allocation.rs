//! Dynamic: Spark's dynamic allocation, as far as placement goes.

use super::{Candidate, Place, Policy, StaticAllocation};
use crate::fit::Excess;

/// Spark's dynamic allocation (`spark.dynamicAllocation.*`), a baseline of Elasecutor (IEEE/ACM ToN
/// 2021, section VI-A).
///
/// It is the behaviour of an application: it asks for executors while its tasks queue, twice as many
/// each time, and gives those back that have been idle for a minute. Whoever plays the application,
/// such as the simulator, has that part. A scheduler sees asks that come and go; what it places by is
/// the request, so fit and order are those of [`StaticAllocation`].
#[derive(Debug, Clone, Copy, Default)]
pub struct DynamicAllocation;

impl Policy for DynamicAllocation {
    fn name(&self) -> &'static str {
        "dynamic"
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
        StaticAllocation.fits(place, candidate)
    }

    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        StaticAllocation.score(place, candidate)
    }

    fn highest_wins(&self) -> bool {
        StaticAllocation.highest_wins()
    }
}

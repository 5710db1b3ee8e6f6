//! The order of jobs.

use crate::monotasks::system::JobOrder;
use crate::monotasks::world::World;

/// The rank of a job; the highest goes first.
///
/// EJF: seconds since submission. SRJF: `1 ÷ Σ (2 − x) · x` over the kinds of work, with x the job's
/// share of the remaining work.
pub(super) fn rank(order: JobOrder, world: &World<'_>, job: u32) -> f64 {
    match order {
        JobOrder::EarliestFirst => world.now_s - world.progress.jobs[job as usize].submitted_s,
        JobOrder::SmallestRemainingFirst => {
            let shares = world.progress.share_left(job);
            let lost: f64 = shares.iter().map(|share| (2.0 - share) * share).sum();
            1.0 / lost.max(f64::EPSILON)
        }
    }
}

/// The rank in a queue, where a monotask keeps its rank at arrival. Under EJF all ranks grow alike, so
/// the submission orders them.
pub(super) fn in_queue(order: JobOrder, world: &World<'_>, job: u32) -> f64 {
    match order {
        JobOrder::EarliestFirst => -world.progress.jobs[job as usize].submitted_s,
        JobOrder::SmallestRemainingFirst => rank(order, world, job),
    }
}

//! Which job goes first.

use crate::monotasks::system::JobOrder;
use crate::monotasks::world::World;

/// The rank of a job now; the higher goes first.
///
/// EJF: the seconds since it was submitted. SRJF: with x the job's share of all that is left, of
/// each kind of work, `1 ÷ Σ (2 − x) · x`.
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

/// The same for a queue, where a monotask keeps what it came with. Under EJF all ranks grow alike,
/// so the submission alone orders them.
pub(super) fn in_queue(order: JobOrder, world: &World<'_>, job: u32) -> f64 {
    match order {
        JobOrder::EarliestFirst => -world.progress.jobs[job as usize].submitted_s,
        JobOrder::SmallestRemainingFirst => rank(order, world, job),
    }
}

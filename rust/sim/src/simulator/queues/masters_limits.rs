//! What application masters may take of their queue, as CapacityScheduler's `AbstractLeafQueue` (Hadoop 3.4.3) has it.

use elastane_core::cluster::Request;

use super::Queues;
use crate::simulator::amounts::{part_of, smaller};
use crate::simulator::masters::MastersLimits;
use crate::workload::{MastersLimit, QueueSpec};

impl Queues {
    /// What the masters of an application's queue and user may take, of what may be booked. A master fits a limit if its
    /// memory and its virtual cores do (`activateApplications`).
    pub(in crate::simulator) fn masters_limits(
        &self,
        application: usize,
        bookable: Request,
    ) -> MastersLimits {
        let (queue, _) = self.applications[application];
        let of_queue = self.masters_limit(queue, bookable);
        let of_user = self.user_masters_limit(application, bookable);
        // A user's limit with the larger dominant share gives way to that of the queue, also where it has less of the
        // other resource.
        let of_user = of_user.zip(of_queue).map(|(user, queue)| smaller(user, queue, bookable));
        MastersLimits { of_queue, of_user }
    }

    /// None for any amount. Otherwise a part of what the queue may have beside the others now; of its guarantee where that
    /// has more memory or more virtual cores (`calculateAndGetAMResourceLimitPerPartition`).
    pub(super) fn masters_limit(&self, queue: usize, bookable: Request) -> Option<Request> {
        let QueueSpec { capacity, masters, .. } = &self.queues[queue];
        let limit = masters.as_ref()?;
        let usable = self.usable(queue, bookable);
        let guaranteed = part_of(bookable, *capacity);
        Some(limit.of(if guaranteed.fits_into(usable) { usable } else { guaranteed }))
    }

    /// From the top, each queue has what the other queues leave of the amount of the one above it, or its maximum if that
    /// has the smaller dominant share (`getResourceLimitsOfChild`).
    fn usable(&self, queue: usize, bookable: Request) -> Request {
        let top = (bookable, self.all_used);
        let (usable, _) = self.chains[queue].iter().fold(top, |(above, used_above), place| {
            let used = self.used[*place];
            let maximum = part_of(bookable, self.queues[*place].maximum);
            let left = above.minus(used_above.minus(used));
            (smaller(maximum, left, bookable), used)
        });
        usable
    }

    /// Of its queue's guarantee (`getUserAMResourceLimitPerPartition`).
    fn user_masters_limit(&self, application: usize, bookable: Request) -> Option<Request> {
        let QueueSpec { capacity, masters, user_limit, .. } =
            &self.queues[self.applications[application].0];
        let (masters, limit) = masters.zip(*user_limit)?;
        let of_each = 1.0 / self.users.active_for_masters(application) as f64;
        let part = match limit.factor {
            any if any < 0.0 => 1.0,
            factor => of_each.max(limit.minimum_percent / 100.0).min(1.0) * factor,
        };
        let of_user = MastersLimit { part: masters.part * part, ..masters };
        Some(of_user.of(part_of(bookable, *capacity)))
    }
}

#[cfg(test)]
mod tests;

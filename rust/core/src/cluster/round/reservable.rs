//! The applications that CapacityScheduler may reserve a node for, as it does without Elastane.
//!
//! CapacityScheduler reserves a node for the first application it is offered that does not fit there, and places
//! nothing else on the node until that application fits. This keeps a large container from starving. It is left
//! to CapacityScheduler while nothing is known of any waiting application and the node has its registered size:
//! then Elastane has nothing better to offer. Otherwise a reservation would block what fits by demand, and a node
//! is kept for a starving application instead.

use super::{Round, at_limit, is_user_at_limit};
use crate::cluster::state::{ApplicationId, NodeEntry};
use crate::cluster::waiting::Line;

impl Round<'_> {
    /// The first application of each queue for which the node may be reserved, by priority and age. None for a
    /// queue that has no `room` in the list: those that fit go first.
    pub(super) fn first_reservable(&self, room: impl Fn(usize) -> bool) -> Vec<ApplicationId> {
        let resting = self.resting();
        let mut first: Vec<Option<&Line>> = vec![None; self.cluster.waiting.queue_count()];
        let rests = |line: &Line| resting.binary_search(&line.application).is_ok();
        for line in self.reservable().filter(|line| room(line.queue as usize) && !rests(line)) {
            let first = &mut first[line.queue as usize];
            if first.is_none_or(|first| comes_before(line, first)) {
                *first = Some(line);
            }
        }
        first.into_iter().flatten().map(|line| line.application).collect()
    }

    /// The applications for which nothing but the missing room speaks against the node.
    pub(super) fn reservable(&self) -> impl Iterator<Item = &Line> {
        let Self { cluster, offer, now_ms } = self;
        let waiting = &cluster.waiting;
        let entry = cluster.state.nodes.get(offer.node);
        let entry = entry.filter(|entry| !entry.bookable.is_raised());
        let kept = cluster.keeper.kept_on(*offer, waiting);
        let entry = entry.filter(|_| waiting.is_nothing_predicted());
        let held_back = waiting.queues_short_of_memory();
        let rows = waiting.lines().iter().enumerate();
        let lines = rows.filter(move |(row, line)| {
            let countables = waiting.countables_of(*row);
            let fits = || {
                line.request.fits_into(offer.free) && countables.fits_into(offer.free_countables)
            };
            let is_large_enough = |entry: &NodeEntry| {
                line.request.fits_into(entry.registered) && entry.countables.has(countables)
            };
            line.is_ordered
                && entry.is_some_and(|it| is_large_enough(it) && !is_user_at_limit(line, it))
                && !fits()
                && kept.is_none_or(|kept| kept.admits(line, None, *now_ms))
                && !(line.kind.is_application_master()
                    && held_back.as_ref().is_some_and(|queues| queues[line.queue as usize]))
                && at_limit(cluster, line.application, offer.node).is_none()
        });
        lines.map(|(_, line)| line)
    }
}

fn comes_before(line: &Line, other: &Line) -> bool {
    (line.priority, other.application) > (other.priority, line.application)
}

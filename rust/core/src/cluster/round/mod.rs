//! A round of allocation: the applications whose next container may go to a node, best first.
//!
//! The order is YARN's application priority, then starving applications, then the policy's score. An
//! application master goes to no node while a running application of its queue waits for memory: the two would
//! deprive each other. It waits no longer than a starving application. An application that another node would
//! delay clearly less passes for a bounded time; only applications about to be listed are checked for that. An
//! application whose ask exceeds the free space of CapacityScheduler is left out: CapacityScheduler would
//! reserve the node for it and place nothing else there.

mod asked;
mod commit;
mod screened;
mod wait_reason;

pub(crate) use commit::commit;
pub use wait_reason::WaitReason;
pub(crate) use wait_reason::wait_reason;

use super::Cluster;
use super::patience::BetterNodes;
use super::ranking::{Contender, Judge, Rank};
use super::state::{ApplicationId, NodeId, Request};
use super::waiting::Note;
use crate::by_plan::ByPlan;
use screened::ScreenedRound;

/// Maximum number of applications of one queue that a round lists.
pub const ROUND_LIMIT: usize = 16;

/// Factor by which the contest grows when too many contenders passed.
const MORE_CONTENDERS: usize = 4;

/// Maximum number of contenders of a queue with reservations. With thousands that all wait behind a
/// reservation, a heartbeat would cost milliseconds.
const BACKFILL_DEPTH: usize = 64;

/// One round on one node.
pub(crate) struct Round<'a> {
    pub(crate) cluster: &'a mut Cluster,
    /// The node that heartbeats, and the free space of CapacityScheduler there.
    pub(crate) node: NodeId,
    pub(crate) free: Request,
    pub(crate) now_ms: i64,
}

impl Round<'_> {
    /// The listed applications, in order; none where CapacityScheduler decides.
    pub(crate) fn run(mut self) -> Option<Vec<ApplicationId>> {
        let now_ms = self.now_ms;
        let entry = self.cluster.state.nodes.get(self.node)?;
        if !entry.is_decided(&self.cluster.settings, now_ms) {
            return None;
        }
        // CapacityScheduler sees a raised node's free space; a container has to fit the node itself.
        self.free = self.free.min(entry.registered_size(self.cluster.settings.virtual_cores_count));
        self.cluster.keeper.update(
            &self.cluster.settings,
            self.cluster.policy.peaks(),
            &mut self.cluster.state,
            &self.cluster.waiting,
            now_ms,
        );
        let judge = Judge::of(self.cluster.policy.as_ref());
        judge.refresh(self.cluster.state.nodes.get_mut(self.node)?, now_ms);
        let listing = match judge {
            Judge::Plan(by) => self.among_screened(by)?,
            Judge::Policy(policy) => {
                if policy.needs_remaining_shares() {
                    let cluster = &mut *self.cluster;
                    let (shares, waiting) = (&mut cluster.work_shares, &cluster.waiting);
                    shares.update(&mut cluster.state, waiting, now_ms);
                }
                let contenders = asked::ask_for_each(&mut self)?;
                self.list_best(&contenders)
            }
        };
        let order: Vec<_> = listing.ranks.iter().map(|rank| rank.application).collect();
        self.cluster.keeper.listed(self.node, &order, now_ms);
        Some(order)
    }

    /// The round of policies by the plan.
    fn among_screened(&mut self, by: ByPlan) -> Option<Listing> {
        let kept = self.cluster.keeper.kept_on(self.node, &self.cluster.waiting);
        let held_back = self.cluster.waiting.queues_short_of_memory();
        let mut places = ROUND_LIMIT;
        loop {
            let screened = ScreenedRound {
                by,
                shares: &self.cluster.bookable.shares,
                applications: &self.cluster.state.applications,
                settings: &self.cluster.settings,
                entry: self.cluster.state.nodes.get(self.node)?,
                node: self.node,
                free: self.free,
                kept,
                now_ms: self.now_ms,
            };
            let contest = screened.contest(&mut self.cluster.waiting, held_back.as_deref(), places);
            let listing = self.list_best(&contest.in_order());
            let may_miss_some = |queue| contest.is_full(queue) && listing.has_room(queue);
            let is_deep = by.reservations > 0 && places >= BACKFILL_DEPTH;
            if is_deep || !(0..self.cluster.waiting.queue_count()).any(may_miss_some) {
                return Some(listing);
            }
            places = places.saturating_mul(MORE_CONTENDERS);
        }
    }

    /// The first few contenders of each queue, without those that wait for a better node.
    fn list_best(&mut self, contenders: &[Contender]) -> Listing {
        let (node, now_ms, pass_ms) = (self.node, self.now_ms, self.cluster.settings.pass_ms);
        let mut better_nodes = BetterNodes {
            settings: &self.cluster.settings,
            judge: Judge::of(self.cluster.policy.as_ref()),
            here: node,
            now_ms,
            others: None,
        };
        let mut listing =
            Listing { ranks: Vec::new(), by_queue: vec![0; self.cluster.waiting.queue_count()] };
        for contender in contenders {
            if !listing.has_room(contender.queue) {
                continue;
            }
            let id = contender.rank.application;
            if let Some(behind) = contender.waits_behind {
                self.cluster.waiting.set_note(contender.row, Note::Behind { node, behind });
                continue;
            }
            if self.cluster.is_at_maximum(id, node) {
                self.cluster.waiting.set_note(contender.row, Note::AtMaximum { node });
                continue;
            }
            if pass_ms > 0
                && !contender.rank.starves()
                && !contender.delayed_in.is_empty()
                && let Some(better) =
                    better_nodes.better(&mut self.cluster.state, id, contender.delayed_in)
                && self.cluster.passing.try_pass(id, better, pass_ms, now_ms)
            {
                self.cluster.waiting.set_note(contender.row, Note::Passed { node });
                continue;
            }
            if listing.by_queue[contender.queue] == 0 {
                self.cluster.waiting.mark_listed_first(contender.row, now_ms);
            }
            listing.by_queue[contender.queue] += 1;
            listing.ranks.push(contender.rank);
        }
        listing
    }
}

/// The applications that a round lists.
struct Listing {
    /// In order.
    ranks: Vec<Rank>,
    by_queue: Vec<usize>,
}

impl Listing {
    fn has_room(&self, queue: usize) -> bool {
        self.by_queue[queue] < ROUND_LIMIT
    }
}

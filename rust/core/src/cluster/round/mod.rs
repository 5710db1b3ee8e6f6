//! A round of allocation: which applications' next container may go to this node, best first.
//!
//! The order is YARN's application priority, then those that waited too long, then the policy's score.
//! An application master goes to no node while an application of its queue that runs already waits for
//! memory: the two would take from each other what both need. It is held back no longer than a starving
//! application. An application that another node would delay clearly less is left out for a bounded
//! time; only those whose turn it would be are asked that. An application whose ask does not fit what
//! CapacityScheduler has free is left out: CapacityScheduler would reserve the node for it and place
//! nothing else there.

mod asked;
mod commit;
mod screened;
mod wait_reason;

pub(crate) use commit::commit;
pub use wait_reason::WaitReason;
pub(crate) use wait_reason::wait_reason;

use super::patience::BetterNodes;
use super::ranking::{Contender, Judge, Rank};
use super::rooms::Rooms;
use super::settings::ClusterSettings;
use super::state::{ApplicationId, NodeId, Request};
use super::waiting::Note;
use crate::by_plan::ByPlan;
use crate::policy::Policy;
use screened::ScreenedRound;

/// Maximum number of applications of one queue that a round names.
pub const ROUND_LIMIT: usize = 16;

/// Factor by which more contenders are looked for when too many of them passed.
const MORE_CONTENDERS: usize = 4;

/// Maximum number of contenders of a queue where room is held: with thousands that all have to wait behind
/// held room a heartbeat would cost milliseconds.
const BACKFILL_DEPTH: usize = 64;

/// What a round reads and writes.
pub(crate) struct Round<'a> {
    pub(crate) settings: &'a ClusterSettings,
    pub(crate) policy: &'a dyn Policy,
    pub(crate) rooms: &'a mut Rooms,
    /// The node that heartbeats, and what CapacityScheduler has free there.
    pub(crate) node: NodeId,
    pub(crate) free: Request,
    pub(crate) now_ms: i64,
}

impl Round<'_> {
    /// The applications that are named, in order; none where CapacityScheduler is to decide.
    pub(crate) fn name_applications(mut self) -> Option<Vec<ApplicationId>> {
        let now_ms = self.now_ms;
        let entry = self.rooms.state.nodes.get(self.node)?;
        if !entry.is_decided(self.settings, now_ms) {
            return None;
        }
        // A policy that goes by what is booked alone has no planned start, and no node is kept.
        if self.policy.depends_on_time() {
            let peaks = self.policy.peaks();
            self.rooms.keeper.look(
                self.settings,
                peaks,
                &mut self.rooms.state,
                &self.rooms.waiting,
                now_ms,
            );
        }
        let judge = Judge::of(self.policy);
        judge.look_at(self.rooms.state.nodes.get_mut(self.node)?, now_ms);
        let named = match judge {
            Judge::Plan(by) => self.among_screened(by)?,
            Judge::Policy(policy) => {
                if policy.needs_remaining_shares() {
                    self.rooms.work_shares.update(&mut self.rooms.state, now_ms);
                }
                let contenders = asked::ask_for_each(&mut self)?;
                self.name_best(&contenders)
            }
        };
        let order: Vec<_> = named.ranks.iter().map(|rank| rank.application).collect();
        self.rooms.keeper.named(self.node, &order, now_ms);
        Some(order)
    }

    /// For policies by the plan.
    fn among_screened(&mut self, by: ByPlan) -> Option<Named> {
        let kept = self.rooms.keeper.kept_on(self.node, &self.rooms.waiting);
        let held_back = self.rooms.waiting.queues_short_of_memory();
        let mut places = ROUND_LIMIT;
        loop {
            let screened = ScreenedRound {
                by,
                settings: self.settings,
                entry: self.rooms.state.nodes.get(self.node)?,
                node: self.node,
                free: self.free,
                kept,
                now_ms: self.now_ms,
            };
            let contest = screened.contest(&mut self.rooms.waiting, held_back.as_deref(), places);
            let named = self.name_best(&contest.in_order());
            let may_lack_some = |queue| contest.is_full(queue) && named.lacks(queue);
            let is_deep = by.hold > 0 && contest.places() >= BACKFILL_DEPTH;
            if is_deep || !(0..self.rooms.waiting.queue_count()).any(may_lack_some) {
                return Some(named);
            }
            places = contest.places().saturating_mul(MORE_CONTENDERS);
        }
    }

    /// The first few of each queue, without those that wait for a better node.
    fn name_best(&mut self, contenders: &[Contender]) -> Named {
        let (node, now_ms, pass_ms) = (self.node, self.now_ms, self.settings.pass_ms);
        let mut better_nodes =
            BetterNodes::new(self.settings, Judge::of(self.policy), node, now_ms);
        let mut named = Named {
            ranks: Vec::new(),
            by_queue: vec![0; self.rooms.waiting.queue_count()],
        };
        for contender in contenders {
            if !named.lacks(contender.queue) {
                continue;
            }
            let id = contender.rank.application;
            if let Some(behind) = contender.behind {
                self.rooms
                    .waiting
                    .set_note(contender.row, Note::Behind { node, behind });
                continue;
            }
            if pass_ms > 0
                && !contender.rank.starves()
                && !contender.delayed_in.is_empty()
                && let Some(better) =
                    better_nodes.better(&mut self.rooms.state, id, contender.delayed_in)
                && self.rooms.passing.passes(id, better, pass_ms, now_ms)
            {
                self.rooms
                    .waiting
                    .set_note(contender.row, Note::Passed { node });
                continue;
            }
            if named.by_queue[contender.queue] == 0 {
                self.rooms.waiting.named_first(contender.row, now_ms);
            }
            named.by_queue[contender.queue] += 1;
            named.ranks.push(contender.rank);
        }
        named
    }
}

/// What a round names.
struct Named {
    /// In order.
    ranks: Vec<Rank>,
    by_queue: Vec<usize>,
}

impl Named {
    fn lacks(&self, queue: usize) -> bool {
        self.by_queue[queue] < ROUND_LIMIT
    }
}

//! A round of allocation: which applications' next container may go to this node, best first.

use std::collections::HashMap;

use super::Cluster;
use super::admission::{Admitted, admit};
use super::application::ApplicationId;
use super::contest::{Contender, Rank};
use super::elsewhere::Elsewhere;
use super::node_entry::{NodeId, Request};
use super::notes::Note;
use super::prospect::{Judge, Prospect, need};
use super::quick::Quick;
use crate::by_plan::ByPlan;
use crate::policy::{Turn, Waiting};
use crate::windows::WindowSet;

/// At most so many applications of one queue are named in a round.
pub const ROUND_LIMIT: usize = 16;

/// So many times more contenders are looked for when too many of them passed.
const MORE_CONTENDERS: usize = 4;

/// Where room is held, no more of a queue are looked at in a round: with thousands that all have to
/// wait behind it a heartbeat would cost milliseconds.
const BACKFILL_DEPTH: usize = 64;

impl Cluster {
    /// The applications whose next container fits `node` now and over time, in the order in which
    /// they are to be tried; none where CapacityScheduler is to decide.
    ///
    /// The order is YARN's application priority, then those that waited too long, then the policy's
    /// score. An application master goes to no node while an application of its queue that runs
    /// already waits for memory: the two would take from each other what both need. It is held
    /// back no longer than a starving application. An application that another node would delay
    /// clearly less is left out for a bounded time; only those whose turn it would be are asked
    /// that. An application whose ask does not fit `free` is left out: CapacityScheduler would
    /// reserve the node for it and place nothing else there.
    pub fn round(
        &mut self,
        node: NodeId,
        free: Request,
        now_ms: i64,
    ) -> Option<Vec<ApplicationId>> {
        if !self.decides(node, now_ms) {
            return None;
        }
        self.keep_a_node(now_ms);
        let judge = Judge::of(self.policy.as_ref());
        judge.look_at(self.nodes.get_mut(&node)?, now_ms);
        let named = match judge {
            Judge::Plan(by) => self.quick_round(by, node, free, now_ms)?,
            Judge::Policy(policy) => {
                if policy.needs_remaining_shares() {
                    self.add_up_what_remains(now_ms);
                }
                let contenders = self.contenders(node, free, now_ms)?;
                self.name_best(node, &contenders, now_ms)
            }
        };
        let mut ranks = named.ranks;
        self.spread(node, &mut ranks);
        let order: Vec<_> = ranks.iter().map(|rank| rank.application).collect();
        self.named(node, &order, now_ms);
        Some(order)
    }

    /// As [`Cluster::round`], for policies by the plan.
    fn quick_round(
        &mut self,
        by: ByPlan,
        node: NodeId,
        free: Request,
        now_ms: i64,
    ) -> Option<Named> {
        let kept = self.kept_here(node);
        let held_back = self.waiting.queues_short_of_memory();
        let mut places = ROUND_LIMIT;
        loop {
            let entry = self.nodes.get(&node)?;
            let quick = Quick::new(by, &self.settings, entry, node, free, kept, now_ms);
            let contest = quick.contest(&mut self.waiting, held_back.as_deref(), places);
            let named = self.name_best(node, &contest.in_order(), now_ms);
            let may_lack_some = |queue| contest.is_full(queue) && named.lacks(queue);
            let is_deep = by.hold > 0 && contest.places() >= BACKFILL_DEPTH;
            if is_deep || !(0..self.waiting.queue_count()).any(may_lack_some) {
                return Some(named);
            }
            places = contest.places().saturating_mul(MORE_CONTENDERS);
        }
    }

    /// All that may go to the node, the best first, as the policy says of each of them.
    fn contenders(&mut self, node: NodeId, free: Request, now_ms: i64) -> Option<Vec<Contender>> {
        let entry = self.nodes.get(&node)?;
        let (policy, settings) = (self.policy.as_ref(), &self.settings);
        let judge = Judge::of(policy);
        let turns = self.turns(now_ms);
        let kept = self.kept_here(node);
        let held_back = self.waiting.queues_short_of_memory();
        let mut contenders = Vec::new();
        for row in 0..self.waiting.lines().len() {
            let line = self.waiting.lines()[row];
            let id = line.application;
            let (turn, whole) = turns.get(&id).copied().unwrap_or((Turn::Usual, false));
            let waited_ms = now_ms.saturating_sub(line.since_ms);
            // Nobody starves: it is not told off for ever.
            let turn = if waited_ms >= settings.starvation_wait_ms {
                turn.min(Turn::Usual)
            } else {
                turn
            };
            if turn == Turn::NotNow || !line.request.fits_into(free) {
                continue;
            }
            if line.kind.is_application_master()
                && waited_ms < settings.starvation_wait_ms
                && held_back
                    .as_ref()
                    .is_some_and(|queues| queues[line.queue as usize])
            {
                continue;
            }
            let Some(application) = self.applications.get(&id) else {
                continue;
            };
            let predicted = application.demands.of(line.kind);
            let life = || need(entry, predicted, line.request).ok()?.life();
            if kept.is_some_and(|kept| !kept.lets(&line, life(), now_ms)) {
                self.waiting.set_note(row, Note::Kept { node });
                continue;
            }
            let waiting = Waiting {
                whole,
                ..application.as_waiting(self.registered)
            };
            let Ok(prospect) =
                Prospect::new(judge, entry, predicted, line.request, waiting, now_ms)
            else {
                continue;
            };
            match admit(
                &prospect,
                settings,
                entry,
                application,
                line.request,
                now_ms,
            ) {
                Ok(admitted) => {
                    let starves = admitted == Admitted::Starving;
                    contenders.push(Contender {
                        rank: Rank::new(&line, starves, turn, prospect.score()),
                        row,
                        queue: line.queue as usize,
                        delayed_in: WindowSet::ALL,
                        behind: None,
                    });
                }
                Err(excess) => {
                    let resource = excess.resource;
                    self.waiting.set_note(row, Note::Short { node, resource });
                }
            }
        }
        contenders.sort_unstable();
        Some(contenders)
    }

    /// The first few of each queue, without those that wait for a better node.
    fn name_best(&mut self, node: NodeId, contenders: &[Contender], now_ms: i64) -> Named {
        let pass_ms = self.settings.pass_ms;
        let mut elsewhere = Elsewhere::new(node, now_ms);
        let mut named = Named {
            ranks: Vec::new(),
            by_queue: vec![0; self.waiting.queue_count()],
        };
        for contender in contenders {
            if !named.lacks(contender.queue) {
                continue;
            }
            let id = contender.rank.application;
            if let Some(behind) = contender.behind {
                self.waiting
                    .set_note(contender.row, Note::Behind { node, behind });
                continue;
            }
            if pass_ms > 0
                && !contender.rank.starves()
                && !contender.delayed_in.is_empty()
                && let Some(better) = elsewhere.better(self, id, contender.delayed_in)
                && let Some(application) = self.applications.get_mut(&id)
                && application.may_pass(pass_ms, now_ms)
            {
                application.passed_for = Some(better);
                self.waiting.set_note(contender.row, Note::Passed { node });
                continue;
            }
            if named.by_queue[contender.queue] == 0 {
                self.waiting.named_first(contender.row, now_ms);
            }
            named.by_queue[contender.queue] += 1;
            named.ranks.push(contender.rank);
        }
        named
    }

    /// Whose turn it is by the policy, where it is not everybody's, and which find room whole.
    fn turns(&self, now_ms: i64) -> HashMap<ApplicationId, (Turn, bool)> {
        if !self.policy.needs_gangs() {
            return HashMap::new();
        }
        let mut room_for: HashMap<Request, u64> = HashMap::new();
        let (ids, waiting): (Vec<_>, Vec<_>) = self
            .applications
            .iter()
            .filter_map(|(id, application)| {
                let ask = application.waiting?;
                let room = room_for.entry(ask.request);
                let room = room.or_insert_with(|| self.room_for(ask.request));
                let whole = *room >= u64::from(ask.count);
                let waiting = application.as_waiting(self.registered);
                Some((*id, Waiting { whole, ..waiting }))
            })
            .unzip();
        let turns = self.policy.turns(&waiting, now_ms);
        let whole = waiting.iter().map(|waiting| waiting.whole);
        ids.into_iter().zip(turns.into_iter().zip(whole)).collect()
    }

    /// How many containers of this request would find room at once.
    fn room_for(&self, request: Request) -> u64 {
        let rooms = self.nodes.values().map(|entry| entry.room_for(request));
        rooms.fold(0, u64::saturating_add)
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

//! A round of allocation: the applications whose next container may go to a node, best first.
//!
//! The order is YARN's application priority, then starving applications, then those whose deadline is due, then
//! the policy's score. Last come applications that lack a flow that their queue is owed. An application master goes
//! to no node while a running application of its queue waits for memory: the two would deprive each other. It waits
//! for a minute at most, and not while its deadline is due. Applications that CapacityScheduler skipped on the node
//! lately are listed behind the others. An application whose ask exceeds CapacityScheduler's free space is left out,
//! unless the node may be reserved for it.

mod asked;
mod commit;
mod reservable;
mod screened;
mod wait_reason;

pub(crate) use commit::commit;
pub use wait_reason::WaitReason;
pub(crate) use wait_reason::wait_reason;

use super::ranking::{Contender, Contest, Judge};
use super::state::{ApplicationId, NodeEntry, NodeId, Request, Verdict};
use super::waiting::{Line, Note, WaitingTable};
use super::{Cluster, bookable};
use crate::by_plan::ByPlan;
use screened::ScreenedRound;

/// Maximum number of applications of one queue that a round lists.
pub const ROUND_LIMIT: usize = 16;

/// Factor by which the contest grows when too many contenders wait behind a claim or are at a limit.
const MORE_CONTENDERS: usize = 4;

/// Maximum number of contenders of a queue on a node with claims. With thousands that all wait behind a claim, a
/// heartbeat would cost milliseconds.
const BACKFILL_DEPTH: usize = 64;

/// Maximum number of contenders of a queue in a round that names the rest, on a node with claims.
const REST_DEPTH: usize = 4_096;

/// One round on one node.
pub(crate) struct Round<'a> {
    pub(crate) cluster: &'a mut Cluster,
    pub(crate) offer: Offer<'a>,
    pub(crate) now_ms: i64,
}

/// A node that is offered to applications.
#[derive(Debug, Clone, Copy)]
pub struct Offer<'a> {
    /// The node that heartbeats.
    pub node: NodeId,
    /// What CapacityScheduler may still book there.
    pub free: Request,
    /// The same of the other resource types, in the order of [`Countables`](super::Countables).
    pub free_countables: &'a [u64],
    /// For each user to whom CapacityScheduler gives nothing more in a queue on nodes without a label, one application
    /// of that user and queue. A round on such a node leaves out the executors of all of them. Unread on others.
    pub at_user_limit: &'a [ApplicationId],
    /// Which applications are named.
    pub naming: Naming,
}

impl Offer<'static> {
    /// Of no other resource types, for the best ones.
    pub(crate) fn best(node: NodeId, free: Request) -> Self {
        Self { node, free, free_countables: &[], at_user_limit: &[], naming: Naming::Best }
    }
}

/// Which applications a round names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// The first [`ROUND_LIMIT`] of each queue, in the order to try them.
    Best,
    /// All that the same rules admit, by number: CapacityScheduler skipped every one of the best.
    Rest,
    /// All that fit, sorted by id, for a queue that keeps its own order. Claims do not count, since they depend on the
    /// core's order.
    Fitting,
}

impl<'a> Round<'a> {
    pub(crate) fn new(cluster: &'a mut Cluster, offer: Offer<'a>, now_ms: i64) -> Self {
        Self { cluster, offer, now_ms }
    }

    /// The listed applications, in order; none where CapacityScheduler decides.
    pub(crate) fn run(mut self) -> Option<Vec<ApplicationId>> {
        let now_ms = self.now_ms;
        let Offer { node, naming, .. } = self.offer;
        let entry = self.cluster.state.nodes.get_mut(node)?;
        entry.countables.offer(self.offer.free_countables);
        if !entry.is_decided(&self.cluster.settings, now_ms) {
            return None;
        }
        // CapacityScheduler sees a raised node's free space; a container has to fit the node itself.
        let registered = entry.registered_size(self.cluster.settings.virtual_cores_count);
        self.offer.free = self.offer.free.min(registered);
        if entry.label.is_empty() {
            let Cluster { state, waiting, .. } = &mut *self.cluster;
            let at_limit = self.offer.at_user_limit;
            waiting.mark_users_at_limit(at_limit, &state.applications, node);
        }
        self.cluster.keeper.update(
            &self.cluster.settings,
            self.cluster.policy.peaks(),
            &self.cluster.bookable.shares,
            &mut self.cluster.state,
            &self.cluster.waiting,
            now_ms,
        );
        let judge = Judge::of(self.cluster.policy.as_ref());
        judge.refresh(self.cluster.state.nodes.get_mut(node)?, now_ms);
        let Listing { mut order, by_queue } = match judge {
            Judge::Plan(by) => self.list_screened(by)?,
            Judge::Policy(policy) => {
                if policy.needs_remaining_shares() {
                    let cluster = &mut *self.cluster;
                    let (shares, waiting) = (&mut cluster.work_shares, &cluster.waiting);
                    shares.update(&mut cluster.state, waiting, now_ms);
                }
                let contenders = asked::ask_for_each(&mut self)?;
                match naming {
                    Naming::Best => self.list_best(&contenders, &self.resting()),
                    Naming::Rest => Listing::of_all(self.list_all(&contenders)),
                    Naming::Fitting => {
                        Listing::of_all(contenders.iter().map(Contender::application).collect())
                    }
                }
            }
        };
        if naming == Naming::Fitting {
            order.retain(|application| at_limit(self.cluster, *application, node).is_none());
        }
        self.cluster.keeper.listed(node, &order, now_ms);
        match naming {
            Naming::Best => {
                order.extend(self.first_reservable(|queue| by_queue[queue] < ROUND_LIMIT))
            }
            Naming::Rest => {}
            Naming::Fitting => order.extend(self.reservable().map(|line| line.application)),
        }
        if naming != Naming::Best {
            order.sort_unstable();
        }
        Some(order)
    }

    /// The applications that rest on the node because CapacityScheduler skipped them there.
    fn resting(&self) -> Vec<ApplicationId> {
        self.cluster.skips.resting(self.offer.node, &self.cluster.waiting, self.now_ms)
    }

    /// Runs one pass over the waiting rows, for policies by the plan.
    fn screened<T>(
        &mut self,
        by: ByPlan,
        pass: impl FnOnce(&ScreenedRound<'_>, &mut WaitingTable, Option<&[bool]>) -> T,
    ) -> Option<T> {
        let Cluster { settings, state, waiting, keeper, starts, bookable, .. } = &mut *self.cluster;
        let held_back = waiting.queues_short_of_memory();
        let (node, now_ms) = (self.offer.node, self.now_ms);
        let entry = state.nodes.get(node)?;
        let screened = ScreenedRound {
            by,
            settings,
            entry,
            claims: starts.claims_on(node, entry.plan.state(), waiting),
            shares: &bookable.shares,
            applications: &state.applications,
            offer: self.offer,
            kept: keeper.kept_on(self.offer, waiting),
            now_ms,
        };
        Some(pass(&screened, waiting, held_back.as_deref()))
    }

    fn has_claims(&self) -> bool {
        self.cluster.starts.has_claims(self.offer.node)
    }

    fn contest(&mut self, by: ByPlan, places: usize) -> Option<Contest> {
        self.screened(by, |round, waiting, held_back| round.contest(waiting, held_back, places))
    }

    /// The round of policies by the plan.
    fn list_screened(&mut self, by: ByPlan) -> Option<Listing> {
        match self.offer.naming {
            Naming::Best => self.list_best_screened(by),
            Naming::Rest => {
                let places = if self.has_claims() { REST_DEPTH } else { usize::MAX };
                let contenders = self.contest(by, places)?.in_order();
                Some(Listing::of_all(self.list_all(&contenders)))
            }
            Naming::Fitting => self
                .screened(by, |round, waiting, held_back| round.fitting(waiting, held_back))
                .map(Listing::of_all),
        }
    }

    fn list_best_screened(&mut self, by: ByPlan) -> Option<Listing> {
        let resting = self.resting();
        let has_claims = self.has_claims();
        let mut places = ROUND_LIMIT + resting.len();
        loop {
            let contest = self.contest(by, places)?;
            let listing = self.list_best(&contest.in_order(), &resting);
            let may_miss_some = |queue| contest.is_full(queue) && listing.has_room(queue);
            let is_deep = has_claims && places >= BACKFILL_DEPTH + resting.len();
            if is_deep || !(0..self.cluster.waiting.queue_count()).any(may_miss_some) {
                return Some(listing);
            }
            places = places.saturating_mul(MORE_CONTENDERS);
        }
    }

    /// All contenders but those that wait behind a claim.
    fn list_all(&self, contenders: &[Contender]) -> Vec<ApplicationId> {
        let may_go = |contender: &&Contender| {
            contender.waits_behind.is_none()
                && at_limit(self.cluster, contender.application(), self.offer.node).is_none()
        };
        contenders.iter().filter(may_go).map(Contender::application).collect()
    }

    /// The first few contenders of each queue that may go. Resting applications come last.
    fn list_best(&mut self, contenders: &[Contender], resting: &[ApplicationId]) -> Listing {
        let node = self.offer.node;
        let mut listing =
            Listing { order: Vec::new(), by_queue: vec![0; self.cluster.waiting.queue_count()] };
        let rests = |contender: &&Contender| {
            !resting.is_empty() && resting.binary_search(&contender.application()).is_ok()
        };
        let former = self.cluster.state.nodes.get_mut(node).map(|it| &mut it.last_round);
        let mut last_round = former.map(std::mem::take).unwrap_or_default();
        last_round.begin(self.now_ms);
        let active = contenders.iter().filter(|contender| !rests(contender));
        for contender in active.chain(contenders.iter().filter(rests)) {
            if !listing.has_room(contender.queue) {
                continue;
            }
            let id = contender.application();
            if let Some(behind) = contender.waits_behind {
                self.cluster.waiting.set_note(contender.row, Note::Behind { node, behind });
                last_round.add(contender, Verdict::WouldDelay(behind));
                continue;
            }
            if let Some(note) = at_limit(self.cluster, id, node) {
                self.cluster.waiting.set_note(contender.row, note);
                last_round.add(contender, Verdict::AtLimit);
                continue;
            }
            listing.by_queue[contender.queue] += 1;
            listing.order.push(id);
            last_round.add(contender, Verdict::MayGo);
        }
        if let Some(entry) = self.cluster.state.nodes.get_mut(node) {
            entry.last_round = last_round;
        }
        listing
    }
}

/// Whether CapacityScheduler would skip the row on this node, for the limit of its user.
fn is_user_at_limit(line: &Line, entry: &NodeEntry) -> bool {
    line.user_at_limit && entry.label.is_empty()
}

/// Why the limits of its queues and its user keep an application from the node; none if they do not.
fn at_limit(cluster: &Cluster, application: ApplicationId, node: NodeId) -> Option<Note> {
    let Cluster { settings, state, bookable, waiting, .. } = cluster;
    bookable::at_limit(settings, &bookable.shares, state, waiting, application, node)
}

/// The applications that a round lists.
struct Listing {
    order: Vec<ApplicationId>,
    /// The number of each queue, where it is limited.
    by_queue: Vec<usize>,
}

impl Listing {
    fn of_all(order: Vec<ApplicationId>) -> Self {
        Self { order, by_queue: Vec::new() }
    }

    fn has_room(&self, queue: usize) -> bool {
        self.by_queue[queue] < ROUND_LIMIT
    }
}

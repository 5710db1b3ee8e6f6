//! A node kept free for an application that smaller ones would starve for ever by taking all
//! resources that become free.
//!
//! Smaller applications starve an application if no container of its size was placed anywhere while
//! it starved. If one was placed, the application waits for its turn and not for room.
//!
//! While a node is kept, another application goes there only if its container ends before the planned start
//! (EASY backfilling: Lifka, "The ANL/IBM SP Scheduling System", JSSPP 1995; Mu'alem and Feitelson, IEEE TPDS
//! 12(6), 2001). A kept node filters the order of a round and changes nothing else.
//!
//! The owner may lack [`Countables`], such as GPUs. Then containers that ask for none go there too, as long as
//! they leave the owner's memory and virtual cores free.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use super::placed_sizes::PlacedSizes;
use crate::cluster::Cluster;
use crate::cluster::bookable::{Shares, at_limit};
use crate::cluster::plan::planned_start;
use crate::cluster::round::Offer;
use crate::cluster::settings::ClusterSettings;
use crate::cluster::state::{ApplicationId, Countables, NodeEntry, NodeId, Nodes, Request, State};
use crate::cluster::waiting::{Line, Row, WaitingTable};
use crate::fit::Peaks;
use crate::slot_of;

/// A round lists a starving application on each node with room by request, and each node heartbeats
/// about once a second. An application that still waits after this time needs a kept node.
const KEEP_AFTER_STARVING_MS: i64 = 10_000;

/// A request does not say how much its executor uses. After this many starvation waits a node is
/// kept even if containers of that size were placed meanwhile.
const KEEP_ANYWAY_AFTER_WAITS: i64 = 60;

/// The first round of each period of this length updates the kept node.
const UPDATE_EVERY_MS: i64 = 1_000;

/// Number of nodes compared; the node with the earliest planned start is kept.
const NODES_COMPARED: usize = 16;

/// An application that was listed on its kept node for this long without a container is blocked by
/// something unknown to the core, such as blacklists or locality.
const IN_VAIN_AFTER_MS: i64 = 10_000;

/// An application whose node was kept in vain gets no kept node for this multiple of that time.
const REST_AFTER_IN_VAIN: i64 = 10;

/// Maximum time for which a node is kept, in starvation waits.
const LONGEST_IN_WAITS: i64 = 5;

/// A kept node and its application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptNode {
    /// The node.
    pub node: NodeId,
    /// The application for which the node is kept.
    pub application: ApplicationId,
    /// Planned start of the next container there; none if it depends on containers without a predicted end, or on
    /// countables.
    pub start_ms: Option<i64>,
    priority: i32,
    waiting_since_ms: i64,
    since_ms: i64,
    /// When a round first listed the application there.
    listed_ms: Option<i64>,
}

impl KeptNode {
    /// The kept node of a cluster, if any.
    pub fn of(cluster: &Cluster) -> Option<Self> {
        cluster.keeper.kept(&cluster.waiting)
    }

    fn admits(&self, line: &Line, life: Option<usize>, now_ms: i64) -> bool {
        let ends_before = |start_ms: i64| {
            let slots = slot_of(start_ms).saturating_sub(slot_of(now_ms));
            life.is_some_and(|life| i64::try_from(life).is_ok_and(|life| life <= slots))
        };
        line.application == self.application
            || line.priority > self.priority
            || self.start_ms.is_some_and(ends_before)
    }

    /// The owner, if it still waits for the container for which the node is kept.
    fn owner<'a>(&self, waiting: &'a WaitingTable) -> Option<Owner<'a>> {
        let owner = Owner::new(waiting, waiting.row_of(self.application)?);
        (owner.line.since_ms == self.waiting_since_ms).then_some(owner)
    }
}

/// The application for which a node is or may be kept.
#[derive(Debug, Clone, Copy)]
struct Owner<'a> {
    line: &'a Line,
    countables: &'a Countables,
    label: &'a str,
}

impl<'a> Owner<'a> {
    fn new(waiting: &'a WaitingTable, row: Row) -> Self {
        let countables = waiting.countables_of(row);
        Self { line: waiting.line(row), countables, label: waiting.label_of(row) }
    }
}

/// A kept node that is offered to a round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeptAsOffered {
    kept: KeptNode,
    /// What is free beside the owner's request; none unless the owner lacks countables.
    beside_owner: Option<Request>,
}

impl KeptAsOffered {
    /// Whether an application may go there: the owner, one of higher YARN priority, one whose container
    /// ends before the planned start, or one that takes nothing of what the owner waits for. `life` is in
    /// slots; none without a predicted end.
    pub(crate) fn admits(&self, line: &Line, life: Option<usize>, now_ms: i64) -> bool {
        let fits_beside = |free| !line.asks_countables && line.request.fits_into(free);
        self.kept.admits(line, life, now_ms) || self.beside_owner.is_some_and(fits_beside)
    }
}

/// Decides which node is kept free, for whom and for how long.
#[derive(Debug, Default)]
pub(crate) struct NodeKeeper {
    kept: Option<KeptNode>,
    /// The number of the period of the latest update.
    updated_in: Option<i64>,
    /// The node kept last; the next search starts behind it.
    last: Option<NodeId>,
    rest_until_ms: HashMap<ApplicationId, i64>,
    placed: PlacedSizes,
}

impl NodeKeeper {
    /// A clock set back does not stop the updates.
    fn is_due(&self, now_ms: i64) -> bool {
        self.updated_in != Some(now_ms.div_euclid(UPDATE_EVERY_MS))
    }

    /// Records a placement on a node of `label`.
    pub(crate) fn placed(
        &mut self,
        label: &Arc<str>,
        request: Request,
        countables: &Countables,
        now_ms: i64,
    ) {
        self.placed.add(label, request, countables, now_ms);
    }

    /// The kept node, if any.
    pub(crate) fn kept(&self, waiting: &WaitingTable) -> Option<KeptNode> {
        self.kept.filter(|kept| kept.owner(waiting).is_some())
    }

    /// The kept node, if it is the offered one.
    pub(crate) fn kept_on(
        &self,
        offer: Offer<'_>,
        waiting: &WaitingTable,
    ) -> Option<KeptAsOffered> {
        let kept = self.kept.filter(|kept| kept.node == offer.node)?;
        let owner = kept.owner(waiting)?;
        let lacks_countables = !owner.countables.fits_into(offer.free_countables);
        let beside_owner = lacks_countables.then(|| offer.free.minus(owner.line.request));
        Some(KeptAsOffered { kept, beside_owner })
    }

    /// A round on `node` listed these applications.
    pub(crate) fn listed(&mut self, node: NodeId, listed: &[ApplicationId], now_ms: i64) {
        if let Some(kept) = &mut self.kept
            && kept.node == node
            && listed.contains(&kept.application)
        {
            kept.listed_ms.get_or_insert(now_ms);
        }
    }

    /// The nodes that the next update compares.
    pub(crate) fn compares(
        &self,
        settings: &ClusterSettings,
        nodes: &Nodes,
        waiting: &WaitingTable,
        now_ms: i64,
    ) -> Vec<NodeId> {
        if !self.is_due(now_ms) {
            return Vec::new();
        }
        let kept = self.kept.iter().map(|kept| kept.node);
        let owner = self.stuck_longest(settings, waiting, now_ms);
        kept.chain(owner.into_iter().flat_map(|owner| self.candidates(nodes, owner))).collect()
    }

    /// Releases or replaces the kept node, at most once per [`UPDATE_EVERY_MS`].
    pub(crate) fn update(
        &mut self,
        settings: &ClusterSettings,
        peaks: Peaks,
        shares: &Shares,
        state: &mut State,
        waiting: &WaitingTable,
        now_ms: i64,
    ) {
        if !self.is_due(now_ms) {
            return;
        }
        self.updated_in = Some(now_ms.div_euclid(UPDATE_EVERY_MS));
        let mut search = KeptStartSearch { settings, peaks, shares, waiting, state, now_ms };
        if let Some(kept) = self.kept.take() {
            self.kept = self.still_kept(kept, waiting, &mut search);
        }
        if self.kept.is_none() {
            self.rest_until_ms.retain(|_, until_ms| *until_ms > now_ms);
            if let Some(owner) = self.stuck_longest(settings, waiting, now_ms) {
                self.keep_for(owner, &mut search);
            }
        }
    }

    /// The kept node with a new planned start; none if it is to be released.
    fn still_kept(
        &mut self,
        kept: KeptNode,
        waiting: &WaitingTable,
        search: &mut KeptStartSearch<'_>,
    ) -> Option<KeptNode> {
        // CapacityScheduler places nothing of a user at its limit. That may end at any time, so it does not rest.
        let owner = kept.owner(waiting).filter(|owner| !owner.line.user_at_limit)?;
        if &*search.state.nodes.get(kept.node)?.label != owner.label {
            return None;
        }
        let now_ms = search.now_ms;
        let kept_ms = now_ms.saturating_sub(kept.since_ms);
        let wait_ms = search.settings.starvation_wait_ms;
        let longest_ms = wait_ms.saturating_mul(LONGEST_IN_WAITS);
        let in_vain = kept
            .listed_ms
            .is_some_and(|listed_ms| now_ms.saturating_sub(listed_ms) >= IN_VAIN_AFTER_MS);
        if in_vain || kept_ms >= longest_ms {
            let times = if in_vain { REST_AFTER_IN_VAIN } else { 1 };
            let rest_ms = kept_ms.saturating_mul(times);
            let until_ms = now_ms.saturating_add(rest_ms);
            self.rest_until_ms.insert(kept.application, until_ms);
            return None;
        }
        Some(KeptNode {
            start_ms: search.planned_start(kept.node, owner)?,
            priority: owner.line.priority,
            ..kept
        })
    }

    /// Of the starving applications that make no progress, the one of the highest priority, and of
    /// these the one that has waited longest.
    fn stuck_longest<'a>(
        &self,
        settings: &ClusterSettings,
        waiting: &'a WaitingTable,
        now_ms: i64,
    ) -> Option<Owner<'a>> {
        let wait_ms = settings.starvation_wait_ms;
        let after_ms = wait_ms.saturating_add(KEEP_AFTER_STARVING_MS);
        let anyway_after_ms = wait_ms.saturating_mul(KEEP_ANYWAY_AFTER_WAITS);
        let is_stuck = |(row, line): &(Row, &Line)| {
            let waited_ms = now_ms.saturating_sub(line.since_ms);
            let starves_from_ms = line.since_ms.saturating_add(wait_ms);
            waited_ms >= after_ms
                && !line.makes_progress
                // Otherwise no round names it.
                && line.is_ordered
                && !line.user_at_limit
                && !self.rest_until_ms.contains_key(&line.application)
                // What was placed may have been placed above a node's registered size.
                && (line.observed.is_so()
                    || waited_ms >= anyway_after_ms
                    || !self.placed.had_room_for(
                        waiting.label_of(*row),
                        line.request,
                        waiting.countables_of(*row),
                        starves_from_ms,
                    ))
        };
        let order =
            |(_, line): &(Row, &Line)| (Reverse(line.priority), line.since_ms, line.application);
        let (row, _) = waiting.lines().iter().enumerate().filter(is_stuck).min_by_key(order)?;
        Some(Owner::new(waiting, row))
    }

    /// The nodes behind the one kept last that have the label asked for, on which decisions are enforced, that stay in
    /// the cluster and are large enough. While none is known to have the countables in total, as after a restart: those
    /// that have some of each type, since a kept node shows how many it has.
    fn candidates(&self, nodes: &Nodes, owner: Owner<'_>) -> impl Iterator<Item = NodeId> {
        let Owner { line: Line { request, .. }, countables, label } = owner;
        let fits = move |entry: &NodeEntry| {
            &*entry.label == label
                && entry.is_enforced
                && !entry.is_draining
                && request.fits_into(entry.registered)
        };
        let is_large_enough =
            move |entry: &NodeEntry| fits(entry) && entry.countables.has(countables);
        let is_any_known = nodes.entries().any(is_large_enough);
        nodes
            .around(self.last.unwrap_or(NodeId(0)))
            .filter(move |(_, entry)| match is_any_known {
                true => is_large_enough(entry),
                false => fits(entry) && entry.countables.may_have(countables),
            })
            .map(|(id, _)| id)
            .take(NODES_COMPARED)
    }

    /// Keeps the candidate with the earliest planned start.
    fn keep_for(&mut self, owner: Owner<'_>, search: &mut KeptStartSearch<'_>) {
        let line = owner.line;
        let nodes: Vec<_> = self.candidates(&search.state.nodes, owner).collect();
        // No planned start sorts last; of equal starts the first node wins.
        let starts =
            nodes.into_iter().filter_map(|node| Some((node, search.planned_start(node, owner)?)));
        let earliest = starts.min_by_key(|(_, start_ms)| (start_ms.is_none(), *start_ms));
        let now_ms = search.now_ms;
        let Some((node, start_ms)) = earliest else {
            let wait_ms = search.settings.starvation_wait_ms;
            let until_ms = now_ms.saturating_add(wait_ms);
            self.rest_until_ms.insert(line.application, until_ms);
            return;
        };
        self.last = Some(node);
        self.kept = Some(KeptNode {
            node,
            application: line.application,
            start_ms,
            priority: line.priority,
            waiting_since_ms: line.since_ms,
            since_ms: now_ms,
            listed_ms: None,
        });
    }
}

/// The inputs of a planned start.
struct KeptStartSearch<'a> {
    settings: &'a ClusterSettings,
    peaks: Peaks,
    shares: &'a Shares,
    waiting: &'a WaitingTable,
    state: &'a mut State,
    now_ms: i64,
}

impl KeptStartSearch<'_> {
    /// The planned start on a node; none where the core does not decide about the node, or the owner's queue is at
    /// its maximum there, or its user at the limit.
    fn planned_start(&mut self, node: NodeId, owner: Owner<'_>) -> Option<Option<i64>> {
        let now_ms = self.now_ms;
        let application = owner.line.application;
        let Self { settings, shares, waiting, .. } = *self;
        let is_at_limit =
            at_limit(settings, shares, self.state, waiting, application, node).is_some();
        let entry = self.state.nodes.get_mut(node)?;
        if is_at_limit || !entry.is_decided(self.settings, now_ms) {
            return None;
        }
        if entry.countables.lacks(owner.countables) {
            return Some(None);
        }
        entry.plan.refresh_left(&mut entry.node, now_ms);
        let entry = self.state.nodes.get(node)?;
        Some(planned_start(self.state, entry, owner.line, self.peaks, now_ms))
    }
}

//! A node that is kept free for an application that would otherwise wait for ever, because smaller
//! ones keep taking what becomes free.
//!
//! An application is passed over by smaller ones where no container of its size was placed anywhere
//! while it starved. Where one was, it waits for its turn and not for room.
//!
//! While it is kept, others go there only if they are predicted to end before the application's
//! planned start (EASY backfilling: Lifka, "The ANL/IBM SP Scheduling System", JSSPP 1995; Mu'alem
//! and Feitelson, IEEE TPDS 12(6), 2001). A kept node filters the order of a round and nothing else.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Bound::{Excluded, Unbounded};

use super::Cluster;
use super::application::ApplicationId;
use super::node_entry::{NodeId, Request};
use super::waiting::Line;
use crate::slot_of;

/// An application that starves is named on each node with room by request, and each heartbeats about
/// once a second. One that still waits so much later needs a node to be kept.
const KEEP_AFTER_STARVING_MS: i64 = 10_000;

/// Sizes do not tell what an executor uses; whoever stands still for so many waits gets a node kept,
/// whatever was placed meanwhile.
const KEEP_ANYWAY_AFTER_WAITS: i64 = 60;

/// So many different sizes of containers are remembered, those that were placed last.
const SIZES_REMEMBERED: usize = 64;

/// What is kept is looked at so often.
const LOOK_EVERY_MS: i64 = 1_000;

/// Of so many nodes the one with the earliest planned start is kept.
const NODES_LOOKED_AT: usize = 16;

/// An application that may go to its node and does not in so long is kept away by what the core does
/// not know, such as labels, blacklists and locality.
const IN_VAIN_AFTER_MS: i64 = 10_000;

/// After a node was kept in vain, none is kept for the application for so many times as long.
const REST_AFTER_IN_VAIN: i64 = 10;

/// A node is kept for no longer than so many times the wait after which an application starves.
const LONGEST_IN_WAITS: i64 = 5;

/// The node that is kept, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptNode {
    /// The node.
    pub node: NodeId,
    /// The application that it is kept for.
    pub application: ApplicationId,
    /// When its next container goes there by plan; none where that takes the end of what has no
    /// predicted one.
    pub start_ms: Option<i64>,
    priority: i32,
    waiting_since_ms: i64,
    since_ms: i64,
    /// When the application was first named there.
    named_ms: Option<i64>,
}

impl KeptNode {
    /// Whether another one may go there: its YARN priority is higher, or it ends before the planned
    /// start. `life` is in slots; none without a predicted end.
    pub(super) fn lets(&self, line: &Line, life: Option<usize>, now_ms: i64) -> bool {
        let ends_before = |start_ms: i64| {
            let slots = slot_of(start_ms).saturating_sub(slot_of(now_ms));
            life.is_some_and(|life| i64::try_from(life).is_ok_and(|life| life <= slots))
        };
        line.application == self.application
            || line.priority > self.priority
            || self.start_ms.is_some_and(ends_before)
    }
}

/// What is kept, and for whom nothing is to be kept for now.
#[derive(Debug, Default)]
pub(super) struct Keeping {
    /// Nothing is ever kept.
    off: bool,
    kept: Option<KeptNode>,
    looked_ms: Option<i64>,
    /// The node that was kept last; others are looked for behind it.
    last: Option<NodeId>,
    rest_until_ms: HashMap<ApplicationId, i64>,
    /// When a container of a size was last placed.
    placed_ms: Vec<(Request, i64)>,
}

impl Keeping {
    fn is_due(&self, now_ms: i64) -> bool {
        // A clock that was put back must not stop the looks.
        self.looked_ms.is_none_or(|looked_ms| {
            now_ms < looked_ms || now_ms.saturating_sub(looked_ms) >= LOOK_EVERY_MS
        })
    }

    /// A container was placed.
    pub(super) fn placed(&mut self, request: Request, now_ms: i64) {
        if let Some((_, last_ms)) = self.placed_ms.iter_mut().find(|(size, _)| *size == request) {
            *last_ms = now_ms;
            return;
        }
        if self.placed_ms.len() == SIZES_REMEMBERED {
            let oldest = (0..SIZES_REMEMBERED).min_by_key(|i| self.placed_ms[*i].1);
            self.placed_ms.swap_remove(oldest.unwrap_or(0));
        }
        self.placed_ms.push((request, now_ms));
    }

    /// Whether a container of at least this size was placed after `since_ms`.
    fn had_room_for(&self, request: Request, since_ms: i64) -> bool {
        let mut placed = self.placed_ms.iter();
        placed.any(|(size, last_ms)| *last_ms > since_ms && request.fits_into(*size))
    }

    fn rest(&mut self, application: ApplicationId, until_ms: i64) {
        self.rest_until_ms.insert(application, until_ms);
    }
}

impl Cluster {
    /// From now on no node is kept free. A round then changes nothing but notes and passing, so that
    /// a simulation may leave out those in which nothing is placed.
    pub fn keep_no_nodes(&mut self) {
        self.keeping = Keeping {
            off: true,
            ..Keeping::default()
        };
    }

    /// The node that is kept free, if any.
    #[must_use]
    pub fn kept_node(&self) -> Option<KeptNode> {
        self.keeping
            .kept
            .filter(|kept| self.line_of(kept).is_some())
    }

    /// Looks at what is kept, if it is time to. Policies that go by what is booked alone keep nothing:
    /// they are there to compare with, and have no planned start.
    pub(super) fn keep_a_node(&mut self, now_ms: i64) {
        if self.keeping.off || !self.policy.depends_on_time() || !self.keeping.is_due(now_ms) {
            return;
        }
        self.keeping.looked_ms = Some(now_ms);
        if let Some(kept) = self.keeping.kept.take() {
            self.keeping.kept = self.still_kept(kept, now_ms);
        }
        if self.keeping.kept.is_none() {
            let rests = &mut self.keeping.rest_until_ms;
            rests.retain(|_, until_ms| *until_ms > now_ms);
            if let Some(line) = self.stuck_longest(now_ms) {
                self.keep_for(line, now_ms);
            }
        }
    }

    /// The node that is kept, where it is this one.
    pub(super) fn kept_here(&self, node: NodeId) -> Option<KeptNode> {
        self.kept_node().filter(|kept| kept.node == node)
    }

    /// These applications were named on a node.
    pub(super) fn named(&mut self, node: NodeId, named: &[ApplicationId], now_ms: i64) {
        if let Some(kept) = &mut self.keeping.kept
            && kept.node == node
            && named.contains(&kept.application)
        {
            kept.named_ms.get_or_insert(now_ms);
        }
    }

    /// What the application waits for, where it is still the container that the node is kept for.
    fn line_of(&self, kept: &KeptNode) -> Option<Line> {
        let row = self.applications.get(&kept.application)?.row?;
        let line = self.waiting.lines().get(row).copied();
        line.filter(|line| line.since_ms == kept.waiting_since_ms)
    }

    /// With a new planned start; none where it is not to be kept any longer.
    fn still_kept(&mut self, kept: KeptNode, now_ms: i64) -> Option<KeptNode> {
        let line = self.line_of(&kept)?;
        let kept_ms = now_ms.saturating_sub(kept.since_ms);
        let longest_ms = self
            .settings
            .starvation_wait_ms
            .saturating_mul(LONGEST_IN_WAITS);
        let in_vain = kept
            .named_ms
            .is_some_and(|named_ms| now_ms.saturating_sub(named_ms) >= IN_VAIN_AFTER_MS);
        if in_vain || kept_ms >= longest_ms {
            let times = if in_vain { REST_AFTER_IN_VAIN } else { 1 };
            let rest_ms = kept_ms.saturating_mul(times);
            self.keeping
                .rest(kept.application, now_ms.saturating_add(rest_ms));
            return None;
        }
        let start_ms = self.look_ahead(kept.node, &line, now_ms)?;
        let priority = line.priority;
        Some(KeptNode {
            start_ms,
            priority,
            ..kept
        })
    }

    /// Of those that starve and do not get on, the one that has waited longest, by priority first.
    fn stuck_longest(&self, now_ms: i64) -> Option<Line> {
        let wait_ms = self.settings.starvation_wait_ms;
        let after_ms = wait_ms.saturating_add(KEEP_AFTER_STARVING_MS);
        let anyway_after_ms = wait_ms.saturating_mul(KEEP_ANYWAY_AFTER_WAITS);
        let keeping = &self.keeping;
        let is_stuck = |line: &&Line| {
            let waited_ms = now_ms.saturating_sub(line.since_ms);
            let starves_from_ms = line.since_ms.saturating_add(wait_ms);
            waited_ms >= after_ms
                && !line.gets_on
                && !keeping.rest_until_ms.contains_key(&line.application)
                && (waited_ms >= anyway_after_ms
                    || !keeping.had_room_for(line.request, starves_from_ms))
        };
        let order = |line: &&Line| (Reverse(line.priority), line.since_ms, line.application);
        let stuck = self.waiting.lines().iter().filter(is_stuck);
        stuck.min_by_key(order).copied()
    }

    /// Keeps the node with the earliest planned start among those behind the one that was kept last.
    fn keep_for(&mut self, line: Line, now_ms: i64) {
        let after = self.keeping.last.unwrap_or(NodeId(0));
        let behind = self.nodes.range((Excluded(after), Unbounded));
        let nodes: Vec<_> = behind
            .chain(self.nodes.range(..=after))
            .filter(|(_, entry)| line.request.fits_into(entry.registered))
            .map(|(id, _)| *id)
            .take(NODES_LOOKED_AT)
            .collect();
        let mut best: Option<(NodeId, Option<i64>)> = None;
        for node in nodes {
            let Some(start_ms) = self.look_ahead(node, &line, now_ms) else {
                continue;
            };
            let is_earlier = |than: Option<i64>| match (start_ms, than) {
                (Some(start_ms), Some(than)) => start_ms < than,
                (start_ms, than) => start_ms.is_some() && than.is_none(),
            };
            if best.is_none_or(|(_, than)| is_earlier(than)) {
                best = Some((node, start_ms));
            }
        }
        let Some((node, start_ms)) = best else {
            let wait_ms = self.settings.starvation_wait_ms;
            self.keeping
                .rest(line.application, now_ms.saturating_add(wait_ms));
            return;
        };
        self.keeping.last = Some(node);
        self.keeping.kept = Some(KeptNode {
            node,
            application: line.application,
            start_ms,
            priority: line.priority,
            waiting_since_ms: line.since_ms,
            since_ms: now_ms,
            named_ms: None,
        });
    }

    /// The planned start on a node; none where the core does not decide about it.
    fn look_ahead(&mut self, node: NodeId, line: &Line, now_ms: i64) -> Option<Option<i64>> {
        if !self.decides(node, now_ms) {
            return None;
        }
        let entry = self.nodes.get_mut(&node)?;
        entry.plan.look_at_left(&mut entry.node, now_ms);
        let entry = self.nodes.get(&node)?;
        Some(self.planned_start(entry, line, now_ms))
    }
}

//! Whether an executor is better off on another node, and for how long it may wait for that node.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

use super::admission::Prospect;
use super::application::{Application, Ask};
use super::node_entry::{NodeEntry, NodeId};
use super::{ClusterSettings, decides};
use crate::available::Available;
use crate::delay::delay_ms;
use crate::policy::{Candidate, Policy};

/// As many other nodes are looked at in a round, those that follow in the order of registration;
/// with a few random ones the best is nearly as good as with all, and the cost stays bounded
/// (Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", IEEE TPDS 2001).
const NODES_LOOKED_AT: usize = 8;

/// An executor that has passed in vain takes what comes for so many times the wait that it lost.
const REST_AFTER_IN_VAIN: i64 = 10;

/// The other nodes as seen from one that heartbeats; they are computed when first asked for.
pub(super) struct Elsewhere<'a> {
    nodes: &'a BTreeMap<NodeId, NodeEntry>,
    here: NodeId,
    policy: &'a dyn Policy,
    settings: &'a ClusterSettings,
    now_ms: i64,
    others: Option<Vec<(NodeId, Available)>>,
}

/// A node that an executor had better wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Better {
    pub(super) node: NodeId,
    pub(super) gain_ms: i64,
}

impl<'a> Elsewhere<'a> {
    pub(super) fn new(
        nodes: &'a BTreeMap<NodeId, NodeEntry>,
        here: NodeId,
        policy: &'a dyn Policy,
        settings: &'a ClusterSettings,
        now_ms: i64,
    ) -> Self {
        Self {
            nodes,
            here,
            policy,
            settings,
            now_ms,
            others: None,
        }
    }

    /// The node that delays the executor least, if waiting for its heartbeat costs less than it
    /// gains: there the work has to be done sooner by more than the longest wait.
    pub(super) fn better(
        &mut self,
        application: &Application,
        ask: Ask,
        available_here: &Available,
        here: &Candidate<'_>,
    ) -> Option<Better> {
        let pass_ms = self.settings.pass_ms;
        if pass_ms == 0 {
            return None;
        }
        let delay_here_ms = delay_ms(available_here, here.demand);
        if delay_here_ms <= pass_ms {
            return None;
        }
        let (nodes, policy, now_ms) = (self.nodes, self.policy, self.now_ms);
        let virtual_cores_count = self.settings.virtual_cores_count;
        let predicted = application.demands.of(ask.application_master);
        let mut best: Option<Better> = None;
        for (node, available) in self.others() {
            let Some(entry) = nodes.get(node) else {
                continue;
            };
            if !ask.request.fits_into(entry.free(virtual_cores_count)) {
                continue;
            }
            let Ok(prospect) = Prospect::new(entry, predicted, ask.request) else {
                continue;
            };
            let there = prospect.candidate(here.waiting);
            let gain_ms = delay_here_ms - delay_ms(available, there.demand);
            if gain_ms > best.map_or(pass_ms, |best| best.gain_ms)
                && policy.fits(&entry.place(available, now_ms), &there).is_ok()
            {
                best = Some(Better {
                    node: *node,
                    gain_ms,
                });
            }
        }
        best
    }

    fn others(&mut self) -> &[(NodeId, Available)] {
        let (nodes, here, settings, now_ms) = (self.nodes, self.here, self.settings, self.now_ms);
        self.others.get_or_insert_with(|| {
            nodes
                .range((Excluded(here), Unbounded))
                .chain(nodes.range(..here))
                .take(NODES_LOOKED_AT)
                .filter(|(_, entry)| decides(settings, entry, now_ms))
                .map(|(id, entry)| (*id, entry.node.available(now_ms)))
                .collect()
        })
    }
}

impl Application {
    /// Whether it may still wait for a better node, and notes since when it does.
    pub(super) fn may_pass(&mut self, pass_ms: i64, now_ms: i64) -> bool {
        if now_ms < self.may_pass_from_ms {
            return false;
        }
        let since_ms = *self.passing_since_ms.get_or_insert(now_ms);
        if now_ms.saturating_sub(since_ms) < pass_ms {
            return true;
        }
        self.passing_since_ms = None;
        self.may_pass_from_ms = now_ms.saturating_add(pass_ms.saturating_mul(REST_AFTER_IN_VAIN));
        false
    }
}

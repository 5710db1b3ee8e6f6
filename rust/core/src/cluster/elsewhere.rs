//! Whether an executor is better off on another node, and for how long it may wait for that node.

use std::ops::Bound::{Excluded, Unbounded};

use super::Cluster;
use super::application::{Application, ApplicationId};
use super::node_entry::NodeId;
use super::prospect::{Judge, Prospect};
use crate::windows::WindowSet;

/// As many other nodes are looked at in a round, those that follow in the order of registration;
/// with a few random ones the best is nearly as good as with all, and the cost stays bounded
/// (Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", IEEE TPDS 2001).
const NODES_LOOKED_AT: usize = 8;

/// An executor that has passed in vain takes what comes for so many times the wait that it lost.
const REST_AFTER_IN_VAIN: i64 = 10;

/// The other nodes as seen from one that heartbeats; they are looked at when first asked for.
pub(super) struct Elsewhere {
    here: NodeId,
    now_ms: i64,
    others: Option<Vec<NodeId>>,
}

/// A node that an executor had better wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Better {
    pub(super) node: NodeId,
    pub(super) gain_ms: i64,
}

impl Elsewhere {
    pub(super) fn new(here: NodeId, now_ms: i64) -> Self {
        Self {
            here,
            now_ms,
            others: None,
        }
    }

    /// The node that delays the executor least, if waiting for its heartbeat costs less than it
    /// gains: there the work has to be done sooner by more than the longest wait. Here it is not
    /// delayed but in the windows given.
    pub(super) fn better(
        &mut self,
        cluster: &mut Cluster,
        application: ApplicationId,
        delayed_here_in: WindowSet,
    ) -> Option<Better> {
        let pass_ms = cluster.settings.pass_ms;
        let here = cluster.prospect(self.here, application, self.now_ms)?;
        let delay_here_ms = here.delay_ms(delayed_here_in);
        if delay_here_ms <= pass_ms {
            return None;
        }
        if self.others.is_none() {
            self.others = Some(self.look_at_others(cluster));
        }
        let request = cluster.applications.get(&application)?.waiting?.request;
        let virtual_cores_count = cluster.settings.virtual_cores_count;
        let mut best: Option<Better> = None;
        for node in self.others.iter().flatten() {
            if best.is_some_and(|best| best.gain_ms >= delay_here_ms) {
                break; // No node delays it by less than nothing.
            }
            let has_room = cluster
                .nodes
                .get(node)
                .is_some_and(|entry| request.fits_into(entry.free(virtual_cores_count)));
            if !has_room {
                continue;
            }
            let Some(prospect) = cluster.prospect(*node, application, self.now_ms) else {
                continue;
            };
            let gain_ms = delay_here_ms - prospect.delay_ms(WindowSet::ALL);
            if gain_ms > best.map_or(pass_ms, |best| best.gain_ms) && prospect.fits().is_ok() {
                best = Some(Better {
                    node: *node,
                    gain_ms,
                });
            }
        }
        best
    }

    fn look_at_others(&self, cluster: &mut Cluster) -> Vec<NodeId> {
        let others: Vec<_> = cluster
            .nodes
            .range((Excluded(self.here), Unbounded))
            .chain(cluster.nodes.range(..self.here))
            .take(NODES_LOOKED_AT)
            .map(|(id, _)| *id)
            .filter(|id| cluster.decides(*id, self.now_ms))
            .collect();
        let judge = Judge::of(cluster.policy.as_ref());
        for id in &others {
            if let Some(entry) = cluster.nodes.get_mut(id) {
                judge.look_at(entry, self.now_ms);
            }
        }
        others
    }
}

impl Cluster {
    /// The next container of an application on a node at which the policy has looked.
    pub(super) fn prospect(
        &self,
        node: NodeId,
        application: ApplicationId,
        now_ms: i64,
    ) -> Option<Prospect<'_>> {
        let entry = self.nodes.get(&node)?;
        let application = self.applications.get(&application)?;
        let ask = application.waiting?;
        Prospect::new(
            Judge::of(self.policy.as_ref()),
            entry,
            application.demands.of(ask.kind),
            ask.request,
            application.as_waiting(self.registered),
            now_ms,
        )
        .ok()
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

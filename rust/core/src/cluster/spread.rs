//! Executors of one application on one node, and which application goes there first so that they
//! are spread.
//!
//! Executors of one application do the same at the same time, so that on one node their peaks meet
//! and none fills what another leaves.

use std::collections::HashMap;

use super::Cluster;
use super::application::ApplicationId;
use super::contest::Rank;
use super::node_entry::NodeId;

/// How many containers each application has on each node; only where there are any.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    containers: HashMap<(NodeId, ApplicationId), u32>,
}

impl Stacks {
    pub(super) fn started(&mut self, node: NodeId, application: ApplicationId) {
        *self.containers.entry((node, application)).or_default() += 1;
    }

    pub(super) fn ended(&mut self, node: NodeId, application: ApplicationId) {
        if let Some(count) = self.containers.get_mut(&(node, application)) {
            *count -= 1;
            if *count == 0 {
                self.containers.remove(&(node, application));
            }
        }
    }

    fn on(&self, node: NodeId, application: ApplicationId) -> u32 {
        let count = self.containers.get(&(node, application));
        count.copied().unwrap_or(0)
    }
}

impl Cluster {
    /// Where the scores of the first few are close to the best one, those go first that have fewer
    /// containers here beyond an even share of theirs. `ranks` are in order.
    pub(super) fn spread(&self, node: NodeId, ranks: &mut [Rank]) {
        let Some(best) = ranks.first().copied() else {
            return;
        };
        let close = self.policy.close_scores();
        if close <= 0.0 {
            return;
        }
        let count = ranks.partition_point(|rank| rank.is_close_to(&best, close));
        if count > 1 {
            ranks[..count].sort_by_cached_key(|rank| self.stacked(node, rank.application));
        }
    }

    /// How many containers an application has here beyond its even share over all nodes.
    fn stacked(&self, node: NodeId, application: ApplicationId) -> u32 {
        let here = self.stacks.on(node, application);
        let running = self
            .applications
            .get(&application)
            .map_or(0, |application| application.running);
        let nodes = u32::try_from(self.nodes.len().max(1)).unwrap_or(u32::MAX);
        here.saturating_sub(running.div_ceil(nodes))
    }
}

//! Applications that rounds named in vain: CapacityScheduler skipped them for a reason that the core does not
//! know, such as a user limit, a node label, locality, a blacklist or a placement constraint.
//!
//! A skipped application rests on that node: rounds list it behind the others, so that it takes the place of
//! none that can start. The rest is short at first, because a skip may be a matter of seconds (CapacityScheduler
//! delays an application that prefers another node), and doubles with every further skip.

use std::collections::HashMap;

use crate::cluster::state::{ApplicationId, NodeId, Request};
use crate::cluster::waiting::{Line, WaitingTable};
use crate::container_kind::ContainerKind;

/// The first rest: about one heartbeat.
const FIRST_REST_MS: i64 = 1_000;

/// The longest rest.
const LONGEST_REST_MS: i64 = 16_000;

/// Number of applications remembered for each node; the rest that ends first is forgotten.
const REMEMBERED: usize = 256;

/// The skipped applications of each node.
#[derive(Debug, Default)]
pub(crate) struct Skips {
    by_node: HashMap<NodeId, Vec<Skip>>,
}

#[derive(Debug, Clone, Copy)]
struct Skip {
    application: ApplicationId,
    /// The ask that was skipped; another one begins anew.
    request: Request,
    kind: ContainerKind,
    rest_ms: i64,
    until_ms: i64,
}

impl Skip {
    fn is_of(&self, line: &Line) -> bool {
        self.request == line.request && self.kind == line.kind
    }

    /// Whether it still counts: for as long again as the rest, the next skip doubles it.
    fn is_remembered(&self, now_ms: i64) -> bool {
        // A clock set back ends the rest, too.
        (-self.rest_ms..=self.rest_ms).contains(&now_ms.saturating_sub(self.until_ms))
    }
}

impl Skips {
    /// CapacityScheduler skipped these applications on `node`.
    pub(crate) fn skipped(
        &mut self,
        node: NodeId,
        applications: &[ApplicationId],
        waiting: &WaitingTable,
        now_ms: i64,
    ) {
        let skips = self.by_node.entry(node).or_default();
        skips.retain(|skip| skip.is_remembered(now_ms));
        for application in applications.iter().take(REMEMBERED) {
            let Some(line) = waiting.line_of(*application) else {
                continue;
            };
            let former = skips.iter().position(|skip| skip.application == *application);
            let former = former.map(|index| skips.swap_remove(index));
            let rest_ms = match former.filter(|skip| skip.is_of(line)) {
                // Skipped during its rest, since nobody else took the node: not asked in its turn.
                Some(skip) if now_ms < skip.until_ms => skip.rest_ms,
                Some(skip) => skip.rest_ms.saturating_mul(2).min(LONGEST_REST_MS),
                None => FIRST_REST_MS,
            };
            if skips.len() == REMEMBERED {
                let first = (0..REMEMBERED).min_by_key(|index| skips[*index].until_ms);
                skips.swap_remove(first.unwrap_or(0));
            }
            skips.push(Skip {
                application: *application,
                request: line.request,
                kind: line.kind,
                rest_ms,
                until_ms: now_ms.saturating_add(rest_ms),
            });
        }
    }

    /// The applications that rest on `node`, sorted.
    pub(crate) fn resting(
        &self,
        node: NodeId,
        waiting: &WaitingTable,
        now_ms: i64,
    ) -> Vec<ApplicationId> {
        let Some(skips) = self.by_node.get(&node) else {
            return Vec::new();
        };
        let rests = |skip: &&Skip| {
            skip.is_remembered(now_ms)
                && now_ms < skip.until_ms
                && waiting.line_of(skip.application).is_some_and(|line| skip.is_of(line))
        };
        let mut resting: Vec<_> = skips.iter().filter(rests).map(|skip| skip.application).collect();
        resting.sort_unstable();
        resting
    }

    /// An application got a container on `node`.
    pub(crate) fn granted(&mut self, node: NodeId, application: ApplicationId) {
        if let Some(skips) = self.by_node.get_mut(&node) {
            skips.retain(|skip| skip.application != application);
        }
    }

    /// A node is gone.
    pub(crate) fn forget(&mut self, node: NodeId) {
        self.by_node.remove(&node);
    }
}

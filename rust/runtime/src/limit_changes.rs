//! The plans of a node's containers, and the latest changes of their limits.

mod amount;
#[cfg(test)]
mod cost;
mod known;
mod reason;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use elastane_core::cluster::{Cluster, NodeId};
use elastane_core::plan::{LIMIT_NAMES, PlanSettings, amounts};
use elastane_core::reprovision::Reprovisioned;
use elastane_protocol::{CanLimit, ContainerPlan, Limits, Reply, Report};
use serde::Serialize;

use amount::MaybeLimit;
use known::{KnownContainer, Now};
use reason::ChangeReason;

/// What the plan of each container has for now, and how that changed. A container takes less
/// than 450 bytes, and none where nothing was ever limited.
#[derive(Default)]
pub(crate) struct LimitChanges {
    by_node: HashMap<NodeId, KnownNode>,
}

struct KnownNode {
    last: LastReport,
    /// By container id, which is shared with the cluster. The values are boxed: a map that has just doubled is half empty,
    /// so an empty place has to be small.
    containers: HashMap<Arc<str>, Box<KnownContainer>>,
}

/// What counted for a node's containers at its last report.
#[derive(Clone, Copy)]
struct LastReport {
    at_ms: i64,
    settings: PlanSettings,
    can_limit: CanLimit,
    /// Whether the core decided about the node.
    decides: bool,
}

/// A limit that the plan changed by more than a tenth, set or lifted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LimitChange {
    at_ms: i64,
    from: MaybeLimit,
    to: MaybeLimit,
    /// In [`LIMIT_NAMES`].
    place: u8,
    reason: ChangeReason,
}

#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct LimitChangeDetails {
    at_ms: i64,
    limit: &'static str,
    /// None if it was not limited.
    from: Option<f64>,
    /// None if it is not limited any more.
    to: Option<f64>,
    why: String,
}

impl LimitChanges {
    /// The answer to a report, without executors that are to leave. `corrected` are the corrections that came with the
    /// report.
    pub(crate) fn reply(
        &mut self,
        cluster: &Cluster,
        settings: &PlanSettings,
        node: NodeId,
        report: &Report,
        corrected: &[Reprovisioned],
        now_ms: i64,
    ) -> Reply {
        let (acknowledged, valid_for_ms) = (report.sequence, settings.valid_for_ms);
        let mut reply =
            Reply { acknowledged, valid_for_ms, plans: Vec::new(), decommission: Vec::new() };
        let can_limit = report.can_limit;
        let decides = cluster.decides(node, now_ms);
        let this = LastReport { at_ms: now_ms, settings: *settings, can_limit, decides };
        let known = match self.by_node.entry(node) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(KnownNode { last: this, containers: HashMap::new() }),
        };
        known.end_what_ran_out(now_ms);
        let last = std::mem::replace(&mut known.last, this);
        // Nothing is limited unless the core decides about the node.
        let Some(limits) = cluster.limits_on(node).filter(|_| decides) else {
            for container in known.containers.values_mut() {
                container.not_decided(now_ms);
            }
            return reply;
        };
        for (id, container, limits) in limits.containers() {
            let steps = limits.steps(settings, can_limit, now_ms);
            let planned = steps.first().map_or(Limits::default(), |step| step.limits);
            let now = Now {
                last,
                this,
                planned: amounts(&planned),
                limits: &limits,
                started_ms: container.start_ms,
                correction: corrected.iter().rev().find(|it| *it.container == **id),
            };
            let factors = || cluster.corrected_by(id);
            match known.containers.get_mut(&**id) {
                Some(container) => container.go_on(&now, factors),
                None if now.is_limited() => {
                    let new = KnownContainer::begin(&now, in_force(report, id), factors());
                    known.containers.insert(Arc::clone(id), Box::new(new));
                }
                None => {}
            }
            if !steps.is_empty() {
                reply.plans.push(ContainerPlan { container: id.to_string(), steps });
            }
        }
        reply.plans.sort_unstable_by(|a, b| a.container.cmp(&b.container));
        reply
    }

    /// Of a container, newest first.
    pub(crate) fn of(&self, node: NodeId, container: &str) -> Vec<LimitChange> {
        let known = self.by_node.get(&node).and_then(|node| node.containers.get(container));
        known.map(|it| it.changes().collect()).unwrap_or_default()
    }

    pub(crate) fn finished(&mut self, node: NodeId, container: &str) {
        if let Some(node) = self.by_node.get_mut(&node) {
            node.containers.remove(container);
        }
    }

    pub(crate) fn node_removed(&mut self, node: NodeId) {
        self.by_node.remove(&node);
    }
}

impl KnownNode {
    /// What an agent lifts by itself while no reply reaches it.
    fn end_what_ran_out(&mut self, now_ms: i64) {
        let ran_out_ms = self.last.runs_out_ms();
        if ran_out_ms < now_ms {
            for container in self.containers.values_mut() {
                container.lift(ran_out_ms, ChangeReason::PlanRanOut);
            }
        }
    }
}

impl LastReport {
    /// When the plan in answer to it runs out.
    fn runs_out_ms(&self) -> i64 {
        self.at_ms.saturating_add(i64::from(self.settings.valid_for_ms))
    }
}

impl LimitChange {
    pub(crate) fn details(&self) -> LimitChangeDetails {
        let limit = LIMIT_NAMES.get(usize::from(self.place)).copied().unwrap_or_default();
        // To six decimals, as 32 bits hold no 0.8.
        let amount = |amount: f32| (f64::from(amount) * 1e6).round() / 1e6;
        LimitChangeDetails {
            at_ms: self.at_ms,
            limit,
            from: self.from.amount().map(amount),
            to: self.to.amount().map(amount),
            why: self.reason.words(),
        }
    }
}

fn in_force(report: &Report, container: &str) -> Option<Limits> {
    report.containers.iter().find(|it| it.container == container)?.limits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So that 100,000 containers take at most 45 MB, as docs/rest.md says.
    #[test]
    fn a_container_with_all_its_changes_takes_less_than_450_bytes() {
        // Of the id there is one copy, the cluster's. A map doubles as it grows, so that half of it may be free.
        let entry_bytes = 2 * (size_of::<Arc<str>>() + size_of::<Box<KnownContainer>>());
        let changes_bytes = known::KEPT * size_of::<LimitChange>();
        let all_bytes = entry_bytes + size_of::<KnownContainer>() + changes_bytes;
        assert!(all_bytes < 450, "{all_bytes}");
    }
}

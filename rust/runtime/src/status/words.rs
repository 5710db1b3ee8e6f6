//! Why an application waits, in words.

use std::collections::HashMap;

use elastane_core::cluster::{ApplicationId, Ask, KeptNode, NodeId, PlannedStart, WaitReason};

use super::PlannedStartStatus;

/// Names for the words.
pub(super) struct Words<'a> {
    pub(super) now_ms: i64,
    pub(super) nodes: HashMap<NodeId, &'a str>,
    pub(super) applications: &'a HashMap<ApplicationId, String>,
    /// The most memory that can still be booked on one node; none without nodes.
    pub(super) most_free_bytes: Option<u64>,
}

impl Words<'_> {
    pub(super) fn node(&self, node: NodeId) -> &str {
        self.nodes.get(&node).copied().unwrap_or("a node that is gone")
    }

    fn application(&self, application: ApplicationId) -> &str {
        self.applications.get(&application).map_or("an application that is gone", String::as_str)
    }

    pub(super) fn planned(&self, start: PlannedStart) -> PlannedStartStatus {
        let from_now = |at_ms: i64| (at_ms - self.now_ms).max(0);
        PlannedStartStatus {
            node: self.node(start.node).to_owned(),
            in_ms: from_now(start.first_ms),
            last_in_ms: from_now(start.last_ms),
            containers: start.containers,
        }
    }

    pub(super) fn reason(&self, why: Option<WaitReason>, ask: &Ask) -> String {
        let Some(why) = why else {
            return self.without_a_note(ask);
        };
        let (at, reason) = match why {
            WaitReason::Held => {
                return "CapacityScheduler does not let it start: the application masters of its queue or \
                        its user are at their limit (maximum-am-resource-percent), or too many \
                        applications run (max-parallel-apps)"
                    .to_owned();
            }
            WaitReason::NoFit { node, excess: Some(excess), .. } => (node, excess.to_string()),
            WaitReason::NoFit { node, resource, .. } => {
                let resource = resource.name();
                (node, format!("{resource} was short when last asked, and is not now"))
            }
            WaitReason::Behind { node, behind } => {
                let first = self.application(behind);
                (node, format!("it would delay the planned start of {first}, which goes first"))
            }
            WaitReason::Kept(kept) => {
                let (other, start) = (self.application(kept.application), self.start(&kept));
                (kept.node, format!("kept for {other}, {start}"))
            }
            WaitReason::Skipped { node } => {
                let by_now = match self.too_little_bytes(ask) {
                    Some(_) => "; by now all nodes are booked",
                    None => "",
                };
                let reason = format!(
                    "it fits, and CapacityScheduler skipped it: a user limit, a node label, locality, a \
                     blacklist or a placement constraint{by_now}"
                );
                (node, reason)
            }
            WaitReason::AtMaximum { node } => {
                (node, "its queue is at its maximum capacity by demand".to_owned())
            }
            WaitReason::UserAtLimit { node } => {
                (node, "its user is at its limit in the queue by demand".to_owned())
            }
            WaitReason::Yields { node } => (
                node,
                "its queue has its guarantee, and another queue waits for its own".to_owned(),
            ),
            WaitReason::Observed { node } => (
                node,
                "it or its queue is in mode observe, and the node's size is booked".to_owned(),
            ),
            WaitReason::Keeps(kept) => (kept.node, format!("kept for it, {}", self.start(&kept))),
        };
        format!("{}: {reason}", self.node(at))
    }

    /// False if the node lacks nothing any more, and no node has room for the request now.
    pub(super) fn still_holds(&self, why: &WaitReason, ask: &Ask) -> bool {
        let lacks_nothing = matches!(why, WaitReason::NoFit { excess: None, .. });
        !(lacks_nothing && self.too_little_bytes(ask).is_some())
    }

    /// The most memory that can still be booked on one node, where that is less than the request.
    fn too_little_bytes(&self, ask: &Ask) -> Option<u64> {
        self.most_free_bytes.filter(|free| *free < ask.request.memory_bytes)
    }

    /// No round has asked for it, or all nodes are booked since.
    fn without_a_note(&self, ask: &Ask) -> String {
        match self.too_little_bytes(ask) {
            Some(free) => {
                let mib = |bytes: u64| bytes >> 20;
                format!(
                    "all nodes are booked: its next container requests {} MiB, and no node has more than {} MiB \
                     to book",
                    mib(ask.request.memory_bytes),
                    mib(free)
                )
            }
            None => "no node had free space by request, or none was asked yet".to_owned(),
        }
    }

    fn start(&self, kept: &KeptNode) -> String {
        match kept.start_ms {
            Some(start_ms) => {
                let seconds = (start_ms - self.now_ms).max(0) as f64 / 1e3;
                format!("which by plan goes there in {seconds:.1} s")
            }
            None => {
                "which goes there when what runs there without a predicted end has ended".to_owned()
            }
        }
    }
}

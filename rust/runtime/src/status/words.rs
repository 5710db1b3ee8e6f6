//! Why an application waits, in words.

use std::collections::HashMap;

use elastane_core::cluster::{
    ApplicationId, Ask, KeptNode, LimitUse, NodeId, Observed, PlannedStart, WaitReason,
};

use super::limit_words::words_of;
use super::{PlannedStartStatus, WaitingSnapshot};

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

    /// `why` and `observed` are those that count, of what the core says of `waiting`.
    pub(super) fn reason(
        &self,
        why: Option<WaitReason>,
        waiting: &WaitingSnapshot,
        observed: Observed,
    ) -> String {
        let WaitingSnapshot { ask, limit, user, queue, .. } = waiting;
        let Some(why) = why else {
            let reason = self.without_a_note(ask);
            return match observed.is_so() {
                // Rounds ask nothing about a node without unbooked capacity.
                true => format!(
                    "{reason}; no node is raised for it, since it is in mode observe, set by {}",
                    observed.by()
                ),
                false => reason,
            };
        };
        if let (Some(limit), Some(node)) = (limit.as_ref(), why.node()) {
            return format!("{}: {}", self.node(node), words_of(limit, self.now_ms));
        }
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
                let reason = format!(
                    "{resource} was short at the latest check and is available now; the node's \
                     next heartbeat checks again"
                );
                (node, reason)
            }
            WaitReason::Behind { node, behind } => {
                let first = self.application(behind);
                (node, format!("it would delay the planned start of {first}, which goes first"))
            }
            WaitReason::Kept(kept) => {
                let (other, start) = (self.application(kept.application), self.start(&kept));
                (kept.node, format!("the node is kept for {other}, {start}"))
            }
            WaitReason::UserAtCapacityLimit { .. } => {
                return format!(
                    "CapacityScheduler gives user {user} nothing more in queue {queue}: the user is at its \
                     limit (minimum-user-limit-percent, user-limit-factor){}",
                    self.by_now(ask)
                );
            }
            WaitReason::Skipped { node } => {
                let by_now = self.by_now(ask);
                let reason = format!(
                    "it fits, and CapacityScheduler skipped it: a user limit, a node label, locality, a \
                     blacklist or a placement constraint{by_now}"
                );
                (node, reason)
            }
            WaitReason::AtMaximum { node } => {
                (node, holds_no_longer("its queue or one above was at its maximum"))
            }
            WaitReason::UserAtLimit { node } => {
                (node, holds_no_longer("its user was at its limit in the queue"))
            }
            WaitReason::Yields { node } => {
                (node, holds_no_longer("another queue waited for its guarantee and went first"))
            }
            WaitReason::RegisteredOnly { node, .. } => {
                (node, holds_no_longer("the node's registered size was booked"))
            }
            WaitReason::Keeps(kept) => {
                (kept.node, format!("the node is kept for it, {}", self.start(&kept)))
            }
        };
        format!("{}: {reason}", self.node(at))
    }

    /// False if the node lacks nothing any more and no limit holds, and no node has room for the request now.
    pub(super) fn still_holds(
        &self,
        why: &WaitReason,
        limit: Option<&LimitUse>,
        ask: &Ask,
    ) -> bool {
        let lacks_nothing = match why {
            WaitReason::NoFit { excess, .. } => excess.is_none(),
            why => is_limit(why) && limit.is_none(),
        };
        !(lacks_nothing && self.too_little_bytes(ask).is_some())
    }

    /// What is added to a reason that was found while a node had room.
    fn by_now(&self, ask: &Ask) -> &'static str {
        match self.too_little_bytes(ask) {
            Some(_) => "; by now all nodes are booked",
            None => "",
        }
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
            None => {
                let reason = "not checked yet: no node that sent a heartbeat since it asked had \
                              unbooked capacity for its request";
                reason.to_owned()
            }
        }
    }

    fn start(&self, kept: &KeptNode) -> String {
        match kept.start_ms {
            Some(start_ms) => {
                let seconds = (start_ms - self.now_ms).max(0) as f64 / 1e3;
                format!("planned to start there in {seconds:.1} s")
            }
            None => "to start there after containers that have no predicted end".to_owned(),
        }
    }
}

/// Whether a reason is a limit, which has amounts while it holds.
pub(super) fn is_limit(why: &WaitReason) -> bool {
    match why {
        WaitReason::AtMaximum { .. }
        | WaitReason::UserAtLimit { .. }
        | WaitReason::Yields { .. }
        | WaitReason::RegisteredOnly { .. } => true,
        WaitReason::NoFit { .. }
        | WaitReason::Behind { .. }
        | WaitReason::Skipped { .. }
        | WaitReason::UserAtCapacityLimit { .. }
        | WaitReason::Kept(_)
        | WaitReason::Keeps(_)
        | WaitReason::Held => false,
    }
}

fn holds_no_longer(was: &str) -> String {
    format!(
        "{was} at the latest check, which holds no longer; the node's next heartbeat checks again"
    )
}

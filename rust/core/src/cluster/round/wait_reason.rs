//! Why an application waits, worked out on demand.

use crate::cluster::Cluster;
use crate::cluster::patience::KeptNode;
use crate::cluster::ranking::{Judge, Prospect};
use crate::cluster::state::{ApplicationId, NodeId, RegisteredOnly};
use crate::cluster::waiting::Note;
use crate::fit::Excess;
use crate::resources::Resource;

/// Why an application's next container was not placed at the latest check.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WaitReason {
    /// It does not fit.
    NoFit {
        /// The node that was checked.
        node: NodeId,
        /// The first resource that lacked.
        resource: Resource,
        /// The excess there now; none if the container would fit now, or the node is gone.
        excess: Option<Excess>,
    },
    /// It fits, and would delay the planned start of an application that goes first.
    Behind {
        /// The node that was checked.
        node: NodeId,
        /// The application that goes first.
        behind: ApplicationId,
    },
    /// It fits, and CapacityScheduler skipped it for a reason that the core does not know.
    Skipped {
        /// The node that was checked.
        node: NodeId,
    },
    /// CapacityScheduler gives its user nothing more in the queue, on any node without a label.
    UserAtCapacityLimit {
        /// The node that was checked.
        node: NodeId,
    },
    /// The node that was checked is kept for another application.
    Kept(KeptNode),
    /// It starves, and a node is kept for it.
    Keeps(KeptNode),
    /// It fits, and its queue or one above is at its maximum capacity by demand, or at its ceiling by request.
    AtMaximum {
        /// The node that was checked.
        node: NodeId,
    },
    /// It fits, and its user is above its limit in the queue by request and by demand.
    UserAtLimit {
        /// The node that was checked.
        node: NodeId,
    },
    /// It fits, above the node's registered size; its queue has its guarantee, and another queue waits for its own.
    Yields {
        /// The node that was checked.
        node: NodeId,
    },
    /// It fits, above the node's registered size, where it may not start.
    RegisteredOnly {
        /// The node that was checked.
        node: NodeId,
        /// Why it may not.
        why: RegisteredOnly,
    },
    /// Its queue does not let it start yet: a limit of application masters or of parallel applications.
    Held,
}

impl WaitReason {
    /// The node that was checked, or is kept.
    pub fn node(&self) -> Option<NodeId> {
        match self {
            Self::NoFit { node, .. }
            | Self::Behind { node, .. }
            | Self::Skipped { node }
            | Self::UserAtCapacityLimit { node }
            | Self::AtMaximum { node }
            | Self::UserAtLimit { node }
            | Self::Yields { node }
            | Self::RegisteredOnly { node, .. } => Some(*node),
            Self::Kept(kept) | Self::Keeps(kept) => Some(kept.node),
            Self::Held => None,
        }
    }
}

/// Why an application's next container was not placed at the latest check; none when it waits for
/// nothing, or was not refused.
pub(crate) fn wait_reason(
    cluster: &mut Cluster,
    application: ApplicationId,
    now_ms: i64,
) -> Option<WaitReason> {
    let Cluster { policy, state, waiting, keeper, .. } = cluster;
    if state.applications.get(&application)?.held.is_some() {
        return Some(WaitReason::Held);
    }
    let note = waiting.note_of(application)?;
    if let Some(kept) = keeper.kept(waiting)
        && kept.application == application
    {
        return Some(WaitReason::Keeps(kept));
    }
    match note {
        Note::None => None,
        Note::Behind { node, behind } => Some(WaitReason::Behind { node, behind }),
        Note::Skipped { node } => Some(WaitReason::Skipped { node }),
        Note::UserAtCapacityLimit { node } => Some(WaitReason::UserAtCapacityLimit { node }),
        Note::Kept { node } => {
            keeper.kept(waiting).filter(|kept| kept.node == node).map(WaitReason::Kept)
        }
        Note::AtMaximum { node } => Some(WaitReason::AtMaximum { node }),
        Note::UserAtLimit { node } => Some(WaitReason::UserAtLimit { node }),
        Note::Yields { node } => Some(WaitReason::Yields { node }),
        Note::RegisteredOnly { node, why } => Some(WaitReason::RegisteredOnly { node, why }),
        Note::NoFit { node, resource } => {
            let judge = Judge::of(policy.as_ref());
            if let Some(entry) = state.nodes.get_mut(node) {
                judge.refresh(entry, now_ms);
            }
            let prospect = Prospect::next_of(judge, state, node, application, now_ms);
            Some(WaitReason::NoFit {
                node,
                resource,
                excess: prospect.and_then(|prospect| prospect.fits().err()),
            })
        }
    }
}

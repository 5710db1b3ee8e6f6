//! A change of a node's bookable capacity, and why it is made.

use super::growth::BookableRatio;
use crate::ids::NodeId;

/// A node whose bookable capacity has to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BookableChange {
    /// The node that is resized.
    pub node: NodeId,
    /// Bookable over registered size until now.
    pub from: BookableRatio,
    /// Bookable over registered size from now on.
    pub ratio: BookableRatio,
    /// What caused the change; [`BookableChange::reason`] has it in words.
    pub because: Resized,
}

/// Why the bookable capacity of a node changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resized {
    /// What it holds, and what waits, needs more room or less.
    ByDemand,
    /// It was short of memory a short time ago: what ends leaves no room above its registered size.
    ShortOfMemory,
    /// Its agent does not report.
    Unreported,
    /// A queue waits for its guarantee, and the preemption monitor takes nothing back for it: it is shown less than is
    /// booked, until it does.
    GuaranteeOverdue,
    /// No node of its label may be raised, or none at all.
    Forbidden,
    /// Mode `enforce` was left.
    NotEnforced,
}

impl BookableChange {
    /// Why, in words.
    pub fn reason(&self) -> &'static str {
        match (self.because, self.ratio.is_raised()) {
            (Resized::ByDemand, true) => {
                "the predicted use of its containers leaves room above the registered size"
            }
            (Resized::ByDemand, false) => {
                "the predicted use of its containers leaves no room above the registered size"
            }
            (Resized::ShortOfMemory, _) => "it was short of memory within the last five minutes",
            (Resized::Unreported, _) => "its agent does not report",
            (Resized::GuaranteeOverdue, _) => {
                "a queue waits for its guarantee and nothing is preempted for it, so the node \
                 offers less"
            }
            (Resized::Forbidden, _) => {
                "its label is not exclusive, or CapacityScheduler would place containers there \
                 without Elastane's order"
            }
            (Resized::NotEnforced, _) => "the node is no longer in mode enforce",
        }
    }
}

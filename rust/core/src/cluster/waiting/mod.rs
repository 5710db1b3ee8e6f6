//! The waiting applications, and the columns precomputed for them.

mod demand_sums;
mod queue_numbers;
mod screen;
mod table;

pub(crate) use demand_sums::DemandSumsAround;
pub(crate) use screen::{Outline, Screen};
pub(crate) use table::{Known, Screened, WaitingTable};

use crate::cluster::state::{ApplicationId, NodeId, Observed, RegisteredOnly, Request};
use crate::container_kind::ContainerKind;
use crate::resources::Resource;

/// The index of a row. The last row takes the place of a removed one.
pub(crate) type Row = usize;

/// The part of a waiting application that a round reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    pub(crate) request: Request,
    pub(crate) since_ms: i64,
    /// When its application has to be done; none without a deadline.
    pub(crate) deadline_ms: Option<i64>,
    /// The queue's number in the waiting table.
    pub(crate) queue: u32,
    pub(crate) application: ApplicationId,
    pub(crate) priority: i32,
    pub(crate) kind: ContainerKind,
    /// Since when CapacityScheduler skips it without having placed it anywhere.
    pub(crate) skipped_since_ms: Option<i64>,
    /// Number of containers that it waits for.
    pub(crate) executors: u32,
    /// See [`Application::makes_progress`](crate::cluster::Application::makes_progress).
    pub(crate) makes_progress: bool,
    /// Whether rounds order its queue.
    pub(crate) is_ordered: bool,
    /// What keeps its application in observe.
    pub(crate) observed: Observed,
    /// Whether the next container asks for [`Countables`](crate::cluster::Countables).
    pub(crate) asks_countables: bool,
    /// Whether the next container asks for nodes with a label.
    pub(crate) asks_label: bool,
    /// See [`WaitingTable::mark_users_at_limit`].
    pub(crate) user_at_limit: bool,
}

/// Why a row's next container was not placed at the latest check: as much as a round can afford to
/// write. The words are made on demand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Note {
    /// Not checked, or not refused.
    None,
    /// It does not fit.
    NoFit { node: NodeId, resource: Resource },
    /// It fits, and would delay the planned start of the application `behind`.
    Behind { node: NodeId, behind: ApplicationId },
    /// The node is kept for another application.
    Kept { node: NodeId },
    /// It fits, and its queue or one above is at its maximum capacity by demand, or at its ceiling by request.
    AtMaximum { node: NodeId },
    /// It fits, and its user is above its limit in the queue by request and by demand.
    UserAtLimit { node: NodeId },
    /// It fits, above the node's registered size; its queue has its guarantee, and another queue waits for its own.
    Yields { node: NodeId },
    /// The node's registered size is booked, and it may not start above that.
    RegisteredOnly { node: NodeId, why: RegisteredOnly },
    /// It was named, and CapacityScheduler skipped it.
    Skipped { node: NodeId },
    /// It was not named: CapacityScheduler gives its user nothing more in the queue.
    UserAtCapacityLimit { node: NodeId },
}

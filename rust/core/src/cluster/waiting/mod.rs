//! The waiting applications, and the columns precomputed for them.

mod demand_sums;
mod notes;
mod screen;
mod table;

pub(crate) use demand_sums::DemandSumsAround;
pub(crate) use notes::Note;
pub(crate) use screen::{Life, Outline, Screen};
pub(crate) use table::{Screened, WaitingTable};

use crate::cluster::state::{ApplicationId, Request};
use crate::container_kind::ContainerKind;

/// The index of a row. The last row takes the place of a removed one.
pub(crate) type Row = usize;

/// The part of a waiting application that a round reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    pub(crate) request: Request,
    pub(crate) since_ms: i64,
    /// The queue's number in the waiting table.
    pub(crate) queue: u32,
    pub(crate) application: ApplicationId,
    pub(crate) priority: i32,
    pub(crate) kind: ContainerKind,
    /// Since when a round lists it first of its queue without placing it.
    pub(crate) listed_first_since_ms: Option<i64>,
    /// Number of containers that it waits for.
    pub(crate) executors: u32,
    /// See [`Application::makes_progress`](crate::cluster::Application::makes_progress).
    pub(crate) makes_progress: bool,
}

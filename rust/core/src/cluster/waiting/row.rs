//! One application that waits, in the form that a round reads.

use crate::cluster::state::{ApplicationId, Request};
use crate::container_kind::ContainerKind;

/// The number of a row. The last row takes the place of one that is removed.
pub(crate) type Row = usize;

/// What a round reads of every application that waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    pub(crate) request: Request,
    pub(crate) since_ms: i64,
    /// Its number in this table.
    pub(crate) queue: u32,
    pub(crate) application: ApplicationId,
    pub(crate) priority: i32,
    pub(crate) kind: ContainerKind,
    /// Since when it is named first and not placed.
    pub(crate) named_first_since_ms: Option<i64>,
    /// How many containers it waits for.
    pub(crate) executors: u32,
    /// See [`Application::gets_on`](crate::cluster::Application::gets_on).
    pub(crate) gets_on: bool,
}

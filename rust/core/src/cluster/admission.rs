//! Admission: whether the next container of an application may go to a node.

use std::fmt;

use super::ClusterSettings;
use super::application::Application;
use super::node_entry::{NodeEntry, Request};
use crate::demand::DemandError;
use crate::fit::Excess;

/// Why the core has a container go to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admitted {
    /// Its demand fits over time.
    Fits,
    /// It waited too long, and the node has free space by request.
    Starving,
}

/// Why a container must not go to a node now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Refusal {
    /// Its demand does not fit.
    Excess(Excess),
    /// Its demand is none, such as a size that is not a number.
    Demand(DemandError),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Excess(excess) => excess.fmt(f),
            Refusal::Demand(error) => error.fmt(f),
        }
    }
}

/// Nobody starves: past a bounded wait an application passes as CapacityScheduler would have it,
/// where free space by request exists.
pub(super) fn admit(
    fit: Result<(), Excess>,
    settings: &ClusterSettings,
    entry: &NodeEntry,
    application: &Application,
    request: Request,
    now_ms: i64,
) -> Result<Admitted, Excess> {
    let starves = || {
        application.waiting.is_some()
            && application.waited_ms(now_ms) >= settings.starvation_wait_ms
            && entry.has_room_by_request(request)
    };
    match fit {
        Ok(()) => Ok(Admitted::Fits),
        Err(_) if starves() => Ok(Admitted::Starving),
        Err(excess) => Err(excess),
    }
}

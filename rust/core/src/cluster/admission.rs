//! Admission: whether the next container of an application may go to a node.

use std::fmt;

use super::ClusterSettings;
use super::application::Application;
use super::node_entry::{NodeEntry, Request};
use super::prospect::Prospect;
use crate::amounts::Amounts;
use crate::demand::DemandError;
use crate::fit::{Excess, Peaks};
use crate::resources::Resource;

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

/// An application that gets on and starves is put off no longer than so many waits.
const PUT_OFF_FOR_WAITS: i64 = 5;

/// How long an application has waited for its next container, and whether it gets on without it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wait {
    pub(super) waited_ms: i64,
    /// See [`Application::gets_on`].
    pub(super) gets_on: bool,
}

impl Wait {
    fn of(application: &Application, now_ms: i64) -> Option<Self> {
        application.waiting.map(|_| Self {
            waited_ms: application.waited_ms(now_ms),
            gets_on: application.gets_on(),
        })
    }

    /// Whether it passes although its demand does not fit: past a bounded wait an application passes
    /// as CapacityScheduler would have it, where free space by request exists. One that gets on is
    /// put off while of something that it will use nothing is left on the node: what comes then only
    /// takes from those that run.
    #[inline]
    pub(super) fn passes(
        self,
        settings: &ClusterSettings,
        has_room_by_request: impl FnOnce() -> bool,
        finds_some_left: impl FnOnce() -> bool,
    ) -> bool {
        let wait_ms = settings.starvation_wait_ms;
        self.waited_ms >= wait_ms
            && has_room_by_request()
            && (!self.gets_on
                || self.waited_ms >= wait_ms.saturating_mul(PUT_OFF_FOR_WAITS)
                || finds_some_left())
    }
}

/// Whether something is left now of each resource that an executor with this demand will use and
/// that it could wait for; memory that is booked by request is there. Where peaks may meet it is no
/// question of now.
pub(super) fn finds_some_left(left_now: Amounts, demanded: Amounts, peaks: Peaks) -> bool {
    let some_left = |resource| demanded.get(resource) == 0 || left_now.get(resource) > 0;
    peaks == Peaks::Stretch || Resource::FLOWS.into_iter().all(some_left)
}

/// Whether the next container of an application may go to a node, at which its judge has looked.
pub(super) fn admit(
    prospect: &Prospect<'_>,
    settings: &ClusterSettings,
    entry: &NodeEntry,
    application: &Application,
    request: Request,
    now_ms: i64,
) -> Result<Admitted, Excess> {
    let passes = |wait: Wait| {
        wait.passes(
            settings,
            || entry.has_room_by_request(request),
            || prospect.finds_some_left(),
        )
    };
    match prospect.fits() {
        Ok(()) => Ok(Admitted::Fits),
        Err(_) if Wait::of(application, now_ms).is_some_and(passes) => Ok(Admitted::Starving),
        Err(excess) => Err(excess),
    }
}

//! No starvation: past a bounded wait an application goes where it has room by request.

use crate::cluster::ranking::Prospect;
use crate::cluster::settings::ClusterSettings;
use crate::cluster::state::{Application, NodeEntry, PlacedReason, Request};
use crate::fit::Excess;
use crate::resources::Resource;

/// A starving application that makes progress is put off for at most this many starvation waits.
const PUT_OFF_FOR_WAITS: i64 = 5;

/// How long an application has waited for its next container, and whether it makes progress meanwhile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    pub(crate) waited_ms: i64,
    /// See [`Application::makes_progress`].
    pub(crate) makes_progress: bool,
}

impl Wait {
    fn of(application: &Application, now_ms: i64) -> Option<Self> {
        application.waiting.map(|_| Self {
            waited_ms: now_ms.saturating_sub(application.waiting_since_ms),
            makes_progress: application.makes_progress(),
        })
    }

    /// Whether the application may go although its demand does not fit. Past the starvation wait
    /// CapacityScheduler's rule applies: room by request. An application that makes progress is put off while a
    /// resource that its next executor will use is exhausted: that executor would only slow the running ones.
    #[inline]
    pub(crate) fn is_admitted_by_request(
        self,
        settings: &ClusterSettings,
        has_room_by_request: impl FnOnce() -> bool,
        some_of_each_left: impl FnOnce() -> bool,
    ) -> bool {
        let wait_ms = settings.starvation_wait_ms;
        self.waited_ms >= wait_ms
            && has_room_by_request()
            && (!self.makes_progress
                || self.waited_ms >= wait_ms.saturating_mul(PUT_OFF_FOR_WAITS)
                || some_of_each_left())
    }
}

/// Whether a container may go to a node that its judge has refreshed. Where its queue is owed what it lacks
/// ([`Shares::owed`](crate::cluster::bookable::Shares::owed)), it needs room by request alone.
pub(crate) fn admit(
    prospect: &Prospect<'_>,
    settings: &ClusterSettings,
    entry: &NodeEntry,
    application: &Application,
    request: Request,
    owed: impl FnOnce(Resource) -> Option<PlacedReason>,
    now_ms: i64,
) -> Result<PlacedReason, Excess> {
    let is_admitted_by_request = |wait: Wait| {
        wait.is_admitted_by_request(
            settings,
            || entry.has_room_by_request(request),
            || prospect.some_of_each_left(),
        )
    };
    let Err(excess) = prospect.fits() else {
        return Ok(PlacedReason::Fits);
    };
    let lacking = excess.resource;
    let owed = if entry.has_room_by_request(request) { owed(lacking) } else { None };
    match owed {
        Some(PlacedReason::Owed) => Ok(PlacedReason::Owed),
        _ if Wait::of(application, now_ms).is_some_and(is_admitted_by_request) => {
            Ok(PlacedReason::Starving)
        }
        Some(reason) if prospect.fits_but_for(lacking) => Ok(reason),
        _ => Err(excess),
    }
}

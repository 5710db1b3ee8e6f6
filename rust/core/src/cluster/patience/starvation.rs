//! Nobody starves: past a bounded wait an application goes where there is room by request.

use crate::cluster::ranking::Prospect;
use crate::cluster::settings::ClusterSettings;
use crate::cluster::state::{Application, NodeEntry, PlacedReason, Request};
use crate::fit::Excess;

/// Why the core has a container go to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admitted {
    /// Its demand fits over time.
    Fits,
    /// It waited too long, and the node has free space by request.
    Starving,
}

impl From<Admitted> for PlacedReason {
    fn from(admitted: Admitted) -> Self {
        match admitted {
            Admitted::Fits => PlacedReason::Fits,
            Admitted::Starving => PlacedReason::Starving,
        }
    }
}

/// A starving application of which executors run is put off for at most this many starvation waits.
const PUT_OFF_FOR_WAITS: i64 = 5;

/// How long an application has waited for its next container, and whether it gets on without it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    pub(crate) waited_ms: i64,
    /// See [`Application::gets_on`].
    pub(crate) gets_on: bool,
}

impl Wait {
    fn of(application: &Application, now_ms: i64) -> Option<Self> {
        application.waiting.map(|_| Self {
            waited_ms: application.waited_ms(now_ms),
            gets_on: application.gets_on(),
        })
    }

    /// Whether the application may go although its demand does not fit: past the starvation wait
    /// CapacityScheduler's rule applies, which is room by request. An application of which executors run is put
    /// off while nothing is left of a resource that its next executor will use: that executor would only take
    /// from those that run.
    #[inline]
    pub(crate) fn passes(
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

/// Whether the next container of an application may go to a node, at which its judge has looked.
pub(crate) fn admit(
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

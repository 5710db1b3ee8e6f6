//! No starvation: past a bounded wait an application goes where it has room by request.

use crate::cluster::ranking::Prospect;
use crate::cluster::settings::ClusterSettings;
use crate::cluster::state::{Application, NodeEntry, PlacedReason, Request};
use crate::fit::Excess;
use crate::resources::Resource;

/// Whether an application that has waited for a container since `since_ms` may go by request where the container does
/// not fit, as under CapacityScheduler.
#[inline]
pub(crate) fn starves(settings: &ClusterSettings, since_ms: i64, now_ms: i64) -> bool {
    now_ms.saturating_sub(since_ms) >= settings.starvation_wait_ms
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
    let Err(excess) = prospect.fits() else {
        return Ok(PlacedReason::Fits);
    };
    let lacking = excess.resource;
    if !entry.has_room_by_request(request) {
        return Err(excess);
    }
    let is_starving =
        application.waiting.is_some() && starves(settings, application.waiting_since_ms, now_ms);
    match owed(lacking) {
        Some(PlacedReason::Owed) => Ok(PlacedReason::Owed),
        _ if is_starving => Ok(PlacedReason::Starving),
        Some(reason) if prospect.fits_but_for(lacking) => Ok(reason),
        _ => Err(excess),
    }
}

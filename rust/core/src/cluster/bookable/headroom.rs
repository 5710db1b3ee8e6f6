//! What an application's queue, and the queues above it, let its next container take.

use super::{Shares, Taken, demanded_of};
use crate::cluster::settings::ClusterSettings;
use crate::cluster::state::{Application, ApplicationId, Ask, NodeEntry, NodeId, Request, State};
use crate::cluster::waiting::{Note, WaitingTable};

/// Whether the queue of an application, or one above, is at its maximum for its next container.
pub(crate) fn is_at_maximum(
    settings: &ClusterSettings,
    shares: &Shares,
    state: &State,
    application: ApplicationId,
    node: NodeId,
) -> bool {
    let application = state.applications.get(&application);
    let Some((application, entry)) = application.zip(state.nodes.get(node)) else {
        return false;
    };
    let Some(ask) = application.waiting else {
        return false;
    };
    let taken = taken_by_next(settings, application, &ask, entry);
    shares.at_maximum(&application.queue, &entry.label, taken).is_some()
}

/// An application whose next container has found no room for this time is told that nothing is left, in
/// milliseconds: each node has sent some heartbeats by then.
const NO_ROOM_AFTER_MS: i64 = 10_000;

/// Whether the application waits because no node has room for its next container by demand, though by request
/// CapacityScheduler sees some. It has to make room itself, as MapReduce does by preempting its reducers.
fn is_out_of_room(
    shares: &Shares,
    waiting: &WaitingTable,
    application: ApplicationId,
    now_ms: i64,
) -> bool {
    let waits_for_room = matches!(
        waiting.note_of(application),
        Some(Note::NoFit { .. } | Note::Behind { .. } | Note::Kept { .. })
    );
    let waited_ms =
        waiting.line_of(application).map_or(0, |line| now_ms.saturating_sub(line.since_ms));
    waits_for_room && waited_ms >= NO_ROOM_AFTER_MS && shares.is_raised("")
}

/// See [`Cluster::headroom`](crate::cluster::Cluster::headroom).
pub(crate) fn headroom(
    settings: &ClusterSettings,
    shares: &Shares,
    state: &State,
    waiting: &WaitingTable,
    application: ApplicationId,
    now_ms: i64,
) -> Option<Request> {
    if is_out_of_room(shares, waiting, application, now_ms) {
        return Some(Request { memory_bytes: 0, vcores: 0 });
    }
    let application = state.applications.get(&application)?;
    let mut unlabelled = state.nodes.entries().filter(|entry| entry.label.is_empty());
    let (ask, entry) = (application.waiting?, unlabelled.next()?);
    let taken = taken_by_next(settings, application, &ask, entry);
    let headroom = shares.headroom(&application.queue, &entry.label, taken)?;
    Some(headroom.as_request(settings.virtual_cores_count))
}

fn taken_by_next(
    settings: &ClusterSettings,
    application: &Application,
    ask: &Ask,
    entry: &NodeEntry,
) -> Taken {
    let predicted = application.demands.of(ask.kind);
    let demanded = demanded_of(entry, predicted, ask.request, settings.virtual_cores_count);
    Taken { requested: ask.request.into(), demanded }
}

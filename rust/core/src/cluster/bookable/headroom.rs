//! What an application's queue, and the queues above it, let its next container take.

use super::{Next, Shares, Taken, demanded_of};
use crate::cluster::settings::ClusterSettings;
use crate::cluster::state::{Application, ApplicationId, Ask, NodeEntry, NodeId, Request, State};
use crate::cluster::waiting::{Note, WaitingTable};

/// The limit of a queue or user that leaves no room for the application's next container; `None` if all leave room.
pub(crate) fn at_limit(
    settings: &ClusterSettings,
    shares: &Shares,
    state: &State,
    waiting: &WaitingTable,
    application: ApplicationId,
    node: NodeId,
) -> Option<Note> {
    let application = state.applications.get(&application)?;
    let (ask, entry) = (application.waiting?, state.nodes.get(node)?);
    if !shares.is_raised(&entry.label) {
        return None;
    }
    let next = next_of(settings, waiting, application, &ask, entry);
    if shares.at_maximum(&next).is_some() {
        return Some(Note::AtMaximum { node });
    }
    if shares.is_user_at_limit(&next) {
        return Some(Note::UserAtLimit { node });
    }
    shares.yields_on(entry, next.queue, ask.request).then_some(Note::Yields { node })
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
    // A node that is too full by request as well leaves no note.
    let note = waiting.note_of(application);
    let has_room = matches!(note, Some(Note::Skipped { .. } | Note::UserAtCapacityLimit { .. }));
    let waited_ms =
        waiting.line_of(application).map_or(0, |line| now_ms.saturating_sub(line.since_ms));
    !has_room && waited_ms >= NO_ROOM_AFTER_MS && shares.is_raised("")
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
    let headroom = shares.headroom(&next_of(settings, waiting, application, &ask, entry))?;
    Some(headroom.as_request(settings.virtual_cores_count))
}

pub(crate) fn next_of<'a>(
    settings: &ClusterSettings,
    waiting: &WaitingTable,
    application: &'a Application,
    ask: &Ask,
    entry: &'a NodeEntry,
) -> Next<'a> {
    let predicted = application.demands.of(ask.kind);
    let demanded = demanded_of(entry, predicted, ask.request, settings.virtual_cores_count);
    let Application { queue, user, .. } = application;
    Next {
        queue,
        label: &entry.label,
        user,
        active_users: waiting.users_in(queue),
        container: Taken { requested: ask.request.into(), demanded },
    }
}

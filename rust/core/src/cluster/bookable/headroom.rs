//! What an application's queue, and the queues above it, let its next container take.

use super::{Shares, Taken, demanded_of};
use crate::cluster::settings::ClusterSettings;
use crate::cluster::state::{Application, ApplicationId, Ask, NodeEntry, NodeId, Request, State};

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

/// See [`Cluster::headroom`](crate::cluster::Cluster::headroom).
pub(crate) fn headroom(
    settings: &ClusterSettings,
    shares: &Shares,
    state: &State,
    application: ApplicationId,
) -> Option<Request> {
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

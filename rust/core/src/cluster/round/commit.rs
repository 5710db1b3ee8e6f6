//! The check and the record of a container that CapacityScheduler is about to commit, in one step.

use std::sync::Arc;

use crate::cluster::Cluster;
use crate::cluster::bookable::{Next, PlannedThere, Shares, TakenBy, planned_there};
use crate::cluster::patience::admit;
use crate::cluster::ranking::{Judge, Prospect, score_if_known_to_fit};
use crate::cluster::settings::ClusterSettings;
use crate::cluster::state::{
    Commit, CommitRequest, Container, PlacedReason, Placement, Refusal, State,
};
use crate::cluster::waiting::{Note, WaitingTable};
use crate::demand::Demand;
use crate::fit::Excess;

/// Records the container unless it is refused.
pub(crate) fn commit(cluster: &mut Cluster, commit: &CommitRequest<'_>, now_ms: i64) -> Commit {
    let Cluster { settings, policy, state, bookable, waiting, .. } = &mut *cluster;
    let judge = Judge::of(policy.as_ref());
    let Approved { reason, score, demand, taken_by } =
        match approve(settings, judge, &bookable.shares, waiting, state, commit, now_ms) {
            None => return Commit::Unknown,
            Some(Ok(approved)) => approved,
            Some(Err(refusal)) => {
                let note = match refusal {
                    Refusal::NoFit(Excess { resource, .. }) => {
                        Note::NoFit { node: commit.node, resource }
                    }
                    Refusal::LargerThanNode => Note::None,
                    Refusal::QueueAtMaximum(_) => Note::AtMaximum { node: commit.node },
                    Refusal::UserAtLimit { .. } => Note::UserAtLimit { node: commit.node },
                    Refusal::QueueYields(_) => Note::Yields { node: commit.node },
                    Refusal::RegisteredOnly(why) => Note::RegisteredOnly { node: commit.node, why },
                };
                cluster.waiting.note(commit.application, note);
                return Commit::Refused(refusal);
            }
        };
    // Also what CapacityScheduler placed alone: whoever gets something has not waited since.
    if commit.may_refuse || commit.start_ms >= now_ms {
        let request = commit.request.bookable(cluster.settings.virtual_cores_count);
        if let Some(application) = cluster.state.applications.get_mut(&commit.application) {
            application.waiting_since_ms = now_ms;
            if let Some(entry) = cluster.state.nodes.get(commit.node) {
                cluster.keeper.placed(&entry.label, request, &application.countables, now_ms);
            }
        }
        cluster.waiting.granted(commit.application, now_ms);
        cluster.skips.granted(commit.node, commit.application);
    }
    let executor = cluster.state.next_executor();
    let application = cluster.state.applications.get(&commit.application);
    let predicted = application.and_then(|application| application.demands.of(commit.kind));
    let container = Container {
        node: commit.node,
        application: commit.application,
        executor,
        kind: commit.kind,
        request: commit.request,
        start_ms: commit.start_ms,
        basis: predicted.map(|predicted| predicted.basis.clone()),
        margin: predicted.map_or(0.0, |predicted| predicted.margin),
        taken_by,
    };
    // A container reported twice, as after a restart, must not be booked twice.
    cluster.finished(commit.container);
    cluster.bookable.shares.started(&container.taken_by);
    cluster.bookable.shares.granted(&container.taken_by, now_ms);
    let placed = container.clone();
    cluster.state.start(commit.container, placed, demand, now_ms);
    let applications = &cluster.state.applications;
    cluster.waiting.running_changed(commit.application, applications);
    Commit::Placed(Placement { reason, score, container })
}

struct Approved {
    reason: PlacedReason,
    /// The policy's score, where the core decided.
    score: Option<f64>,
    demand: Demand,
    taken_by: TakenBy,
}

/// Whether the container may go; none where the node or the application is unknown.
fn approve(
    settings: &ClusterSettings,
    judge: Judge<'_>,
    shares: &Shares,
    waiting: &WaitingTable,
    state: &mut State,
    commit: &CommitRequest<'_>,
    now_ms: i64,
) -> Option<Result<Approved, Refusal>> {
    let registered = state.nodes.registered();
    let entry = state.nodes.get_mut(commit.node)?;
    let application = state.applications.get(&commit.application)?;
    let request = commit.request.bookable(settings.virtual_cores_count);
    let predicted = application.demands.of(commit.kind);
    let PlannedThere { demand, taken, mean: planned } =
        planned_there(entry, predicted, request, settings.virtual_cores_count);
    let queue = &application.queue;
    let (label, user) = (Arc::clone(&entry.label), Arc::clone(&application.user));
    let approved = |reason, score| {
        let is_owed_flow = reason == PlacedReason::OwedFlow;
        let taken_by =
            TakenBy { queue: Arc::clone(queue), label, user, taken, planned, is_owed_flow };
        Approved { reason, score, demand, taken_by }
    };
    if !commit.may_refuse && commit.start_ms < now_ms {
        return Some(Ok(approved(PlacedReason::RanAlready, None)));
    }
    if !entry.is_decided(settings, now_ms) {
        return Some(Ok(approved(PlacedReason::CapacityScheduler, None)));
    }
    if !commit.may_refuse {
        return Some(Ok(approved(PlacedReason::NotAsked, None)));
    }
    if !request.fits_into(entry.registered) {
        return Some(Err(Refusal::LargerThanNode));
    }
    let active_users = waiting.users_in(queue);
    let user = &application.user;
    let next = Next { queue, label: &entry.label, user, active_users, container: taken };
    if let Some(queue) = shares.at_maximum(&next) {
        return Some(Err(Refusal::QueueAtMaximum(queue.into())));
    }
    if shares.is_user_at_limit(&next) {
        return Some(Err(Refusal::UserAtLimit {
            user: Arc::clone(user),
            queue: Arc::clone(queue),
        }));
    }
    if shares.yields_on(entry, queue, request) {
        return Some(Err(Refusal::QueueYields(Arc::clone(queue))));
    }
    if let Some(why) = entry.keeps_out(application.demands.observed(), request, now_ms) {
        return Some(Err(Refusal::RegisteredOnly(why)));
    }
    judge.refresh(entry, now_ms);
    if let Judge::Plan(by) = judge {
        let container = (commit.kind, request);
        let id = commit.application;
        if let Some(score) = score_if_known_to_fit(by, waiting, entry, id, container) {
            return Some(Ok(approved(PlacedReason::Fits, Some(score))));
        }
    }
    let owed = |lacking| shares.owed(queue, &entry.label, request, || planned, lacking);
    let as_waiting = application.as_waiting(registered);
    let prospect = Prospect::new(judge, entry, predicted, request, as_waiting, now_ms);
    let admitted = admit(&prospect, settings, entry, application, request, owed, now_ms);
    let admitted = admitted.map(|reason| approved(reason, Some(prospect.score())));
    Some(admitted.map_err(Refusal::NoFit))
}

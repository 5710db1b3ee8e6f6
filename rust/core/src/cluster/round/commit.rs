//! The check and the record of a container that CapacityScheduler is about to commit, in one step.

use crate::cluster::Cluster;
use crate::cluster::patience::admit;
use crate::cluster::ranking::{Judge, Prospect};
use crate::cluster::settings::ClusterSettings;
use crate::cluster::state::{Commit, CommitRequest, Container, PlacedReason, Placement, State};
use crate::cluster::waiting::Note;
use crate::demand::Demand;
use crate::fit::Excess;

/// Records the container unless it is refused.
pub(crate) fn commit(cluster: &mut Cluster, commit: &CommitRequest<'_>, now_ms: i64) -> Commit {
    let judge = Judge::of(cluster.policy.as_ref());
    let Approved { reason, score, demand } =
        match approve(&cluster.settings, judge, &mut cluster.state, commit, now_ms) {
            None => return Commit::Unknown,
            Some(Ok(approved)) => approved,
            Some(Err(excess)) => {
                let note = Note::NoFit { node: commit.node, resource: excess.resource };
                cluster.waiting.note(commit.application, note);
                return Commit::Refused(excess);
            }
        };
    if commit.may_refuse {
        if let Some(application) = cluster.state.applications.get_mut(&commit.application) {
            application.waiting_since_ms = now_ms;
        }
        let request = commit.request.bookable(cluster.settings.virtual_cores_count);
        cluster.waiting.granted(commit.application, now_ms);
        cluster.passing.granted(commit.application);
        cluster.keeper.placed(request, now_ms);
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
        profile: predicted.map(|predicted| predicted.profile.clone()),
        margin: predicted.map_or(0.0, |predicted| predicted.margin),
    };
    // A container reported twice, as after a restart, must not be booked twice.
    cluster.finished(commit.container);
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
}

/// Whether the container may go; none where the node or the application is unknown.
fn approve(
    settings: &ClusterSettings,
    judge: Judge<'_>,
    state: &mut State,
    commit: &CommitRequest<'_>,
    now_ms: i64,
) -> Option<Result<Approved, Excess>> {
    let registered = state.nodes.registered();
    let entry = state.nodes.get_mut(commit.node)?;
    let application = state.applications.get(&commit.application)?;
    let request = commit.request.bookable(settings.virtual_cores_count);
    let predicted = application.demands.of(commit.kind);
    let demand = entry.planned_demand(predicted, request);
    if !entry.is_decided(settings, now_ms) {
        let reason = PlacedReason::CapacityScheduler;
        return Some(Ok(Approved { reason, score: None, demand }));
    }
    if !commit.may_refuse {
        return Some(Ok(Approved { reason: PlacedReason::NotAsked, score: None, demand }));
    }
    judge.refresh(entry, now_ms);
    let waiting = application.as_waiting(registered);
    let prospect = Prospect::new(judge, entry, predicted, request, waiting, now_ms);
    let admitted = admit(&prospect, settings, entry, application, request, now_ms);
    Some(admitted.map(|reason| Approved { reason, score: Some(prospect.score()), demand }))
}

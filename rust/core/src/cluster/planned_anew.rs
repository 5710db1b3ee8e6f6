//! Running containers that are planned otherwise than at their start: by another size of their node, or by a profile
//! that was not known yet. CapacityScheduler's booking stays the request.

use std::iter::once;

use crate::cluster::bookable::{PlannedThere, Shares, planned_there};
use crate::cluster::state::{ApplicationId, Container, NodeEntry, Predicted, State};
use crate::cluster::waiting::WaitingTable;
use crate::container_kind::ContainerKind;

/// Plans a running container by a prediction, or by its request, at the age that it has. Memory that it was measured to
/// use stays planned.
pub(crate) fn plan_anew(
    entry: &mut NodeEntry,
    shares: &mut Shares,
    container: &mut Container,
    predicted: Option<&Predicted>,
    virtual_cores_count: bool,
) {
    let request = container.request.bookable(virtual_cores_count);
    let PlannedThere { demand, taken, mean } =
        planned_there(entry, predicted, request, virtual_cores_count);
    shares.carry_over(once(&mut *container), |taken_by| {
        (taken_by.taken, taken_by.planned) = (taken, mean);
    });
    entry.plan.replace_demand(&mut entry.node, container.executor, demand);
}

/// See [`Cluster::set_prediction`](crate::cluster::Cluster::set_prediction).
pub(crate) fn predicted(
    state: &mut State,
    shares: &mut Shares,
    waiting: &mut WaitingTable,
    application: ApplicationId,
    kind: ContainerKind,
    predicted: Option<Predicted>,
) {
    if let Some(entry) = state.applications.get_mut(&application)
        && entry.demands.set(kind, predicted)
    {
        waiting.set_prediction(application, kind, &entry.demands);
        plan_those_without_a_profile(state, shares, application, kind);
    }
}

/// Runs of an application may be known now that were not when its running containers were planned, as after a failover.
fn plan_those_without_a_profile(
    state: &mut State,
    shares: &mut Shares,
    application: ApplicationId,
    kind: ContainerKind,
) {
    let virtual_cores_count = state.virtual_cores_count;
    let State { nodes, applications, containers, .. } = state;
    let Some(entry) = applications.get_mut(&application) else {
        return;
    };
    let Some(predicted) = entry.demands.of(kind).filter(|it| it.basis.profile().is_some()) else {
        return;
    };
    entry.unprofiled.retain(|executor, node| {
        let Some(node) = nodes.get_mut(*node) else {
            return true;
        };
        let container = node.containers.get(executor).and_then(|id| containers.get_mut(id));
        let Some(container) = container.filter(|it| it.kind == kind) else {
            return true;
        };
        container.basis = Some(predicted.basis.clone());
        container.margin = predicted.margin;
        plan_anew(node, shares, container, Some(predicted), virtual_cores_count);
        false
    });
}

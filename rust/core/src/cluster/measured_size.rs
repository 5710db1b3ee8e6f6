//! The physical size of a node as its agent measured it. Containers that started before, as all do that outlive a
//! ResourceManager, were planned for another size, and are planned anew.

use std::sync::Arc;

use crate::cluster::bookable::Shares;
use crate::cluster::correction::Corrections;
use crate::cluster::planned_anew::plan_anew;
use crate::cluster::state::{Application, Container, NodeId, Predicted, State};
use crate::resources::Resources;

/// An agent reported the size of its node.
pub(crate) fn reported(
    state: &mut State,
    shares: &mut Shares,
    corrections: &Corrections,
    node: NodeId,
    capacity: Resources,
    now_ms: i64,
) {
    let virtual_cores_count = state.virtual_cores_count;
    let State { nodes, applications, containers, .. } = state;
    let Some(entry) = nodes.get_mut(node) else {
        return;
    };
    if !entry.reported(capacity, now_ms) {
        return;
    }
    let there: Vec<Arc<str>> = entry.containers.values().cloned().collect();
    for id in there {
        let Some(container) = containers.get_mut(&id) else {
            continue;
        };
        // The next sample of one that is corrected plans it by the node's size.
        if corrections.corrects(container) {
            continue;
        }
        let predicted = match planned_by(container, applications.get(&container.application)) {
            PlannedBy::Request => None,
            PlannedBy::Predicted(predicted) => Some(predicted),
            PlannedBy::Former => continue,
        };
        plan_anew(entry, shares, container, predicted, virtual_cores_count);
    }
}

/// What a running container's demand comes from.
enum PlannedBy<'a> {
    Request,
    Predicted(&'a Predicted),
    /// A prediction that has been made anew since.
    Former,
}

fn planned_by<'a>(container: &Container, application: Option<&'a Application>) -> PlannedBy<'a> {
    let Some(basis) = &container.basis else {
        return PlannedBy::Request;
    };
    let predicted = application.and_then(|it| it.demands.of(container.kind));
    match predicted {
        Some(it) if it.basis == *basis && it.margin == container.margin => PlannedBy::Predicted(it),
        _ => PlannedBy::Former,
    }
}

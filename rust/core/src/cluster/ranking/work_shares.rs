//! Each application's share of all remaining work, for policies that rank by it.

use std::collections::HashMap;

use crate::cluster::as_of::AsOf;
use crate::cluster::state::{Application, ApplicationId, Ask, State};
use crate::cluster::waiting::WaitingTable;
use crate::policy::{remaining_of, share_of_work, work};
use crate::resources::Resources;
use crate::timeline::on_grid_ms;

/// The shares are computed anew only in another slot or after a change: each computation visits all
/// running containers.
#[derive(Debug, Default)]
pub(crate) struct WorkShares {
    as_of: Option<AsOf>,
}

impl WorkShares {
    /// Updates each application's share of all remaining work: the rest of its running executors
    /// and the executors that it waits for.
    pub(crate) fn update(&mut self, state: &mut State, waiting: &WaitingTable, now_ms: i64) {
        let as_of = AsOf::now(state, waiting, now_ms);
        if self.as_of == Some(as_of) {
            return;
        }
        self.as_of = Some(as_of);
        // Based on the slot, so that the result does not depend on who asks first.
        let mut left = remaining_of_running(state, on_grid_ms(now_ms, now_ms));
        for (id, application) in &state.applications {
            let waits = application.waiting.map(|ask| work_of(application, ask));
            *left.entry(*id).or_default() += waits.unwrap_or_default();
        }
        // Summed in the order of application ids, so that rounding is deterministic.
        let ids = state.applications.keys();
        let each = ids.filter_map(|id| left.get(id));
        let with_an_end = each.filter(|work| work.to_array().into_iter().all(f64::is_finite));
        let all: Resources = with_an_end.copied().sum();
        for (id, application) in &mut state.applications {
            application.remaining_share = left.get(id).and_then(|work| share_of_work(*work, all));
        }
    }
}

fn remaining_of_running(state: &State, now_ms: i64) -> HashMap<ApplicationId, Resources> {
    let mut left: HashMap<ApplicationId, Resources> = HashMap::new();
    for entry in state.nodes.entries() {
        for (_, container) in state.containers_on(entry) {
            if let Some(running) = entry.node.get(container.executor) {
                *left.entry(container.application).or_default() += remaining_of(running, now_ms);
            }
        }
    }
    left
}

/// The work of the containers that an application waits for; infinite without a prediction.
fn work_of(application: &Application, ask: Ask) -> Resources {
    match application.demands.of(ask.kind) {
        Some(predicted) => work(&predicted.demand) * f64::from(ask.count),
        None => Resources::from_array([f64::INFINITY; 4]),
    }
}

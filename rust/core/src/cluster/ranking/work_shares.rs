//! Every application's part of all work that is left, for policies that go by it.

use std::collections::HashMap;

use crate::cluster::state::{Application, ApplicationId, Ask, State};
use crate::policy::{remaining_of, share_of_work, work};
use crate::resources::Resources;
use crate::slot_of;
use crate::timeline::on_grid_ms;

/// As of when the shares were computed last: that costs a look at all that runs, and between two slots of
/// time nearly nothing is done.
#[derive(Debug, Default)]
pub(crate) struct WorkShares {
    as_of: Option<AsOf>,
    /// Counts the changes of what applications wait for.
    changes: u64,
}

/// While it is the same nothing started, ended or was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AsOf {
    slot: i64,
    containers: (u64, usize),
    changes: u64,
}

impl WorkShares {
    /// What an application waits for changed.
    pub(crate) fn changed(&mut self) {
        self.changes = self.changes.wrapping_add(1);
    }

    /// Brings every application's part of all work that is left up to date: what its executors that run have
    /// not done, and what those do that it waits for.
    pub(crate) fn update(&mut self, state: &mut State, now_ms: i64) {
        let as_of = AsOf {
            slot: slot_of(now_ms),
            containers: state.containers.version(),
            changes: self.changes,
        };
        if self.as_of == Some(as_of) {
            return;
        }
        self.as_of = Some(as_of);
        // The same whenever in the slot somebody asks first.
        let mut left = left_of_what_runs(state, on_grid_ms(now_ms, now_ms));
        for (id, application) in state.applications.iter() {
            let waits = application.waiting.map(|ask| work_of(application, ask));
            *left.entry(id).or_default() += waits.unwrap_or_default();
        }
        // In the order of the applications, so that rounding is always the same.
        let ids = state.applications.iter().map(|(id, _)| id);
        let each = ids.filter_map(|id| left.get(&id));
        let with_an_end = each.filter(|work| work.to_array().into_iter().all(f64::is_finite));
        let all = with_an_end.fold(Resources::ZERO, |sum, work| sum + *work);
        for (id, application) in state.applications.iter_mut() {
            application.remaining_share = left.get(&id).and_then(|work| share_of_work(*work, all));
        }
    }
}

fn left_of_what_runs(state: &State, now_ms: i64) -> HashMap<ApplicationId, Resources> {
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

/// What the containers do that an application waits for; without an end where nothing is predicted of them.
fn work_of(application: &Application, ask: Ask) -> Resources {
    match application.demands.of(ask.kind) {
        Some(predicted) => work(&predicted.demand) * f64::from(ask.count),
        None => Resources::from_array([f64::INFINITY; 4]),
    }
}

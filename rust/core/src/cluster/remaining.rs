//! What is left of every application's work, for policies that go by it.

use std::collections::HashMap;

use super::Cluster;
use super::application::{Application, ApplicationId, Ask};
use crate::policy::{remaining_of, share_of_work, work};
use crate::resources::Resources;
use crate::slot_of;
use crate::timeline::on_grid_ms;

/// As of when it was added up last: it costs a look at all that runs, and between two slots of time
/// nearly nothing is done.
#[derive(Debug, Default)]
pub(super) struct Remaining {
    as_of: Option<AsOf>,
    /// Counts the changes of what applications wait for.
    changes: u64,
}

/// While it is the same nothing started, ended or was asked for: the number of the next executor only
/// grows, and with it unchanged containers only become fewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AsOf {
    slot: i64,
    next_executor: u64,
    containers: usize,
    changes: u64,
}

impl Remaining {
    /// What an application waits for changed.
    pub(super) fn changed(&mut self) {
        self.changes = self.changes.wrapping_add(1);
    }
}

impl Cluster {
    /// Brings every application's part of what is left of all work up to date: what its executors that
    /// run have not done, and what those do that it waits for.
    pub(super) fn add_up_what_remains(&mut self, now_ms: i64) {
        let as_of = AsOf {
            slot: slot_of(now_ms),
            next_executor: self.next_executor,
            containers: self.containers.len(),
            changes: self.remaining.changes,
        };
        if self.remaining.as_of == Some(as_of) {
            return;
        }
        self.remaining.as_of = Some(as_of);
        // The same whenever in the slot somebody asks first.
        let mut left = self.left_of_what_runs(on_grid_ms(now_ms, now_ms));
        for (id, application) in &self.applications {
            let waits = application.waiting.map(|ask| application.work_of(ask));
            *left.entry(*id).or_default() += waits.unwrap_or_default();
        }
        // In the order of the applications, so that rounding is always the same.
        let each = self.applications.keys().filter_map(|id| left.get(id));
        let with_an_end = each.filter(|work| work.to_array().into_iter().all(f64::is_finite));
        let all = with_an_end.fold(Resources::ZERO, |sum, work| sum + *work);
        for (id, application) in &mut self.applications {
            application.remaining_share = left.get(id).and_then(|work| share_of_work(*work, all));
        }
    }

    fn left_of_what_runs(&self, now_ms: i64) -> HashMap<ApplicationId, Resources> {
        let mut left: HashMap<ApplicationId, Resources> = HashMap::new();
        for entry in self.nodes.values() {
            for (executor, id) in &entry.containers {
                if let Some(container) = self.containers.get(id)
                    && let Some(running) = entry.node.get(*executor)
                {
                    *left.entry(container.application).or_default() +=
                        remaining_of(running, now_ms);
                }
            }
        }
        left
    }
}

impl Application {
    /// What the containers do that it waits for; without an end where nothing is predicted of them.
    fn work_of(&self, ask: Ask) -> Resources {
        match self.demands.of(ask.kind) {
            Some(predicted) => work(&predicted.demand) * f64::from(ask.count),
            None => Resources::from_array([f64::INFINITY; 4]),
        }
    }
}

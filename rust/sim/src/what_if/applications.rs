//! The applications of a scenario.

use std::collections::BTreeMap;

use elastane_core::policy::{Waiting, remaining_of, share_of_work, work};
use elastane_core::{Resources, Running};

use crate::scenario::{Pending, Scenario};

/// The applications by name, kept up to date while executors are placed.
pub(super) struct ScenarioApplications<'a> {
    by_name: BTreeMap<&'a str, ScenarioApplication>,
    cluster: Resources,
    /// The remaining work of all applications.
    work: Resources,
}

#[derive(Default)]
struct ScenarioApplication {
    submitted_ms: i64,
    running: u32,
    /// The number of waiting executors.
    waiting: u32,
    /// The sum of the requests of running executors.
    booked: Resources,
    /// The remaining work of running and waiting executors.
    work: Resources,
}

impl<'a> ScenarioApplications<'a> {
    pub(super) fn new(scenario: &'a Scenario) -> Self {
        let nodes = &scenario.nodes;
        let mut applications = Self {
            by_name: BTreeMap::new(),
            cluster: nodes.iter().map(|node| node.capacity).sum(),
            work: Resources::ZERO,
        };
        for executor in nodes.iter().flat_map(|node| &node.running) {
            let running = Running::new(executor.start_ms, executor.demand.clone());
            let left = remaining_of(&running, scenario.now_ms);
            let application = applications.seen(&executor.application, executor.start_ms, left);
            application.running += 1;
            application.booked += executor.request;
        }
        for executor in &scenario.pending {
            let all = work(&executor.demand);
            let application = applications.seen(&executor.application, executor.queued_ms, all);
            application.waiting += 1;
        }
        let each = applications.by_name.values().map(|one| one.work);
        let with_an_end = each.filter(|work| work.to_array().into_iter().all(f64::is_finite));
        applications.work = with_an_end.sum();
        applications
    }

    /// The scenario has no submission times; the earliest start or queueing time of an application is
    /// taken.
    fn seen(&mut self, name: &'a str, at_ms: i64, work: Resources) -> &mut ScenarioApplication {
        let unseen = ScenarioApplication { submitted_ms: at_ms, ..ScenarioApplication::default() };
        let application = self.by_name.entry(name).or_insert(unseen);
        application.submitted_ms = application.submitted_ms.min(at_ms);
        application.work += work;
        application
    }

    pub(super) fn placed(&mut self, executor: &Pending) {
        if let Some(application) = self.by_name.get_mut(executor.application.as_str()) {
            application.running += 1;
            application.waiting = application.waiting.saturating_sub(1);
            application.booked += executor.request;
        }
    }

    /// Each executor is decided alone, so it is a complete gang.
    pub(super) fn waiting(&self, executor: &Pending) -> Waiting {
        let alone = Waiting {
            submitted_ms: executor.queued_ms,
            queued_ms: executor.queued_ms,
            executors: 1,
            whole: true,
            ..Waiting::default()
        };
        let Some(application) = self.by_name.get(executor.application.as_str()) else {
            return alone;
        };
        let booked_share = application.booked.share_of(self.cluster);
        Waiting {
            submitted_ms: application.submitted_ms,
            executors: application.waiting,
            running: application.running,
            dominant_share: booked_share.to_array().into_iter().fold(0.0, f64::max),
            remaining_share: share_of_work(application.work, self.work),
            ..alone
        }
    }
}

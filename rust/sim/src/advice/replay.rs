//! One replay: when each executor starts and each application ends.

use std::collections::BTreeMap;

use elastane_runtime::PastCluster;

use super::figures::Figures;
use super::group::Group;
use super::groups::Groups;
use super::occupied::occupied_s;
use crate::capacity::Capacity;
use crate::simulator::{
    ApplicationOutcome, Policies, PolicyToSimulate, Settings, SimulationError, simulate,
};

/// Lengths depend on starts, and starts on lengths. Each repetition uses the starts of the one before.
const TIMES: usize = 4;

/// A replay is given up when its simulated time exceeds this multiple of the record's length by an hour.
const GIVE_UP_AFTER: i64 = 4;
const HOUR_MS: i64 = 3_600_000;

/// Who places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheduler {
    Capacity,
    Elastane,
}

/// The outcome.
#[derive(Debug, Clone)]
pub(super) struct Replay {
    /// By group, in seconds of the replay.
    pub(super) groups: Vec<ReplayedGroup>,
    /// By application, its part of the time in which nodes had a container.
    occupied_s: BTreeMap<String, f64>,
    figures: Figures,
}

/// One group of executors.
#[derive(Debug, Clone)]
pub(super) struct ReplayedGroup {
    /// When each started.
    pub(super) starts_s: Vec<f64>,
    /// How long each waited.
    pub(super) waits_s: Vec<f64>,
    /// When the application was done with them.
    pub(super) ended_s: f64,
}

impl Replay {
    pub(super) fn run(
        groups: &Groups<'_>,
        past: &PastCluster,
        scheduler: Scheduler,
    ) -> Result<Self, SimulationError> {
        let (policy, settings) = (policy(past, scheduler), settings(past));
        let mut starts: Vec<Vec<f64>> = Vec::new();
        let mut replayed = Vec::new();
        for _ in 0..TIMES {
            let mut outcomes = vec![None; groups.all().len()];
            for (places, workload) in groups.workloads(&starts) {
                let known = Policies::with(known);
                let run = simulate(&workload, &known, &policy, &settings, 1, &mut |_| {})?;
                for (place, outcome) in places.into_iter().zip(run.applications) {
                    outcomes[place] = Some(outcome);
                }
            }
            // Every group is on the nodes of one label.
            replayed = outcomes.into_iter().flatten().collect();
            starts = replayed.iter().map(|it: &ApplicationOutcome| it.starts_s.clone()).collect();
        }
        let mut occupied_s: BTreeMap<String, f64> = BTreeMap::new();
        for it in &replayed {
            *occupied_s.entry(it.name.clone()).or_default() += it.occupied_s;
        }
        let outcomes = groups.all().iter().zip(replayed);
        let replayed = outcomes.map(|(group, outcome)| ReplayedGroup {
            waits_s: waits(group, &outcome.starts_s),
            starts_s: outcome.starts_s,
            ended_s: outcome.ended_s + group.delay_ms as f64 / 1e3,
        });
        Ok(Self::new(groups, replayed.collect(), occupied_s))
    }

    /// What happened. A wait begins when the executor would have been asked for if the master had started at once.
    pub(super) fn recorded(groups: &Groups<'_>, past: &PastCluster) -> Self {
        let seconds = |at_ms: i64| (at_ms - past.since_ms) as f64 / 1e3;
        let replayed = groups.all().iter().map(|group| {
            let application = group.application;
            let mut masters = application.containers.iter();
            let master = masters.find(|it| it.kind.is_application_master());
            let master_waits_ms = master.map_or(0, |it| it.started_ms - application.submitted_ms);
            let waits = group.containers.iter().map(|it| {
                let own_ms = it.started_ms - it.asked_ms;
                // The group of a master alone has counted its wait.
                let before_ms = if it.kind.is_application_master() { 0 } else { master_waits_ms };
                (own_ms + before_ms).max(0) as f64 / 1e3
            });
            ReplayedGroup {
                starts_s: group.containers.iter().map(|it| seconds(it.started_ms)).collect(),
                waits_s: waits.collect(),
                ended_s: seconds(application.ended_ms.unwrap_or(past.until_ms)),
            }
        });
        Self::new(groups, replayed.collect(), occupied_s(groups, past))
    }

    fn new(
        groups: &Groups<'_>,
        replayed: Vec<ReplayedGroup>,
        occupied_s: BTreeMap<String, f64>,
    ) -> Self {
        let figures = Figures::of(groups, &replayed, occupied_s.values().sum());
        Self { groups: replayed, occupied_s, figures }
    }

    pub(super) fn figures(&self) -> Figures {
        self.figures
    }

    /// An application's part of the hours in which nodes had a container.
    pub(super) fn node_hours(&self, application_id: &str) -> f64 {
        self.occupied_s.get(application_id).copied().unwrap_or_default() / 3_600.0
    }

    /// Of compared applications.
    pub(super) fn containers(&self) -> usize {
        self.figures.containers
    }
}

fn waits(group: &Group<'_>, starts_s: &[f64]) -> Vec<f64> {
    let arrival_s = group.arrival_ms as f64 / 1e3;
    starts_s.iter().map(|start_s| (start_s - arrival_s).max(0.0)).collect()
}

fn policy(past: &PastCluster, scheduler: Scheduler) -> String {
    match scheduler {
        Scheduler::Capacity => "capacity".to_owned(),
        Scheduler::Elastane => past.settings.policy.clone(),
    }
}

/// The settings that the cluster would enforce by.
fn settings(past: &PastCluster) -> Settings {
    let production = Settings::default();
    Settings {
        policy_options: past.settings.policy_options,
        cluster: elastane_core::ClusterSettings {
            enforce: true,
            fresh_for_ms: production.cluster.fresh_for_ms,
            ..past.settings.cluster
        },
        // One that asks for more than its queue may ever have waits for ever.
        give_up_after_ms: GIVE_UP_AFTER * (past.until_ms - past.since_ms) + HOUR_MS,
        queues_count_vcores: past.settings.cluster.virtual_cores_count,
        // The predicted demands have theirs.
        margin: 0.0,
        ..production
    }
}

fn known() -> Vec<PolicyToSimulate> {
    let capacity = PolicyToSimulate::new(Capacity);
    vec![PolicyToSimulate { books_as_registered: true, ..capacity }]
}

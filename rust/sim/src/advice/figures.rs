//! The figures of replays, in all and by queue and application.

use std::collections::BTreeMap;

use serde::Serialize;

use super::EARLIER_BY_S;
use super::groups::Groups;
use super::replay::{Replay, ReplayedGroup};
use crate::summary::mean;

/// Of all compared applications; node-hours are of all that are replayed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Figures {
    /// From the first submission to the last end.
    pub makespan_s: f64,
    /// From submission to end.
    pub mean_completion_s: f64,
    /// Of a container; that of its application's master included.
    pub mean_wait_s: f64,
    /// Hours in which a node had a container.
    pub node_hours: f64,
    #[serde(skip)]
    pub(super) containers: usize,
}

impl Figures {
    pub(super) fn of(groups: &Groups<'_>, replayed: &[ReplayedGroup], occupied_s: f64) -> Self {
        let ends = ends(groups, replayed);
        let first_ms = ends.values().map(|it| it.submitted_ms).min().unwrap_or(0);
        let last_s = ends.values().map(|it| it.ended_s).fold(0.0, f64::max);
        let compared = groups.all().iter().zip(replayed);
        let compared = compared.filter(|(group, _)| groups.is_compared(group.application));
        let waits: Vec<f64> = compared.flat_map(|(_, it)| it.waits_s.iter().copied()).collect();
        let completions: Vec<f64> = ends.values().map(Ended::completion_s).collect();
        Self {
            makespan_s: (last_s - first_ms as f64 / 1e3).max(0.0),
            mean_completion_s: mean(&completions),
            mean_wait_s: mean(&waits),
            node_hours: occupied_s / 3_600.0,
            containers: waits.len(),
        }
    }
}

/// How far a replay is from what happened, as fractions; 0.04 is 4 % too long.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ReplayError {
    /// Of the mean time from submission to end.
    pub mean_completion: f64,
    /// Of the makespan.
    pub makespan: f64,
}

impl ReplayError {
    pub(super) fn of(recorded: &Figures, replayed: &Figures) -> Self {
        let error = |recorded: f64, replayed: f64| {
            if recorded > 0.0 { replayed / recorded - 1.0 } else { 0.0 }
        };
        Self {
            mean_completion: error(recorded.mean_completion_s, replayed.mean_completion_s),
            makespan: error(recorded.makespan_s, replayed.makespan_s),
        }
    }
}

/// What `enforce` would have made of an application; of a queue the sums and means over its applications that are
/// compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gain {
    /// Its executors.
    pub containers: usize,
    /// Those that `enforce` starts earlier than CapacityScheduler.
    pub containers_earlier: usize,
    /// By how much these start earlier, on average.
    pub mean_earlier_s: f64,
    /// From submission to end, as it was.
    pub recorded_completion_s: f64,
    /// The same in the replay as CapacityScheduler.
    pub capacity_completion_s: f64,
    /// The same in the replay in mode `enforce`.
    pub enforce_completion_s: f64,
    /// Its part of the node-hours, as it was; of a queue the sum.
    pub recorded_node_hours: f64,
    /// The same in the replay as CapacityScheduler.
    pub capacity_node_hours: f64,
    /// The same in the replay in mode `enforce`.
    pub enforce_node_hours: f64,
}

impl Gain {
    pub(super) fn saved_s(&self) -> f64 {
        self.capacity_completion_s - self.enforce_completion_s
    }

    /// Of all together.
    pub(super) fn of_all<'a>(gains: impl Iterator<Item = &'a Gain> + Clone) -> Self {
        let sum = |of: fn(&Gain) -> usize| gains.clone().map(of).sum();
        let mean = |of: fn(&Gain) -> f64| mean(&gains.clone().map(of).collect::<Vec<_>>());
        let containers_earlier: usize = sum(|it| it.containers_earlier);
        let total = |of: fn(&Gain) -> f64| gains.clone().map(of).sum();
        let earlier_s: f64 =
            gains.clone().map(|it| it.containers_earlier as f64 * it.mean_earlier_s).sum();
        Self {
            containers: sum(|it| it.containers),
            containers_earlier,
            mean_earlier_s: earlier_s / containers_earlier.max(1) as f64,
            recorded_completion_s: mean(|it| it.recorded_completion_s),
            capacity_completion_s: mean(|it| it.capacity_completion_s),
            enforce_completion_s: mean(|it| it.enforce_completion_s),
            recorded_node_hours: total(|it| it.recorded_node_hours),
            capacity_node_hours: total(|it| it.capacity_node_hours),
            enforce_node_hours: total(|it| it.enforce_node_hours),
        }
    }
}

/// One application.
#[derive(Debug, Clone, Serialize)]
pub struct ByApplication {
    /// YARN's id.
    pub id: String,
    /// The name as it was submitted.
    pub name: String,
    /// Who submitted it.
    pub user: String,
    /// The queue in which it ended.
    pub queue: String,
    /// In Unix milliseconds.
    pub submitted_ms: i64,
    /// What it would have gained.
    #[serde(flatten)]
    pub gain: Gain,
}

/// One queue.
#[derive(Debug, Clone, Serialize)]
pub struct ByQueue {
    /// Its path.
    pub queue: String,
    /// Compared ones.
    pub applications: usize,
    /// What they would have gained.
    #[serde(flatten)]
    pub gain: Gain,
}

/// When an application ended in a replay.
struct Ended {
    /// In milliseconds of the replay.
    submitted_ms: i64,
    ended_s: f64,
}

impl Ended {
    fn completion_s(&self) -> f64 {
        self.ended_s - self.submitted_ms as f64 / 1e3
    }
}

/// The ends of compared applications, by their ids.
fn ends<'a>(groups: &'a Groups<'_>, replayed: &[ReplayedGroup]) -> BTreeMap<&'a str, Ended> {
    let mut ends: BTreeMap<&str, Ended> = BTreeMap::new();
    for (group, it) in groups.all().iter().zip(replayed) {
        let application = group.application;
        if groups.is_compared(application) {
            let submitted_ms = application.submitted_ms - groups.since_ms();
            let id = application.subject.application_id.as_str();
            let end = ends.entry(id).or_insert(Ended { submitted_ms, ended_s: 0.0 });
            end.ended_s = end.ended_s.max(it.ended_s);
        }
    }
    ends
}

pub(super) fn by_application(
    groups: &Groups<'_>,
    recorded: &Replay,
    capacity: &Replay,
    enforce: &Replay,
) -> Vec<ByApplication> {
    let replays = [recorded, capacity, enforce];
    let [in_record, in_capacity, in_enforce] = replays.map(|replay| ends(groups, &replay.groups));
    let mut earlier: BTreeMap<&str, (usize, Vec<f64>)> = BTreeMap::new();
    for (group, (capacity, enforce)) in
        groups.all().iter().zip(capacity.groups.iter().zip(&enforce.groups))
    {
        let id = group.application.subject.application_id.as_str();
        let (containers, earlier_s) = earlier.entry(id).or_default();
        *containers += group.containers.len();
        let starts = capacity.starts_s.iter().zip(&enforce.starts_s);
        earlier_s.extend(starts.map(|(before, now)| before - now).filter(|it| *it >= EARLIER_BY_S));
    }
    let completion_s =
        |ends: &BTreeMap<&str, Ended>, id: &str| ends.get(id).map_or(0.0, Ended::completion_s);
    let applications = groups.compared().into_iter().map(|application| {
        let subject = &application.subject;
        let id = subject.application_id.as_str();
        let (containers, earlier_s) = earlier.remove(id).unwrap_or_default();
        let gain = Gain {
            containers,
            containers_earlier: earlier_s.len(),
            mean_earlier_s: mean(&earlier_s),
            recorded_completion_s: completion_s(&in_record, id),
            capacity_completion_s: completion_s(&in_capacity, id),
            enforce_completion_s: completion_s(&in_enforce, id),
            recorded_node_hours: recorded.node_hours(id),
            capacity_node_hours: capacity.node_hours(id),
            enforce_node_hours: enforce.node_hours(id),
        };
        ByApplication {
            id: id.to_owned(),
            name: subject.application_name.clone(),
            user: subject.user.clone(),
            queue: subject.queue.clone(),
            submitted_ms: application.submitted_ms,
            gain,
        }
    });
    applications.collect()
}

pub(super) fn by_queue(applications: &[ByApplication]) -> Vec<ByQueue> {
    let mut queues: BTreeMap<&str, Vec<&ByApplication>> = BTreeMap::new();
    for application in applications {
        queues.entry(&application.queue).or_default().push(application);
    }
    let queues = queues.into_iter().map(|(queue, all)| ByQueue {
        queue: queue.to_owned(),
        applications: all.len(),
        gain: Gain::of_all(all.iter().map(|it| &it.gain)),
    });
    queues.collect()
}

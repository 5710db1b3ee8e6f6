//! The figures of replays, in all and by queue and application.

use std::collections::BTreeMap;

use serde::Serialize;

use super::EARLIER_BY_S;
use super::groups::Groups;
use super::replay::{Replay, ReplayedGroup};

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
            mean_completion_s: crate::summary::mean(&completions),
            mean_wait_s: crate::summary::mean(&waits),
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
}

impl ByApplication {
    pub(super) fn saved_s(&self) -> f64 {
        self.capacity_completion_s - self.enforce_completion_s
    }
}

/// One queue: sums, and means over its applications.
#[derive(Debug, Clone, Serialize)]
pub struct ByQueue {
    /// Its path.
    pub queue: String,
    /// Compared ones.
    pub applications: usize,
    /// Their executors.
    pub containers: usize,
    /// Those that start earlier.
    pub containers_earlier: usize,
    /// By how much these start earlier, on average.
    pub mean_earlier_s: f64,
    /// From submission to end, as it was.
    pub recorded_completion_s: f64,
    /// The same in the replay as CapacityScheduler.
    pub capacity_completion_s: f64,
    /// The same in the replay in mode `enforce`.
    pub enforce_completion_s: f64,
}

/// The number of containers that start earlier, and by how much on average.
pub(super) fn all_earlier(parts: impl Iterator<Item = (usize, f64)>) -> (usize, f64) {
    let (mut count, mut sum_s) = (0, 0.0);
    for (containers, mean_s) in parts {
        count += containers;
        sum_s += containers as f64 * mean_s;
    }
    (count, if count > 0 { sum_s / count as f64 } else { 0.0 })
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
    let [recorded, in_capacity, in_enforce] =
        [recorded, capacity, enforce].map(|replay| ends(groups, &replay.groups));
    let mut earlier: BTreeMap<&str, (usize, Vec<f64>)> = BTreeMap::new();
    for (group, (capacity, enforce)) in
        groups.all().iter().zip(capacity.groups.iter().zip(&enforce.groups))
    {
        let id = group.application.subject.application_id.as_str();
        let (containers, gains) = earlier.entry(id).or_default();
        *containers += group.containers.len();
        let starts = capacity.starts_s.iter().zip(&enforce.starts_s);
        gains.extend(starts.map(|(before, now)| before - now).filter(|it| *it >= EARLIER_BY_S));
    }
    let completion_s =
        |ends: &BTreeMap<&str, Ended>, id: &str| ends.get(id).map_or(0.0, Ended::completion_s);
    let applications = groups.compared().into_iter().map(|application| {
        let subject = &application.subject;
        let id = subject.application_id.as_str();
        let (containers, gains) = earlier.remove(id).unwrap_or_default();
        ByApplication {
            id: id.to_owned(),
            name: subject.application_name.clone(),
            user: subject.user.clone(),
            queue: subject.queue.clone(),
            submitted_ms: application.submitted_ms,
            containers,
            containers_earlier: gains.len(),
            mean_earlier_s: crate::summary::mean(&gains),
            recorded_completion_s: completion_s(&recorded, id),
            capacity_completion_s: completion_s(&in_capacity, id),
            enforce_completion_s: completion_s(&in_enforce, id),
        }
    });
    applications.collect()
}

pub(super) fn by_queue(applications: &[ByApplication]) -> Vec<ByQueue> {
    let mut queues: BTreeMap<&str, Vec<&ByApplication>> = BTreeMap::new();
    for application in applications {
        queues.entry(&application.queue).or_default().push(application);
    }
    let queues = queues.into_iter().map(|(queue, all)| {
        let mean = |of: fn(&ByApplication) -> f64| {
            crate::summary::mean(&all.iter().map(|it| of(it)).collect::<Vec<_>>())
        };
        let earlier = all.iter().map(|it| (it.containers_earlier, it.mean_earlier_s));
        let (containers_earlier, mean_earlier_s) = all_earlier(earlier);
        ByQueue {
            queue: queue.to_owned(),
            applications: all.len(),
            containers: all.iter().map(|it| it.containers).sum(),
            containers_earlier,
            mean_earlier_s,
            recorded_completion_s: mean(|it| it.recorded_completion_s),
            capacity_completion_s: mean(|it| it.capacity_completion_s),
            enforce_completion_s: mean(|it| it.enforce_completion_s),
        }
    });
    queues.collect()
}

//! The past as the simulator reads it.

use std::collections::{HashMap, HashSet};

use elastane_core::Resources;
use elastane_core::cluster::{QueueShare, Request, UserLimit};
use elastane_runtime::{PastApplication, PastCluster};

use super::group::Group;
use super::reader::Reader;
use super::replay::Replay;
use super::shared_work::common_end;
use crate::workload::{MasterSpec, MastersLimit, QueueSpec, Workload};

/// Of a queue that has no part of the nodes without a label.
const LEAST_PART: f64 = 1e-3;

/// The past in groups.
pub(super) struct Groups<'a> {
    past: &'a PastCluster,
    machines: Vec<Resources>,
    queues: Vec<QueueSpec>,
    /// In the order of their arrival.
    groups: Vec<Group<'a>>,
    masters: Vec<MasterSpec>,
    /// Applications that are not replayed.
    pub(super) left_out: usize,
}

impl<'a> Groups<'a> {
    pub(super) fn of(past: &'a PastCluster) -> Self {
        let machines = machines(past);
        let mut queues = queues(past);
        let mut groups = Vec::new();
        let mut left_out = 0;
        for application in &past.applications {
            let path = application.subject.queue.as_str();
            let queue = queues.iter().position(|it| it.path == path).unwrap_or_else(|| {
                queues.push(QueueSpec::new(path, LEAST_PART));
                queues.len() - 1
            });
            let found = Reader { past, application, queue }.groups();
            if found.is_empty()
                || !found.iter().all(|it| fits(it, &machines, most_of(&queues, path)))
            {
                left_out += 1;
            } else {
                groups.extend(found);
            }
        }
        // What ran before the record goes first.
        groups.sort_by_key(|group| group.arrival_ms);
        let mut all = Self { past, machines, queues, groups, masters: Vec::new(), left_out };
        all.masters = all.read_masters();
        all
    }

    /// The workload. Executors take as long as they would if they started at `starts_s` (seconds, by group), or as long
    /// as recorded if `starts_s` is empty.
    pub(super) fn workload(&self, starts_s: &[Vec<f64>]) -> Workload {
        let ends = self.ends(starts_s);
        let specs = self.groups.iter().enumerate();
        let specs = specs.map(|(place, group)| {
            let starts_s = starts_s.get(place).map_or(&[][..], Vec::as_slice);
            let end = ends.get(group.application.subject.application_id.as_str());
            group.spec(starts_s, end.copied())
        });
        Workload {
            name: "what happened".to_owned(),
            machines: self.machines.clone(),
            heartbeat_ms: 1_000,
            queues: self.queues.clone(),
            applications: specs.collect(),
            masters: self.masters.clone(),
        }
    }

    fn read_masters(&self) -> Vec<MasterSpec> {
        let mut lasts_ms: HashMap<&str, i64> = HashMap::new();
        for group in &self.groups {
            let lasts = lasts_ms.entry(&group.application.subject.application_id).or_default();
            *lasts = group.delay_ms.max(*lasts);
        }
        let master = |application: &PastApplication| {
            let mut containers = application.containers.iter();
            // An unmanaged application has none.
            let master = containers.find(|it| it.kind.is_application_master())?;
            let name = application.subject.application_id.as_str();
            Some(MasterSpec {
                name: name.to_owned(),
                memory_bytes: master.request.memory_bytes,
                runs_already: master.started_ms < self.past.since_ms,
                lasts_ms: lasts_ms.get(name).copied().unwrap_or_default(),
            })
        };
        self.applications().into_iter().filter_map(master).collect()
    }

    /// When the work of each application is done that its executors share, in slots of the replay.
    fn ends(&self, starts_s: &[Vec<f64>]) -> HashMap<&'a str, f64> {
        let mut shared: HashMap<&str, (Vec<f64>, f64)> = HashMap::new();
        for (group, starts_s) in self.groups.iter().zip(starts_s) {
            let id = group.application.subject.application_id.as_str();
            let (starts, work) = shared.entry(id).or_default();
            starts.extend(group.shared_starts(starts_s));
            *work += group.shared_work();
        }
        let shared = shared.into_iter().filter(|(_, (starts, _))| !starts.is_empty());
        shared.map(|(id, (starts, work))| (id, common_end(&starts, work))).collect()
    }

    pub(super) fn all(&self) -> &[Group<'a>] {
        &self.groups
    }

    /// The beginning of the record, in Unix milliseconds.
    pub(super) fn since_ms(&self) -> i64 {
        self.past.since_ms
    }

    /// Whether an application began and ended in the record.
    pub(super) fn is_compared(&self, application: &PastApplication) -> bool {
        application.ended_ms.is_some() && application.submitted_ms >= self.past.since_ms
    }

    /// What is replayed, in the order of the first executors.
    pub(super) fn applications(&self) -> Vec<&'a PastApplication> {
        let mut seen = HashSet::new();
        let applications = self.groups.iter().map(|group| group.application);
        applications.filter(|it| seen.insert(it.subject.application_id.as_str())).collect()
    }

    /// In the order of their first executors.
    pub(super) fn compared(&self) -> Vec<&'a PastApplication> {
        let applications = self.applications().into_iter();
        applications.filter(|it| self.is_compared(it)).collect()
    }

    pub(super) fn not_compared(&self) -> usize {
        let applications = self.applications().into_iter();
        applications.filter(|it| !self.is_compared(it)).count()
    }

    /// What happened, as a replay that went exactly so.
    pub(super) fn recorded(&self) -> Replay {
        Replay::recorded(self, self.past)
    }
}

/// The largest part that a queue may use, by its own maximum and those of the queues above it.
fn most_of(queues: &[QueueSpec], path: &str) -> f64 {
    queues.iter().filter(|it| it.holds(path)).map(|it| it.maximum).fold(1.0, f64::min)
}

/// Whether an executor of a group may ever start in a queue with this largest part.
fn fits(group: &Group<'_>, machines: &[Resources], most: f64) -> bool {
    let memory_bytes = group.request.memory_bytes as f64;
    let registered_bytes: f64 = machines.iter().map(|machine| machine.memory_bytes).sum();
    memory_bytes <= registered_bytes * most
        && machines.iter().any(|machine| {
            memory_bytes <= machine.memory_bytes
                && f64::from(group.request.vcores) <= machine.cpu_cores
        })
}

/// Sizes as registered. CPU is in virtual cores where CapacityScheduler counts them.
fn machines(past: &PastCluster) -> Vec<Resources> {
    let counts = past.settings.cluster.virtual_cores_count;
    let machine = past.nodes.iter().map(|node| Resources {
        cpu_cores: if counts { f64::from(node.registered.vcores) } else { node.physical.cpu_cores },
        memory_bytes: node.registered.memory_bytes as f64,
        ..node.physical
    });
    machine.collect()
}

/// The queues below the root, of nodes without a label.
fn queues(past: &PastCluster) -> Vec<QueueSpec> {
    let below_root = |queue: &&QueueShare| queue.label.is_empty() && queue.queue.contains('.');
    let memory_bytes: f64 = past.nodes.iter().map(|it| it.registered.memory_bytes as f64).sum();
    let part = |amount: Option<Request>, part: f64| match amount {
        Some(amount) if memory_bytes > 0.0 => amount.memory_bytes as f64 / memory_bytes,
        _ => part,
    };
    let queue = past.queues.iter().filter(below_root).map(|queue| {
        let capacity = part(queue.guaranteed, queue.capacity);
        QueueSpec {
            path: queue.queue.clone(),
            is_leaf: queue.is_leaf,
            capacity: capacity.clamp(LEAST_PART, 1.0),
            maximum: part(queue.at_most, queue.maximum).clamp(LEAST_PART, 1.0),
            masters: queue.masters.map(|part| {
                let step = queue.user_limit.map_or(0, |it| it.minimum_allocation.memory_bytes);
                MastersLimit { part, step_bytes: step.max(1) }
            }),
            user_limit: queue.user_limit.map(|limit| UserLimit {
                // A multiple of no guarantee is no limit.
                factor: if capacity > 0.0 { limit.factor } else { -1.0 },
                ..limit
            }),
        }
    });
    queue.collect()
}

//! The past as the simulator reads it: groups of executors that were asked for together and are alike.

use std::collections::HashMap;

use elastane_core::cluster::Request;
use elastane_core::{ContainerKind, Demand, Resources, SLOT_MS};
use elastane_runtime::{PastApplication, PastCluster, PastContainer};

use super::folded::{Master, Share, with_margin};
use super::replay::Replay;
use super::shared_work::common_end;
use crate::workload::{ApplicationSpec, Errors, QueueSpec, Workload, stretched};

/// Executors that are asked for later belong to another group.
const TOGETHER_MS: i64 = 30_000;

/// Executors that end by so much earlier than their application did not run until its end.
const UNTIL_END_MS: i64 = 10_000;

const SLOT: f64 = SLOT_MS as f64;

/// The past in groups.
pub(super) struct Groups<'a> {
    past: &'a PastCluster,
    machines: Vec<Resources>,
    queues: Vec<QueueSpec>,
    groups: Vec<Group<'a>>,
    /// Applications that are not replayed.
    pub(super) left_out: usize,
}

/// Executors of one application.
#[derive(Debug, Clone)]
pub(super) struct Group<'a> {
    pub(super) application: &'a PastApplication,
    pub(super) containers: Vec<&'a PastContainer>,
    /// When they were asked for, as if the master had started at once; in milliseconds of the replay.
    pub(super) arrival_ms: i64,
    /// From the end of the last one's work to that of its part in its application.
    pub(super) delay_ms: i64,
    queue: usize,
    request: Request,
    actual: Demand,
    predicted: Option<Demand>,
    slots_before: usize,
    /// Slots of work of each, as recorded, and whether it ran until its application ended.
    lives: Vec<(f64, bool)>,
}

impl Group<'_> {
    /// How many slots each executor takes if they start at these times, in seconds; as recorded without them.
    fn lengths(&self, starts_s: Option<&[f64]>) -> Vec<usize> {
        let before = self.slots_before as f64;
        let shared: Vec<usize> = (0..self.lives.len()).filter(|it| self.lives[*it].1).collect();
        let work: f64 = shared.iter().map(|number| self.lives[*number].0).sum();
        let start =
            |number: usize| starts_s.map(|all| all.get(number).map_or(0.0, |it| it * 1e3 / SLOT));
        let starts: Option<Vec<f64>> = shared.iter().map(|number| start(*number)).collect();
        let end = starts.filter(|it| !it.is_empty()).map(|starts| common_end(&starts, work));
        let lives = self.lives.iter().enumerate();
        let slots = lives.map(|(number, (life, is_shared))| {
            let worked = match (end, start(number)) {
                (Some(end), Some(start)) if *is_shared => end - start,
                _ => *life,
            };
            stretched(1, before + worked.max(1.0))
        });
        slots.collect()
    }

    fn spec(&self, starts_s: Option<&[f64]>) -> ApplicationSpec {
        ApplicationSpec {
            name: self.application.subject.application_id.clone(),
            queue: self.queue,
            submitted_ms: self.arrival_ms,
            deadline_ms: None,
            executors: self.containers.len() as u32,
            request: self.request,
            predicted: self.predicted.clone(),
            actual: self.actual.clone(),
            lengths: Some(self.lengths(starts_s).into()),
            errors: Errors::default(),
        }
    }
}

impl<'a> Groups<'a> {
    pub(super) fn of(past: &'a PastCluster) -> Self {
        let machines = machines(past);
        let queues = queues(past);
        let places: HashMap<&str, usize> =
            queues.iter().enumerate().map(|(place, it)| (it.path.as_str(), place)).collect();
        let mut groups = Vec::new();
        let mut left_out = 0;
        for application in &past.applications {
            let queue = places.get(application.subject.queue.as_str()).copied().unwrap_or(0);
            let found = Reader { past, application, queue }.groups();
            let fits = |group: &Group<'_>| {
                machines.iter().any(|machine| {
                    group.request.memory_bytes as f64 <= machine.memory_bytes
                        && f64::from(group.request.vcores) <= machine.cpu_cores
                })
            };
            if found.is_empty() || !found.iter().all(fits) {
                left_out += 1;
            } else {
                groups.extend(found);
            }
        }
        groups.sort_by_key(|group| group.arrival_ms);
        Self { past, machines, queues, groups, left_out }
    }

    /// A workload of executors that start at these times, by group; the first time as they are recorded.
    pub(super) fn workload(&self, starts_s: Option<&[Vec<f64>]>) -> Workload {
        let specs = self.groups.iter().enumerate();
        let specs =
            specs.map(|(place, group)| group.spec(starts_s.map(|all| all[place].as_slice())));
        Workload {
            name: "what happened".to_owned(),
            machines: self.machines.clone(),
            heartbeat_ms: 1_000,
            queues: self.queues.clone(),
            applications: specs.collect(),
        }
    }

    pub(super) fn all(&self) -> &[Group<'a>] {
        &self.groups
    }

    /// Whether an application began and ended in the record.
    pub(super) fn is_compared(&self, application: &PastApplication) -> bool {
        application.ended_ms.is_some() && application.submitted_ms >= self.past.since_ms
    }

    /// In the order of their first executors.
    pub(super) fn compared(&self) -> Vec<&'a PastApplication> {
        let mut seen = std::collections::HashSet::new();
        let applications = self.groups.iter().map(|group| group.application);
        let compared = applications.filter(|it| self.is_compared(it));
        compared.filter(|it| seen.insert(it.subject.application_id.as_str())).collect()
    }

    pub(super) fn not_compared(&self) -> usize {
        let applications = self.past.applications.iter();
        applications.filter(|it| !self.is_compared(it)).count()
    }

    /// The beginning of the record, in Unix milliseconds.
    pub(super) fn since_ms(&self) -> i64 {
        self.past.since_ms
    }

    /// Whether a queue may not have the whole cluster.
    pub(super) fn have_maximum(&self) -> bool {
        self.queues.iter().any(|queue| queue.maximum < 1.0)
    }

    /// What happened, as a replay that went exactly so.
    pub(super) fn recorded(&self) -> Replay {
        Replay::recorded(self, self.past)
    }
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

/// Virtual cores of a physical one.
fn vcores_per_core(past: &PastCluster) -> f64 {
    let measured = || past.nodes.iter().filter(|node| node.physical.cpu_cores > 0.0);
    let cores: f64 = measured().map(|node| node.physical.cpu_cores).sum();
    let vcores: f64 = measured().map(|node| f64::from(node.registered.vcores)).sum();
    if past.settings.cluster.virtual_cores_count && cores > 0.0 { vcores / cores } else { 1.0 }
}

/// The leaf queues of nodes without a label.
fn queues(past: &PastCluster) -> Vec<QueueSpec> {
    let leaves = past.queues.iter().filter(|queue| queue.is_leaf && queue.label.is_empty());
    let memory_bytes: f64 = past.nodes.iter().map(|it| it.registered.memory_bytes as f64).sum();
    let part = |amount: Option<Request>, part: f64| match amount {
        Some(amount) if memory_bytes > 0.0 => amount.memory_bytes as f64 / memory_bytes,
        _ => part,
    };
    let queue = leaves.map(|queue| QueueSpec {
        path: queue.queue.clone(),
        capacity: part(queue.guaranteed, queue.capacity).clamp(1e-3, 1.0),
        maximum: part(queue.at_most, queue.maximum).clamp(1e-3, 1.0),
    });
    queue.collect()
}

/// One application, in groups.
struct Reader<'a> {
    past: &'a PastCluster,
    application: &'a PastApplication,
    queue: usize,
}

impl<'a> Reader<'a> {
    fn groups(&self) -> Vec<Group<'a>> {
        let (masters, mut executors): (Vec<_>, Vec<_>) =
            self.application.containers.iter().partition(|it| it.kind.is_application_master());
        // A master that was started anew after a failure: the last one is the one that got on.
        let master = masters.last().copied();
        if executors.is_empty() {
            executors.extend(master);
            return self.group(executors, None, true).into_iter().collect();
        }
        executors
            .sort_by_key(|it| (it.kind, it.request.memory_bytes, it.request.vcores, it.asked_ms));
        let mut together: Vec<Vec<&PastContainer>> = Vec::new();
        for executor in executors {
            match together.last_mut().filter(|group| is_of(group, executor)) {
                Some(group) => group.push(executor),
                None => together.push(vec![executor]),
            }
        }
        together.sort_by_key(|group| group[0].asked_ms);
        let groups = together.into_iter().enumerate();
        groups.filter_map(|(place, group)| self.group(group, master, place == 0)).collect()
    }

    /// The first group has the master's shares.
    fn group(
        &self,
        mut containers: Vec<&'a PastContainer>,
        master: Option<&'a PastContainer>,
        is_first: bool,
    ) -> Option<Group<'a>> {
        containers.sort_by_key(|it| it.started_ms);
        let first = *containers.first()?;
        let asked_ms = containers.iter().map(|it| it.asked_ms).min()?;
        let lead_ms = master.map_or(0, |master| (asked_ms - master.started_ms).max(0));
        let counts = self.past.settings.cluster.virtual_cores_count;
        let vcores = |it: Request| Request { vcores: if counts { it.vcores } else { 0 }, ..it };
        let share = master.filter(|_| is_first).map(|master| {
            let folded = Master {
                request: vcores(master.request),
                used: self.series(master.kind),
                predicted: self.application.demands.of(master.kind),
                lead_ms,
            };
            Share::of(folded, containers.len(), first.request)
        });
        let used = self.series(first.kind);
        if used.is_empty() {
            return None;
        }
        let lives = self.lives(&containers, used.len());
        let longest = lives.iter().map(|(life, _)| *life).fold(1.0, f64::max).round() as usize;
        let used = &used[..longest.min(used.len())];
        let predicted = self.application.demands.of(first.kind);
        let series = |slots: Vec<Resources>| {
            let factor = vcores_per_core(self.past);
            let scaled = slots.into_iter();
            let scaled: Vec<_> = scaled
                .map(|slot| Resources { cpu_cores: slot.cpu_cores * factor, ..slot })
                .collect();
            Demand::series(SLOT_MS, &scaled).ok()
        };
        let (actual, predicted, slots_before, delay_ms) = match &share {
            Some(share) => (
                share.used(used),
                predicted.map(|it| share.predicted(it)),
                share.slots_before,
                share.delay_ms(),
            ),
            None => (used.to_vec(), predicted.map(with_margin), 0, 0),
        };
        let request = vcores(first.request);
        let submitted_ms = self.application.submitted_ms;
        // The first group begins with its master, the others as long after it as they were asked for.
        let arrival_ms = submitted_ms + if is_first { 0 } else { lead_ms } - self.past.since_ms;
        Some(Group {
            application: self.application,
            arrival_ms: arrival_ms.max(0),
            delay_ms,
            queue: self.queue,
            request: share.as_ref().map_or(request, |share| share.request(request)),
            actual: series(actual)?,
            predicted: predicted.and_then(series),
            slots_before,
            lives,
            containers,
        })
    }

    fn series(&self, kind: ContainerKind) -> &'a [Resources] {
        let found = self.application.series.iter().find(|series| series.kind == kind);
        found.map_or(&[], |series| series.slots.as_slice())
    }

    /// Each container's slots of work, and whether it ran until the application ended. The longest life of the kind is
    /// what its series has, which is shorter where nodes were crowded.
    fn lives(&self, containers: &[&PastContainer], slots: usize) -> Vec<(f64, bool)> {
        let end_ms = self.application.ended_ms.unwrap_or(self.past.until_ms);
        let ended_ms = |it: &PastContainer| it.ended_ms.unwrap_or(end_ms);
        let life_ms = |it: &PastContainer| (ended_ms(it) - it.started_ms).max(1) as f64;
        let kind = containers.first().map(|it| it.kind);
        let of_kind = self.application.containers.iter().filter(|it| Some(it.kind) == kind);
        let longest_ms = of_kind.map(life_ms).fold(1.0, f64::max);
        let speed = (slots as f64 * SLOT / longest_ms).clamp(0.2, 1.0);
        let last_ms = self.application.containers.iter().map(ended_ms).max().unwrap_or(end_ms);
        let until_end = |it: &PastContainer| last_ms - ended_ms(it) <= UNTIL_END_MS;
        containers.iter().map(|it| (life_ms(it) * speed / SLOT, until_end(it))).collect()
    }
}

fn is_of(group: &[&PastContainer], executor: &PastContainer) -> bool {
    let first = group[0];
    first.kind == executor.kind
        && first.request == executor.request
        && executor.asked_ms - first.asked_ms <= TOGETHER_MS
}

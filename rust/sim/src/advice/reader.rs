//! Reads one application of the past into groups.

use elastane_core::cluster::Request;
use elastane_core::{ContainerKind, Demand, Resources, SLOT_MS};
use elastane_runtime::{PastApplication, PastCluster, PastContainer};

use super::folded::{Master, Share, with_margin};
use super::group::{Group, Life, SLOT};
use super::pool::Pools;

/// Executors that are asked for later belong to another group.
const TOGETHER_MS: i64 = 30_000;

/// The longest time from an executor's end to that of its application's last one, if it worked until the end.
const SHARES_WORK_WITHIN_MS: i64 = 10_000;

/// One application.
pub(super) struct Reader<'a, 'p> {
    pub(super) past: &'a PastCluster,
    pub(super) pools: &'p Pools<'a>,
    pub(super) application: &'a PastApplication,
}

/// What all containers of a kind have in common.
struct Kind<'a> {
    used: &'a [Resources],
    /// Slots of work in a millisecond of life: fewer than on free nodes, where nodes were crowded.
    slots_per_ms: f64,
}

impl<'a> Reader<'a, '_> {
    /// In the order in which they were asked for.
    pub(super) fn groups(&self) -> Vec<Group<'a>> {
        let containers = self.application.containers.iter();
        let containers = containers.filter(|it| self.ended_ms(it) > self.past.since_ms);
        let (masters, mut executors): (Vec<_>, Vec<_>) =
            containers.partition(|it| it.kind.is_application_master());
        // The first one: what follows its failure is a part of the application's time.
        let master = masters.first().copied();
        if executors.is_empty() {
            executors.extend(master);
            return self.group(executors, None, true).into_iter().collect();
        }
        executors.sort_by_key(|it| {
            let Request { memory_bytes, vcores } = it.request;
            (self.label(it), it.kind, memory_bytes, vcores, it.asked_ms)
        });
        let mut together: Vec<Vec<&PastContainer>> = Vec::new();
        for executor in executors {
            match together.last_mut().filter(|group| self.is_of(group, executor)) {
                Some(group) => group.push(executor),
                None => together.push(vec![executor]),
            }
        }
        together.sort_by_key(|group| group[0].asked_ms);
        let groups = together.into_iter().enumerate();
        groups.filter_map(|(place, group)| self.group(group, master, place == 0)).collect()
    }

    /// The first group has the master's shares, and begins with its master.
    fn group(
        &self,
        mut containers: Vec<&'a PastContainer>,
        master: Option<&'a PastContainer>,
        is_first: bool,
    ) -> Option<Group<'a>> {
        containers.sort_by_key(|it| it.started_ms);
        let first = *containers.first()?;
        let (kind, label) = (self.kind(first.kind)?, self.label(first));
        let asked_ms = containers.iter().map(|it| it.asked_ms).min()?;
        let submitted_ms = self.application.submitted_ms;
        // Without a master, as of an unmanaged application, from its submission on.
        let lead_ms = (asked_ms - master.map_or(submitted_ms, |it| it.started_ms)).max(0);
        let master = master.filter(|_| is_first);
        let arrival_ms = submitted_ms + if master.is_some() { 0 } else { lead_ms };
        let share = master.map(|master| {
            let folded = Master {
                request: counted(self.past, master.request),
                used: self.series(master.kind),
                predicted: self.application.demands.of(master.kind),
                lead_ms,
            };
            Share::of(folded, containers.len(), first.request)
        });
        let lives = self.lives(&containers, &kind);
        let used = self.used(&containers, &kind, &lives);
        let predicted = self.application.demands.of(first.kind);
        let request = counted(self.past, first.request);
        let (request, actual, predicted, slots_before, delay_ms) = match &share {
            Some(share) => (
                share.request(request),
                share.used(used),
                predicted.map(|it| share.predicted(it)),
                share.slots_before,
                share.delay_ms(),
            ),
            None => (request, used.to_vec(), predicted.map(with_margin), 0, 0),
        };
        Some(Group {
            application: self.application,
            arrival_ms: arrival_ms - self.past.since_ms,
            delay_ms,
            label,
            queue: self.pools.get(label)?.queue(&self.application.subject.queue)?,
            request,
            actual: self.demand(actual)?,
            predicted: predicted.and_then(|slots| self.demand(slots)),
            slots_before,
            lives,
            containers,
        })
    }

    fn label(&self, container: &'a PastContainer) -> &'a str {
        self.pools.label_of(&container.label)
    }

    fn is_of(&self, group: &[&'a PastContainer], executor: &'a PastContainer) -> bool {
        let first = group[0];
        self.label(first) == self.label(executor)
            && first.kind == executor.kind
            && first.request == executor.request
            && executor.asked_ms - first.asked_ms <= TOGETHER_MS
    }

    /// None where no container of the kind was measured.
    fn kind(&self, kind: ContainerKind) -> Option<Kind<'a>> {
        let used = self.series(kind);
        let of_kind = self.application.containers.iter().filter(|it| it.kind == kind);
        let lives_ms = of_kind.map(|it| (self.ended_ms(it) - it.started_ms) as f64);
        let longest_ms = lives_ms.fold(SLOT, f64::max);
        let speed = (used.len() as f64 * SLOT / longest_ms).clamp(0.2, 1.0);
        (!used.is_empty()).then_some(Kind { used, slots_per_ms: speed / SLOT })
    }

    fn series(&self, kind: ContainerKind) -> &'a [Resources] {
        let found = self.application.series.iter().find(|series| series.kind == kind);
        found.map_or(&[], |series| series.slots.as_slice())
    }

    /// The part of each container's work that is in the record.
    fn lives(&self, containers: &[&PastContainer], kind: &Kind<'_>) -> Vec<Life> {
        let last_ms = self.application.containers.iter().map(|it| self.ended_ms(it)).max();
        let life = containers.iter().map(|it| {
            let ended_ms = self.ended_ms(it);
            let life_ms = (ended_ms - it.started_ms.max(self.past.since_ms)).max(1);
            Life {
                slots: life_ms as f64 * kind.slots_per_ms,
                shares_work: last_ms.is_some_and(|last| last - ended_ms <= SHARES_WORK_WITHIN_MS),
            }
        });
        life.collect()
    }

    /// What the longest of these used: from the slot that it was in when the record began.
    fn used(
        &self,
        containers: &[&PastContainer],
        kind: &Kind<'a>,
        lives: &[Life],
    ) -> &'a [Resources] {
        let before_ms =
            containers.iter().map(|it| (self.past.since_ms - it.started_ms).max(0)).max();
        let last = kind.used.len() - 1;
        let first = ((before_ms.unwrap_or(0) as f64 * kind.slots_per_ms) as usize).min(last);
        let longest = lives.iter().map(|life| life.slots).fold(1.0, f64::max).round() as usize;
        &kind.used[first..(first + longest).min(last + 1)]
    }

    fn ended_ms(&self, container: &PastContainer) -> i64 {
        let end_ms = self.application.ended_ms.unwrap_or(self.past.until_ms);
        container.ended_ms.unwrap_or(end_ms)
    }

    /// With CPU in virtual cores, as machines have it.
    fn demand(&self, slots: Vec<Resources>) -> Option<Demand> {
        let factor = vcores_per_core(self.past);
        let scaled = slots.into_iter();
        let scaled: Vec<_> =
            scaled.map(|slot| Resources { cpu_cores: slot.cpu_cores * factor, ..slot }).collect();
        Demand::series(SLOT_MS, &scaled).ok()
    }
}

/// Without virtual cores where CapacityScheduler does not count them.
pub(super) fn counted(past: &PastCluster, request: Request) -> Request {
    let counts = past.settings.cluster.virtual_cores_count;
    Request { vcores: if counts { request.vcores } else { 0 }, ..request }
}

/// Virtual cores of a physical one; 1 where CapacityScheduler does not count them.
fn vcores_per_core(past: &PastCluster) -> f64 {
    let measured = || past.nodes.iter().filter(|node| node.physical.cpu_cores > 0.0);
    let cores: f64 = measured().map(|node| node.physical.cpu_cores).sum();
    let vcores: f64 = measured().map(|node| f64::from(node.registered.vcores)).sum();
    if past.settings.cluster.virtual_cores_count && cores > 0.0 { vcores / cores } else { 1.0 }
}

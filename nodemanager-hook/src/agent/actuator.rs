//! Changes to the node: limits of all containers at once, and the removal of own groups.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use elastane_protocol::Limits;

use super::{container::NodeContainer, lowerings::Lowerings};
use crate::{
    actuators::{
        Change, Circumstances, KernelFileError, KernelFiles, LimitFile, LimitStep, Margin,
        UrgentRaises, Value, container_of, empty_group, take_back,
    },
    audit::{Audit, Reason},
    cgroups::{Controller, Hierarchies},
    container_id::ContainerId,
    journal::{Journal, JournalError},
    sensors::{Device, ProcFs},
    troubles::Troubles,
};

/// The time that a group which was just emptied gets to become free.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// What the kernel has to reclaim in one round for all memory limits together, so that containers are not slowed down for long:
/// some 20 ms.
const RECLAIM_BYTES: u64 = 64 << 20;

/// The means to change the node.
#[derive(Debug)]
pub(super) struct Actuator {
    pub files: KernelFiles,
    pub journal: Journal,
    pub audit: Audit,
    pub margin: Margin,
    pub urgent_raises: Arc<UrgentRaises>,
    pub lowerings: Lowerings,
    /// The disks whose traffic is limited.
    pub disks: Vec<Device>,
    pub hierarchies: Hierarchies,
    pub proc: ProcFs,
    /// Own groups that no container needs any more, to be removed once they are empty.
    pub leaving: BTreeSet<PathBuf>,
    /// Whether own groups were removed since the parents were looked at.
    pub has_removed: bool,
    /// Counts the calls of [`Self::limit`].
    pub turn: usize,
    pub troubles: Troubles,
}

/// The limits that a container should have, and why.
pub(super) struct Wanted<'a> {
    pub id: &'a ContainerId,
    pub container: &'a mut NodeContainer,
    pub limits: Limits,
    pub reason: Reason,
    /// Whether the watch of its memory limit woke.
    pub is_near_limit: bool,
}

impl<'a> Wanted<'a> {
    pub fn new(
        id: &'a ContainerId,
        container: &'a mut NodeContainer,
        (limits, reason): (Limits, Reason),
    ) -> Self {
        Self { id, container, limits, reason, is_near_limit: false }
    }

    pub fn lifted(id: &'a ContainerId, container: &'a mut NodeContainer, reason: Reason) -> Self {
        Self::new(id, container, (Limits::default(), reason))
    }
}

impl Actuator {
    /// Writes the changes of all containers together, in one safe order. A failed write is tried
    /// again with the next call.
    pub fn limit(&mut self, mut all: Vec<Wanted<'_>>) {
        for wanted in all.iter_mut().filter(|wanted| wanted.limits.memory_bytes.is_none()) {
            wanted.container.forbid_raises(&self.urgent_raises);
        }
        self.collect_lowered();
        for wanted in &mut all {
            // In this order: what follows forgets the values before a raise, and the audit file has to have it.
            self.take_over_raises(wanted);
            self.take_over_written(wanted);
        }
        // Each one is the first in its turn, since what may be reclaimed is bounded.
        if all.len() > 1 {
            self.turn = self.turn.wrapping_add(1);
        }
        let first = self.turn % all.len().max(1);
        all.rotate_left(first);
        let mut reclaim_bytes = RECLAIM_BYTES;
        let steps = all.iter().map(|wanted| self.steps(wanted, &mut reclaim_bytes));
        let steps = steps.collect();
        self.put_in_force(all, steps);
    }

    /// Writes the steps of each container, and queues the slow ones.
    pub fn put_in_force(&mut self, all: Vec<Wanted<'_>>, steps: Vec<Vec<LimitStep>>) {
        let prompt = steps.iter().flatten().filter(|step| !step.is_slow());
        let changes: Vec<&Change> = prompt.flat_map(|step| &step.changes).collect();
        let kept = steps.iter().flatten().flat_map(|step| &step.kept);
        self.lowerings.supersede(changes.iter().copied().chain(kept));
        let mut outcomes = self.files.write_all(&changes).into_iter();
        for (mut wanted, steps) in all.into_iter().zip(&steps) {
            for step in steps {
                if step.is_slow() {
                    let reason = reason_of(step, wanted.reason);
                    self.lower(&mut wanted, step, reason);
                    continue;
                }
                let outcomes = outcomes.by_ref().take(step.changes.len());
                self.settle(&mut wanted, step, outcomes);
            }
        }
    }

    /// Takes what the kernel has to reclaim for them from `reclaim_bytes`.
    pub fn steps(&mut self, wanted: &Wanted<'_>, reclaim_bytes: &mut u64) -> Vec<LimitStep> {
        let Wanted { id, container, .. } = wanted;
        let sensor = &container.sensor;
        let resident = sensor.is_charged_in_group();
        let circumstances = Circumstances {
            resident_bytes: resident.then(|| sensor.resident_bytes()),
            margin: self.margin,
            is_near_limit: wanted.is_near_limit,
            reclaim_bytes: *reclaim_bytes,
            disks: &self.disks,
            open_write: self.lowerings.open_of(container),
        };
        if wanted.limits.memory_bytes.is_some() && sensor.charges_elsewhere() {
            let message =
                format!("{id}: most of its memory is charged to its former group, or is not read");
            self.troubles.warn("memory not limited", message);
        }
        let (files, journal) = (&mut self.files, &mut self.journal);
        let limiter = &container.limiter;
        let steps = limiter.steps(&wanted.limits, circumstances, files, journal);
        let mut possible = Vec::new();
        for step in steps {
            match step {
                Ok(step) => {
                    *reclaim_bytes = reclaim_bytes.saturating_sub(step.reclaimed_bytes);
                    possible.push(step);
                }
                Err(error) if error.is_gone() => self.forget(container),
                Err(error) => self.troubles.warn("limits", format!("{id}: {error}")),
            }
        }
        possible
    }

    fn settle(
        &mut self,
        wanted: &mut Wanted<'_>,
        step: &LimitStep,
        outcomes: impl Iterator<Item = Result<bool, KernelFileError>>,
    ) {
        let (id, container) = (wanted.id, &mut *wanted.container);
        let reason = reason_of(step, wanted.reason);
        let mut written = Vec::new();
        let mut failed = None;
        for (change, outcome) in step.changes.iter().zip(outcomes) {
            match outcome {
                Ok(true) => written.push(change),
                Ok(false) => {}
                Err(error) => failed = Some(error),
            }
        }
        for kept in &step.kept {
            match self.write_if_overwritten(kept, (id.clone(), reason, wanted.limits)) {
                Ok(true) => written.push(kept),
                Ok(false) => {}
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(error) if error.is_gone() => self.forget(container),
            Some(error) => {
                container.limiter.settle_part(step, &written);
                self.troubles.warn("limits", format!("{id}: {error}"));
            }
            None => self.record(wanted, step),
        }
        if written.is_empty() {
            return;
        }
        self.audit.changed(id, reason, &wanted.limits, &written);
    }

    /// Counts a step as in force.
    pub fn record(&mut self, wanted: &mut Wanted<'_>, step: &LimitStep) {
        let (files, journal) = (&mut self.files, &mut self.journal);
        let saved = wanted.container.limiter.settle(step, files, journal);
        self.troubles.check("journal", saved);
    }

    /// Takes over a memory limit that rose while the agent was busy. Otherwise a limit between the former one and the risen one
    /// would count as a raise, and so not be lowered in steps by threads.
    fn take_over_raises(&mut self, wanted: &mut Wanted<'_>) {
        let (id, container) = (wanted.id, &mut *wanted.container);
        let place = container.limiter.place(Controller::Memory);
        // A write that a thread began before the raise may end after it.
        let superseded = |outcome: Result<u64, KernelFileError>| {
            if let (Some(place), Ok(limit_bytes)) = (place, &outcome) {
                self.lowerings.supersede_by_raise(place, *limit_bytes);
            }
            outcome
        };
        let former = container.former_raise.take().map(superseded);
        let watch = container.watched.map(|(watch, _)| watch);
        let newest = watch.and_then(|watch| self.urgent_raises.take(watch, superseded));
        for outcome in former.into_iter().chain(newest) {
            let Some(limit_bytes) = self.troubles.check_of("limits", id, outcome) else {
                let risen = container.limiter.take_over_failed_raise(&mut self.files);
                if let Some(risen) = risen {
                    self.audit.changed(id, Reason::FollowsUse, &wanted.limits, &[&risen]);
                }
                continue;
            };
            let message = format!("{id}: its memory limit rose while the agent was busy");
            self.troubles.warn("limits raised while the agent was busy", message);
            let risen = container.limiter.take_over_raise(limit_bytes, &mut self.files);
            if !risen.is_empty() {
                let risen: Vec<&Change> = risen.iter().collect();
                self.audit.changed(id, Reason::FollowsUse, &wanted.limits, &risen);
            }
        }
    }

    /// Forgets the groups of a container that no longer exist: it has ended while the NodeManager still lists it.
    fn forget(&mut self, container: &NodeContainer) {
        for group in container.limiter.groups().filter(|group| !group.exists()) {
            self.files.forget(group);
            self.journaled(|journal| journal.forget_former_of(group));
        }
    }

    /// Writes values to the files of a group that a killed agent limited.
    pub fn restore_values(&mut self, group: &Path, values: Vec<(LimitFile, Value)>) {
        let Some(container) = container_of(group) else {
            return;
        };
        let changes =
            values.into_iter().map(|(file, value)| Change { group: group.into(), file, value });
        let changes: Vec<Change> = changes.collect();
        let changes: Vec<&Change> = changes.iter().collect();
        let mut written = Vec::new();
        for (change, outcome) in changes.iter().zip(self.files.write_all(&changes)) {
            match outcome {
                Err(error) if !error.is_gone() => {
                    self.troubles.warn("limits not restored", error);
                    continue;
                }
                Ok(true) => written.push(*change),
                _ => {}
            }
            self.journaled(|journal| journal.forget_former(group, change.file));
        }
        self.files.forget(group);
        if !written.is_empty() {
            let none = Limits::default();
            self.audit.changed(&container, Reason::LeftBehind, &none, &written);
        }
    }

    /// Moves the processes of a group back to their former group.
    pub fn put_back(&self, group: &Path) {
        if let Some(hierarchy) = self.hierarchies.of(group) {
            let origin = self.journal.origin(group, hierarchy.mount_point());
            let moved = empty_group(group, hierarchy, origin.as_deref(), &self.proc);
            self.troubles.check("processes not moved back", moved);
        }
    }

    /// Removes the groups that no container needs any more. Their remaining processes return to
    /// their former groups. A busy group is tried again at the next reading.
    pub fn remove_leaving(&mut self) {
        self.collect_lowered();
        let mut leaving = std::mem::take(&mut self.leaving);
        leaving.retain(|group| {
            self.put_back(group);
            if self.lowerings.keeps(group) {
                return true;
            }
            let removed = self.files.remove_group(group);
            let is_gone = self.troubles.check("groups not removed", removed) == Some(true);
            if is_gone {
                self.has_removed = true;
                self.journaled(|journal| journal.forget_origin(group));
            }
            !is_gone
        });
        self.leaving = leaving;
    }

    /// Like [`Self::remove_leaving`], but waits a moment for busy groups and for limits that are still being lowered. Returns
    /// how many stay.
    pub fn remove_leaving_now(&mut self) -> usize {
        let all = self.leaving.len();
        let deadline = Instant::now() + BUSY_TIMEOUT;
        loop {
            self.remove_leaving();
            let has_ended = self.leaving.is_empty() && self.lowerings.open() == 0;
            if has_ended || Instant::now() > deadline {
                break;
            }
            // An ending process keeps its group busy for a moment.
            thread::sleep(Duration::from_millis(10));
        }
        for group in &self.leaving {
            log::warn!("{} is not removed: it is still busy", group.display());
        }
        let left = self.leaving.len();
        log::info!("{} groups removed", all - left);
        left
    }

    /// How many limits are still being lowered in groups that [`Self::remove_leaving_now`] does not count.
    pub fn open_elsewhere(&self) -> usize {
        self.lowerings.open_outside(&self.leaving)
    }

    /// Removes the groups around the containers' groups, and disables the controllers that the agent enabled for them, but
    /// for those around `used`, groups that containers still need.
    pub fn remove_parents(&mut self, used: &BTreeSet<PathBuf>) {
        let is_unused = |group: &Path| !used.iter().any(|used| used.starts_with(group));
        let made: Vec<PathBuf> = self.journal.made().iter().rev().cloned().collect();
        for group in made.into_iter().filter(|group| is_unused(group)) {
            let removed = self.files.remove_group(&group);
            match self.troubles.check("groups not removed", removed) {
                Some(true) => {
                    self.journaled(|journal| journal.forget_made(&group));
                }
                Some(false) => {
                    let group = group.display();
                    log::info!("{group} is not removed: it still has other processes or groups");
                }
                None => {}
            }
        }
        let taken_back = self.journaled(|journal| take_back(journal, is_unused));
        for error in taken_back.unwrap_or_default() {
            log::info!("a controller stays enabled: {error}");
        }
    }

    /// Changes the journal. Counts a failed write as a trouble.
    pub fn journaled<T>(
        &mut self,
        change: impl FnOnce(&mut Journal) -> Result<T, JournalError>,
    ) -> Option<T> {
        self.troubles.check("journal", change(&mut self.journal))
    }
}

fn reason_of(step: &LimitStep, reason: Reason) -> Reason {
    let follows_use = step.follows_use && reason == Reason::PlanStep;
    if follows_use { Reason::FollowsUse } else { reason }
}

#[cfg(test)]
pub(super) mod bench;
#[cfg(test)]
mod tests;

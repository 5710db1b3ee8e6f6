//! Memory limits for which the kernel has to reclaim memory: threads of their own write them.

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    time::Instant,
};

use elastane_protocol::Limits;

use super::{
    actuator::{Actuator, Wanted},
    container::NodeContainer,
};
use crate::{
    actuators::{
        Change, KernelFileError, LimitPlace, LimitStep, Lowered, Reclaims, read_limit, reclaiming,
    },
    audit::Reason,
    cgroups::Controller,
    container_id::ContainerId,
    workers::QueueFull,
};

/// Whose limit a change is, and why.
pub(super) type Told = (ContainerId, Reason, Limits);

#[derive(Debug)]
pub(super) struct Lowerings {
    reclaims: Reclaims,
    /// For the audit file. At most one for each queued write, so there are few.
    told: Vec<(Change, Told)>,
    /// Groups whose write has ended, until their container takes the limit over.
    ended: BTreeSet<PathBuf>,
}

impl Lowerings {
    pub fn new(reclaims: Reclaims) -> Self {
        Self { reclaims, told: Vec::new(), ended: BTreeSet::new() }
    }

    /// The queued change of a container's memory limit, if its write has not ended.
    pub fn open_of(&self, container: &NodeContainer) -> Option<&Change> {
        let place = container.limiter.place(Controller::Memory)?;
        self.reclaims.open_of(&place.group)
    }

    fn queue(&mut self, change: &Change, told: Told) -> Result<(), QueueFull> {
        self.reclaims.lower(change.clone())?;
        self.told.push((change.clone(), told));
        Ok(())
    }

    /// How many writes have not ended.
    pub fn open(&self) -> usize {
        self.reclaims.open().count()
    }

    /// How many writes have not ended in groups other than these.
    pub fn open_outside(&self, groups: &BTreeSet<PathBuf>) -> usize {
        self.reclaims.open().filter(|group| !groups.contains(*group)).count()
    }

    /// Whether a group cannot be removed: the kernel would wait for the end of the write.
    pub fn keeps(&self, group: &Path) -> bool {
        self.reclaims.is_open(group)
    }

    /// Makes the open writes end with the values that the agent is about to write, or that others have written.
    pub fn supersede<'a>(&self, changes: impl IntoIterator<Item = &'a Change>) {
        for change in changes {
            self.reclaims.supersede(change);
        }
    }

    /// Makes the open write of a limit end with the limit to which it has risen.
    pub fn supersede_by_raise(&self, place: &LimitPlace, limit_bytes: u64) {
        let (file, value) = reclaiming(place.version, limit_bytes);
        self.reclaims.supersede(&Change { group: place.group.clone(), file, value });
    }
}

impl Actuator {
    /// Queues a step of which [`LimitStep::is_slow`] holds. If too many wait, the next round tries again.
    pub fn lower(&mut self, wanted: &mut Wanted<'_>, step: &LimitStep, reason: Reason) {
        for change in &step.changes {
            let told = (wanted.id.clone(), reason, wanted.limits);
            if self.lowerings.queue(change, told).is_err() {
                return;
            }
            self.files.forget_value(&change.group, change.file);
        }
        // From now on the limit may be in force.
        self.record(wanted, step);
    }

    /// Writes somebody else's value again if a thread of the agent wrote over it after the agent had read it, and ended
    /// before the agent superseded its write. Returns whether it did. A lower value waits for a thread: the kernel may have to
    /// reclaim memory for it.
    pub fn write_if_overwritten(
        &mut self,
        kept: &Change,
        told: Told,
    ) -> Result<bool, KernelFileError> {
        let Change { group, file, value } = kept;
        if self.lowerings.reclaims.ends_with_newest(kept) {
            return Ok(false);
        }
        let shown = read_limit(group, *file)?;
        let former = self.journal.former(group, *file);
        if former.is_none_or(|former| !former.is_own(shown)) {
            return Ok(false);
        }
        self.files.forget_value(group, *file);
        if !kept.reclaims() || !shown.is_looser_than(*value) {
            return self.files.write(group, *file, *value);
        }
        let not_queued = |error| {
            KernelFileError::new("write", &group.join(file.name()), io::Error::other(error))
        };
        self.lowerings.queue(kept, told).map_err(not_queued)?;
        Ok(false)
    }

    /// Takes over how writes have ended.
    pub fn collect_lowered(&mut self) {
        for Lowered { change, outcome } in self.lowerings.reclaims.collect() {
            self.files.forget_value(&change.group, change.file);
            let told = &mut self.lowerings.told;
            let position = told.iter().position(|(queued, _)| *queued == change);
            let told = position.map(|position| told.swap_remove(position).1);
            match (outcome, told) {
                (Ok(true), told) => {
                    self.files.remember_value(&change);
                    if let Some((id, reason, limits)) = told {
                        self.audit.changed(&id, reason, &limits, &[&change]);
                    }
                }
                (Err(error), Some((id, ..))) if !error.is_gone() => {
                    self.troubles.warn("limits", format!("{id}: {error}"));
                }
                _ => {}
            }
            self.lowerings.ended.insert(change.group);
        }
        self.lowerings.ended.retain(|group| group.exists());
        for group in self.lowerings.reclaims.late(Instant::now()) {
            let message = format!(
                "{}: the kernel has not reclaimed 64 MiB for a lower memory limit within 10 s",
                group.display()
            );
            self.troubles.warn("limits not lowered in time", message);
        }
    }

    /// Takes over the limit that is in force after a write of a container's limit has ended.
    pub fn take_over_written(&mut self, wanted: &mut Wanted<'_>) {
        let limiter = &mut wanted.container.limiter;
        let group = limiter.place(Controller::Memory).map(|place| place.group.clone());
        if group.is_some_and(|group| self.lowerings.ended.remove(&group)) {
            let taken_over = limiter.take_over_written(&mut self.files);
            self.troubles.check_of("limits", wanted.id, taken_over);
        }
    }
}

#[cfg(test)]
mod tests;

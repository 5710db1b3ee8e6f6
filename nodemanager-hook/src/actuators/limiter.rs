//! The limits of one container: what has to change for a plan, and what is in force.

mod step;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use elastane_protocol::Limits;

pub use self::step::LimitStep;
use self::step::Target;
use super::{
    Change, KernelFileError, KernelFiles, LimitError, LimitFile, Value,
    cpu_limits::{CpuSurroundings, cpu_files, cpu_settings, period_us},
    disk_limits::{disk_cap, disk_files},
    file_access::read_value,
    group_state::{memory_limit_of, read_limit},
    memory_limits::{
        Before, Margin, MemoryNow, lowest_limit, memory_v2, next_limit, reclaimed_for, reclaiming,
    },
};
use crate::{
    cgroups::{Controller, Hierarchy, Version},
    journal::{Journal, JournalError},
    memory_watch::wake_at,
    sensors::Device,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Agent,
    /// LinuxContainerExecutor. The journal keeps its values from the first limit on; they are
    /// restored when the limit is lifted.
    ContainerExecutor,
}

/// A group in which a container is limited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitPlace {
    pub group: PathBuf,
    pub version: Version,
    pub mount_point: PathBuf,
    pub owner: Owner,
}

impl LimitPlace {
    pub fn new(hierarchy: &Hierarchy, group: PathBuf, owner: Owner) -> Self {
        let mount_point = hierarchy.mount_point().into();
        Self { group, version: hierarchy.version(), mount_point, owner }
    }
}

/// The inputs of a limit besides the plan.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances<'a> {
    /// None while too little of the resident memory is charged to the group to limit it there.
    pub resident_bytes: Option<u64>,
    pub margin: Margin,
    /// Whether the watch of the memory limit woke.
    pub is_near_limit: bool,
    /// What the kernel may have to reclaim for the limit.
    pub reclaim_bytes: u64,
    pub disks: &'a [Device],
    /// A memory limit that a thread is writing. Until that has ended, the limit only rises or is lifted.
    pub open_write: Option<&'a Change>,
}

/// The limits that the kernel enforces.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct InForce {
    limits: Limits,
    /// The planned memory when the memory limit was computed.
    planned_memory_bytes: Option<u64>,
    /// Version 2: whether `memory.max` is still to be written, see [`memory_v2`].
    is_incomplete: bool,
}

/// Puts the limits of one container in force, each resource in the group where it is limited.
#[derive(Debug, Default)]
pub struct Limiter {
    places: BTreeMap<Controller, LimitPlace>,
    in_force: InForce,
}

impl InForce {
    /// Takes over one resource.
    fn set(&mut self, controller: Controller, from: &Self) {
        let (to, limits) = (&mut self.limits, &from.limits);
        match controller {
            Controller::Cpu => {
                to.cpu_weight_cores = limits.cpu_weight_cores;
                to.cpu_cap_cores = limits.cpu_cap_cores;
            }
            Controller::Memory => {
                to.memory_bytes = limits.memory_bytes;
                self.planned_memory_bytes = from.planned_memory_bytes;
                self.is_incomplete = from.is_incomplete;
            }
            Controller::Disk => to.disk_cap_bytes_per_s = limits.disk_cap_bytes_per_s,
            Controller::CpuAccounting | Controller::Network => {}
        }
    }
}

impl Limiter {
    /// Sets the group in which a resource is limited. No limit is in force there yet.
    pub fn limit_in(&mut self, controller: Controller, place: Option<LimitPlace>) {
        self.in_force.set(controller, &InForce::default());
        self.places.remove(&controller);
        self.places.extend(place.map(|place| (controller, place)));
    }

    pub fn groups(&self) -> impl Iterator<Item = &Path> {
        self.places.values().map(|place| place.group.as_path())
    }

    pub fn place(&self, controller: Controller) -> Option<&LimitPlace> {
        self.places.get(&controller)
    }

    pub fn in_force(&self) -> Limits {
        self.in_force.limits
    }

    /// The changes from the limits in force to the planned ones, one step per resource. Journals the
    /// values of the container executor's files before it returns. A resource whose files cannot
    /// be read is tried again with the next call.
    pub fn steps(
        &self,
        planned: &Limits,
        circumstances: Circumstances<'_>,
        files: &mut KernelFiles,
        journal: &mut Journal,
    ) -> Vec<Result<LimitStep, LimitError>> {
        let mut steps = Vec::new();
        let open = circumstances.open_write;
        for (controller, place) in &self.places {
            let target = match controller {
                Controller::Cpu => self.cpu(place, planned, files),
                Controller::Memory => self.memory(place, planned, circumstances),
                Controller::Disk => Ok(self.disk(place, planned, circumstances.disks)),
                Controller::CpuAccounting | Controller::Network => Ok(None),
            };
            match target {
                Ok(Some(target)) => {
                    let step = LimitStep::new(*controller, place, target, open, files, journal);
                    steps.push(step);
                }
                Ok(None) => {}
                Err(error) => steps.push(Err(error.into())),
            }
        }
        steps
    }

    /// Records that the changes of a step were written.
    pub fn settle(
        &mut self,
        step: &LimitStep,
        files: &mut KernelFiles,
        journal: &mut Journal,
    ) -> Result<(), JournalError> {
        self.in_force.set(step.controller, &step.in_force);
        for (group, file) in &step.returned {
            // The executor may write the file from now on, so the remembered value is void.
            files.forget(group);
            journal.forget_former(group, *file)?;
        }
        Ok(())
    }

    /// Records that some changes of a step were written and others failed.
    pub fn settle_part(&mut self, step: &LimitStep, written: &[&Change]) {
        let has_high = written.iter().any(|change| change.file == LimitFile::MemoryHigh);
        // `memory.high` holds, so `memory.max` waits as after a step down.
        if has_high && step.in_force.limits.memory_bytes.is_some() {
            let in_force = InForce { is_incomplete: true, ..step.in_force };
            self.in_force.set(step.controller, &in_force);
        }
    }

    /// Takes over the memory limit that the files show after a thread's write. It differs from the step's limit if the write
    /// failed, or if another limit was written meanwhile.
    pub fn take_over_written(&mut self, files: &mut KernelFiles) -> Result<(), KernelFileError> {
        let Some(place) = self.places.get(&Controller::Memory) else {
            return Ok(());
        };
        let LimitPlace { group, version, owner, .. } = place;
        let now_bytes = self.in_force.limits.memory_bytes;
        if now_bytes.is_none() && *owner == Owner::ContainerExecutor {
            // A limit that the file shows is the executor's.
            files.forget(group);
            return Ok(());
        }
        if let Some(now_bytes) = now_bytes {
            let (file, value) = reclaiming(*version, now_bytes);
            if file.shows_as(value, read_limit(group, file)?) {
                return Ok(());
            }
        }
        let shown_bytes = memory_limit_of(group, *version)?;
        if shown_bytes != now_bytes {
            self.in_force.limits.memory_bytes = shown_bytes;
            self.in_force.planned_memory_bytes = None;
            self.recheck_memory_max(files);
        }
        Ok(())
    }

    /// Takes over a memory limit that rose without the agent. Returns the changes; none if the agent has written another
    /// limit since then.
    pub fn take_over_raise(&mut self, limit_bytes: u64, files: &mut KernelFiles) -> Vec<Change> {
        let Some(LimitPlace { group, version, .. }) = self.places.get(&Controller::Memory) else {
            return Vec::new();
        };
        // They remember the values before.
        files.forget(group);
        let (risen, max) = match version {
            Version::One => (shown(files, group, LimitFile::MemoryLimit, limit_bytes), None),
            Version::Two => (
                shown(files, group, LimitFile::MemoryHigh, wake_at(limit_bytes)),
                shown(files, group, LimitFile::MemoryMax, limit_bytes),
            ),
        };
        if risen.is_some() {
            self.in_force.limits.memory_bytes = Some(limit_bytes);
        }
        self.recheck_memory_max(files);
        // `memory.max` alone shows that the agent has lowered `memory.high` since then.
        risen.map_or_else(Vec::new, |risen| max.into_iter().chain([risen]).collect())
    }

    /// Takes over that a raise without the agent failed. Returns the change of `memory.max`, which may have risen alone.
    pub fn take_over_failed_raise(&mut self, files: &mut KernelFiles) -> Option<Change> {
        let LimitPlace { group, version, .. } = self.places.get(&Controller::Memory)?;
        let (group, version) = (group.clone(), *version);
        let file = LimitFile::MemoryMax;
        let before = files.remembered(&group, file);
        self.recheck_memory_max(files);
        if version == Version::One {
            return None;
        }
        let value = files.value(&group, file).ok()?;
        before.filter(|before| value.is_looser_than(*before))?;
        Some(Change { group, file, value })
    }

    /// Finds whether `memory.max` is still to be written.
    fn recheck_memory_max(&mut self, files: &mut KernelFiles) {
        let Some(place) = self.places.get(&Controller::Memory) else {
            return;
        };
        files.forget(&place.group);
        let Some(now_bytes) = self.in_force.limits.memory_bytes else {
            return;
        };
        if place.version == Version::Two {
            let max = shown(files, &place.group, LimitFile::MemoryMax, now_bytes);
            self.in_force.is_incomplete = max.is_none();
        }
    }

    fn cpu(
        &self,
        place: &LimitPlace,
        planned: &Limits,
        files: &mut KernelFiles,
    ) -> Result<Option<Target>, KernelFileError> {
        let cpu = |limits: &Limits| (limits.cpu_weight_cores, limits.cpu_cap_cores);
        if cpu(&self.in_force.limits) == cpu(planned) {
            return Ok(None);
        }
        let (group, version) = (&place.group, place.version);
        let around = match version {
            Version::One => files.around(group, &place.mount_point, place.owner == Owner::Agent)?,
            Version::Two => CpuSurroundings { period_us: period_us(group)?, tightest_cores: None },
        };
        let settings = cpu_settings(planned, version, around);
        Ok(Some(Target::new(planned, settings, cpu_files(version).into())))
    }

    fn memory(
        &self,
        place: &LimitPlace,
        planned: &Limits,
        circumstances: Circumstances<'_>,
    ) -> Result<Option<Target>, KernelFileError> {
        let InForce { limits, planned_memory_bytes, is_incomplete } = self.in_force;
        let Some(planned_bytes) = planned.memory_bytes else {
            let all = match place.version {
                Version::One => vec![LimitFile::MemoryLimit],
                Version::Two => vec![LimitFile::MemoryMax, LimitFile::MemoryHigh],
            };
            let lifted = Target::new(planned, Vec::new(), all);
            return Ok(limits.memory_bytes.map(|_| lifted));
        };
        let Some(resident_bytes) = circumstances.resident_bytes else {
            return Ok(None);
        };
        let is_of_same_plan = planned_memory_bytes == Some(planned_bytes);
        let before = limits.memory_bytes.map(|limit_bytes| Before { limit_bytes, is_of_same_plan });
        let next = |lowest_bytes| {
            let held = MemoryNow { resident_bytes, lowest_bytes };
            let (margin, is_near) = (circumstances.margin, circumstances.is_near_limit);
            next_limit(before, planned_bytes, held, margin, is_near)
        };
        let stays = |limit_bytes| is_of_same_plan && limits.memory_bytes == Some(limit_bytes);
        if !is_incomplete && stays(next(0)) {
            // Most rounds end here, without a read.
            return Ok(None);
        }
        let charged_bytes = charged_bytes(place)?;
        let version = place.version;
        let limit_bytes = next(lowest_limit(version, charged_bytes, circumstances.reclaim_bytes));
        if circumstances.is_near_limit && limits.memory_bytes.is_some_and(|now| limit_bytes <= now)
        {
            // A wake only raises.
            return Ok(None);
        }
        let is_open = circumstances.open_write.is_some();
        if is_open && limits.memory_bytes.is_none_or(|now| limit_bytes <= now) {
            return Ok(None);
        }
        // The agent itself writes a raise. It comes down again in steps, by threads.
        let limit_bytes = match limits.memory_bytes {
            Some(now) if limit_bytes > now => {
                limit_bytes.max(lowest_limit(version, charged_bytes, 0))
            }
            _ => limit_bytes,
        };
        let (settings, is_complete) = match place.version {
            Version::One => (vec![(LimitFile::MemoryLimit, Value::AtMost(limit_bytes))], true),
            Version::Two => {
                let is_repeated = is_incomplete && limits.memory_bytes == Some(limit_bytes);
                let before = limits.memory_bytes.filter(|now| !is_incomplete || limit_bytes > *now);
                memory_v2(limit_bytes, before, charged_bytes, is_repeated)
            }
        };
        if !is_incomplete && is_complete && stays(limit_bytes) {
            return Ok(None);
        }
        // No file is lifted: one without a setting waits for its turn.
        let mut target = Target::new(planned, settings, Vec::new());
        target.in_force.limits.memory_bytes = Some(limit_bytes);
        // Unset until the limit reaches the plan, so that the next round moves it further.
        target.in_force.planned_memory_bytes = (limit_bytes == next(0)).then_some(planned_bytes);
        target.in_force.is_incomplete = !is_complete;
        target.follows_use = is_of_same_plan;
        if limits.memory_bytes != Some(limit_bytes) {
            target.reclaimed_bytes = reclaimed_for(version, limit_bytes, charged_bytes);
        }
        Ok(Some(target))
    }

    fn disk(&self, place: &LimitPlace, planned: &Limits, disks: &[Device]) -> Option<Target> {
        let cap = planned.disk_cap_bytes_per_s;
        if self.in_force.limits.disk_cap_bytes_per_s == cap {
            return None;
        }
        let all = disk_files(place.version, disks);
        let settings =
            cap.into_iter().flat_map(|cap| all.iter().map(move |file| (*file, disk_cap(cap))));
        Some(Target::new(planned, settings.collect(), all))
    }
}

/// The change that set the file to this value; None if the file has another one.
fn shown(files: &mut KernelFiles, group: &Path, file: LimitFile, bytes: u64) -> Option<Change> {
    let value = Value::AtMost(bytes);
    let is_shown = files.value(group, file).is_ok_and(|shown| file.shows_as(value, shown));
    is_shown.then(|| Change { group: group.into(), file, value })
}

/// The memory charged to the group, page cache included.
fn charged_bytes(place: &LimitPlace) -> Result<u64, KernelFileError> {
    read_value(&place.group.join(match place.version {
        Version::One => "memory.usage_in_bytes",
        Version::Two => "memory.current",
    }))
}

#[cfg(test)]
mod tests;

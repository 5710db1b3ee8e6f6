//! The limits of one container: what has to change for a plan, and what is in force.

use std::path::{Path, PathBuf};

use elastane_protocol::Limits;

use super::{
    kernel_files::{Change, KernelFileError, KernelFiles, read_limit, read_value},
    limit_file::{LimitFile, Value},
    limits::{
        Setting,
        cpu::{CpuLimits, cpu_v1, cpu_v2, period_us},
        disk::{disk_v1, disk_v2},
        memory::{Before, HeldMemory, Margin, memory_v1, memory_v2, next_limit},
    },
};
use crate::{
    cgroups::{Controller, Version},
    journal::{Journal, JournalError},
    sensors::Device,
};

/// Why a limit could not be put in force.
#[derive(Debug, thiserror::Error)]
pub enum LimitError {
    #[error(transparent)]
    KernelFile(#[from] KernelFileError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("{} belongs to another agent that runs: give each agent its own cgroup.parent", group.display())]
    Taken { group: PathBuf },
}

impl LimitError {
    /// Whether the group is not there any more.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::KernelFile(error) if error.is_gone())
    }
}

/// Whose group it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Agent,
    /// LinuxContainerExecutor: what it wrote is in the journal from the first limit on, and put
    /// back when the limit is lifted.
    ContainerExecutor,
}

/// A group in which a container is limited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub group: PathBuf,
    pub version: Version,
    pub mount_point: PathBuf,
    pub owner: Owner,
}

/// What a limit is computed from, beside the plan.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances<'a> {
    /// Resident memory; nothing while the group is not charged for enough of it to be limited.
    pub resident_bytes: Option<u64>,
    pub margin: Margin,
    /// Whether the watch of its memory limit has woken.
    pub is_near_limit: bool,
    /// The disks that are limited.
    pub disks: &'a [Device],
}

/// A memory limit in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MemoryInForce {
    planned_bytes: u64,
    limit_bytes: u64,
    /// Whether all of its files are written.
    is_complete: bool,
}

/// Puts the limits of one container in force, each resource in the group where it is limited.
#[derive(Debug, Default)]
pub struct Limiter {
    cpu: Option<(Place, CpuLimits)>,
    memory: Option<(Place, Option<MemoryInForce>)>,
    disk: Option<(Place, Option<u64>)>,
}

/// What has to be written for one resource, and what is in force when it has been.
#[derive(Debug)]
pub struct Step {
    pub changes: Vec<Change>,
    settles: Settles,
    /// Whether the plan is as it was, and the limit follows what is resident.
    pub follows_use: bool,
    /// Files of somebody else's group that hold what they held before, after this step.
    returned: Vec<(PathBuf, LimitFile)>,
}

#[derive(Debug, Clone, Copy)]
enum Settles {
    Cpu(CpuLimits),
    Memory(Option<MemoryInForce>),
    Disk(Option<u64>),
}

impl Limiter {
    /// Where a resource is limited from now on; nothing is in force there yet.
    pub fn limit_in(&mut self, controller: Controller, place: Option<Place>) {
        match controller {
            Controller::Cpu => self.cpu = place.map(|place| (place, CpuLimits::default())),
            Controller::Memory => self.memory = place.map(|place| (place, None)),
            Controller::Disk => self.disk = place.map(|place| (place, None)),
            Controller::CpuAccounting | Controller::Network => {}
        }
    }

    /// The groups in which something is limited.
    pub fn groups(&self) -> impl Iterator<Item = &Path> {
        let places = Controller::ALL
            .into_iter()
            .filter_map(|one| self.place(one));
        places.map(|place| place.group.as_path())
    }

    /// The group in which a resource is limited.
    pub fn place(&self, controller: Controller) -> Option<&Place> {
        match controller {
            Controller::Cpu => self.cpu.as_ref().map(|(place, _)| place),
            Controller::Memory => self.memory.as_ref().map(|(place, _)| place),
            Controller::Disk => self.disk.as_ref().map(|(place, _)| place),
            Controller::CpuAccounting | Controller::Network => None,
        }
    }

    /// The limits that the kernel follows now.
    pub fn in_force(&self) -> Limits {
        let cpu = self.cpu.as_ref().map(|(_, limits)| *limits);
        let cpu = cpu.unwrap_or_default();
        let memory = self.memory.as_ref().and_then(|(_, in_force)| *in_force);
        Limits {
            cpu_weight_cores: cpu.weight_cores,
            cpu_cap_cores: cpu.cap_cores,
            memory_bytes: memory.map(|memory| memory.limit_bytes),
            disk_cap_bytes_per_s: self.disk.as_ref().and_then(|(_, cap)| *cap),
            ..Limits::default()
        }
    }

    /// What has to change for the plan's limits, resource by resource; what is in force already
    /// is left out. What the files of somebody else's group hold is in the journal before this
    /// returns. A resource whose files cannot be read is tried again with the next call.
    pub fn steps(
        &self,
        planned: &Limits,
        circumstances: Circumstances<'_>,
        files: &mut KernelFiles,
        journal: &mut Journal,
    ) -> Vec<Result<Step, LimitError>> {
        let cpu = self.cpu_step(planned, files, journal);
        let memory = self.memory_step(planned, circumstances, files, journal);
        let disk = self.disk_step(planned, circumstances.disks, files, journal);
        let steps = [cpu, memory, disk].into_iter();
        steps.filter_map(Result::transpose).collect()
    }

    /// Takes a step for done, or puts what it was about off to the next call.
    pub fn settle(
        &mut self,
        step: &Step,
        files: &mut KernelFiles,
        journal: &mut Journal,
    ) -> Result<(), JournalError> {
        match (
            step.settles,
            &mut self.cpu,
            &mut self.memory,
            &mut self.disk,
        ) {
            (Settles::Cpu(limits), Some((_, in_force)), _, _) => *in_force = limits,
            (Settles::Memory(memory), _, Some((_, in_force)), _) => *in_force = memory,
            (Settles::Disk(cap), _, _, Some((_, in_force))) => *in_force = cap,
            _ => {}
        }
        for (group, file) in &step.returned {
            // Its owner may write it from now on: what was written here says nothing.
            files.forget(group);
            journal.forget_former(group, *file)?;
        }
        Ok(())
    }

    fn cpu_step(
        &self,
        planned: &Limits,
        files: &mut KernelFiles,
        journal: &mut Journal,
    ) -> Result<Option<Step>, LimitError> {
        let Some((place, in_force)) = &self.cpu else {
            return Ok(None);
        };
        let limits = CpuLimits {
            weight_cores: planned.cpu_weight_cores,
            cap_cores: planned.cpu_cap_cores,
        };
        if limits == *in_force {
            return Ok(None);
        }
        let group = &place.group;
        let (settings, own) = match place.version {
            Version::One => {
                let is_own = place.owner == Owner::Agent;
                let around = files.around(group, &place.mount_point, is_own)?;
                let own = [LimitFile::CpuShares, LimitFile::CpuQuota];
                (cpu_v1(limits, around), own)
            }
            Version::Two => {
                let own = [LimitFile::CpuWeight, LimitFile::CpuMax];
                (cpu_v2(limits, period_us(group)?), own)
            }
        };
        let settles = Settles::Cpu(limits);
        place
            .step(settings, &own, settles, files, journal)
            .map(Some)
    }

    fn memory_step(
        &self,
        planned: &Limits,
        circumstances: Circumstances<'_>,
        files: &mut KernelFiles,
        journal: &mut Journal,
    ) -> Result<Option<Step>, LimitError> {
        let Some((place, in_force)) = &self.memory else {
            return Ok(None);
        };
        let own: &[LimitFile] = match place.version {
            Version::One => &[LimitFile::MemoryLimit],
            Version::Two => &[LimitFile::MemoryMax, LimitFile::MemoryHigh],
        };
        let Some(planned_bytes) = planned.memory_bytes else {
            if in_force.is_none() {
                return Ok(None);
            }
            let settles = Settles::Memory(None);
            return place
                .step(Vec::new(), own, settles, files, journal)
                .map(Some);
        };
        let Some(resident_bytes) = circumstances.resident_bytes else {
            return Ok(None);
        };
        let next = |charged_bytes| {
            let held = HeldMemory {
                resident_bytes,
                charged_bytes,
            };
            let before = in_force.map(|in_force| Before {
                limit_bytes: in_force.limit_bytes,
                is_of_same_plan: in_force.planned_bytes == planned_bytes,
            });
            let Circumstances {
                margin,
                is_near_limit,
                ..
            } = circumstances;
            next_limit(before, planned_bytes, held, margin, is_near_limit)
        };
        let stays = |in_force: &MemoryInForce| {
            let is_same = in_force.planned_bytes == planned_bytes;
            is_same && in_force.is_complete && next(0) == in_force.limit_bytes
        };
        if in_force.as_ref().is_some_and(stays) {
            // Most rounds end here, without a read.
            return Ok(None);
        }
        let charged_bytes = place.charged_bytes()?;
        let before = in_force.map(|in_force| in_force.limit_bytes);
        let limit_bytes = next(charged_bytes);
        let (settings, is_complete) = match place.version {
            Version::One => (memory_v1(limit_bytes), true),
            Version::Two => memory_v2(limit_bytes, before, charged_bytes),
        };
        let settled = MemoryInForce {
            planned_bytes,
            limit_bytes,
            is_complete,
        };
        if *in_force == Some(settled) && is_complete {
            return Ok(None);
        }
        // A file that waits for its turn is not lifted meanwhile.
        let own: Vec<LimitFile> = own
            .iter()
            .copied()
            .filter(|file| settings.iter().any(|(set, _)| set == file))
            .collect();
        let settles = Settles::Memory(Some(settled));
        let mut step = place.step(settings, &own, settles, files, journal)?;
        let before = in_force.map(|in_force| in_force.planned_bytes);
        step.follows_use = before == Some(planned_bytes);
        Ok(Some(step))
    }

    fn disk_step(
        &self,
        planned: &Limits,
        disks: &[Device],
        files: &mut KernelFiles,
        journal: &mut Journal,
    ) -> Result<Option<Step>, LimitError> {
        let Some((place, in_force)) = &self.disk else {
            return Ok(None);
        };
        let cap = planned.disk_cap_bytes_per_s;
        if cap == *in_force {
            return Ok(None);
        }
        let settings_of = match place.version {
            Version::One => disk_v1,
            Version::Two => disk_v2,
        };
        let settings = cap.map_or_else(Vec::new, |cap| settings_of(cap, disks));
        let own: Vec<LimitFile> = settings_of(u64::MAX, disks)
            .into_iter()
            .map(|(file, _)| file)
            .collect();
        let settles = Settles::Disk(cap);
        place
            .step(settings, &own, settles, files, journal)
            .map(Some)
    }
}

impl Place {
    /// What is charged to the group now, page cache included.
    fn charged_bytes(&self) -> Result<u64, KernelFileError> {
        read_value(&self.group.join(match self.version {
            Version::One => "memory.usage_in_bytes",
            Version::Two => "memory.current",
        }))
    }

    /// `own` are all files of the resource: what no setting names is lifted.
    fn step(
        &self,
        settings: Vec<Setting>,
        own: &[LimitFile],
        settles: Settles,
        files: &mut KernelFiles,
        journal: &mut Journal,
    ) -> Result<Step, LimitError> {
        let group = &self.group;
        let set = |file: &LimitFile| settings.iter().any(|(set, _)| set == file);
        let lifted: Vec<LimitFile> = own.iter().copied().filter(|file| !set(file)).collect();
        let mut step = Step {
            changes: Vec::new(),
            settles,
            follows_use: false,
            returned: Vec::new(),
        };
        if self.owner == Owner::ContainerExecutor {
            remember(group, &settings, files, journal)?;
        }
        for (file, value) in settings {
            let value = match journal.former_value(group, file) {
                // The executor's own bound is never loosened.
                Some(former) => value.tighter(former),
                None => value,
            };
            step.push(group, file, value);
        }
        for file in lifted {
            match (self.owner, journal.former_value(group, file)) {
                (Owner::Agent, _) => step.push(group, file, file.lifted()),
                (Owner::ContainerExecutor, Some(former)) => {
                    step.push(group, file, former);
                    step.returned.push((group.clone(), file));
                }
                (Owner::ContainerExecutor, None) => {}
            }
        }
        Ok(step)
    }
}

impl Step {
    fn push(&mut self, group: &Path, file: LimitFile, value: Value) {
        self.changes.push(Change {
            group: group.into(),
            file,
            value,
        });
    }
}

fn remember(
    group: &Path,
    settings: &[Setting],
    files: &mut KernelFiles,
    journal: &mut Journal,
) -> Result<(), LimitError> {
    let mut former = Vec::new();
    for (file, _) in settings {
        if journal.former_value(group, *file).is_none() {
            files.forget(group);
            former.push((*file, read_limit(group, *file)?));
        }
    }
    Ok(journal.remember_former(group, former)?)
}

#[cfg(test)]
mod tests;

//! The limits of one container: what has to change for a plan, and what is in force.

mod step;

use std::path::{Path, PathBuf};

use elastane_protocol::Limits;

pub use self::step::LimitStep;
use self::step::{Settles, plan_step};
use super::{
    KernelFileError, KernelFiles, LimitError, LimitFile,
    file_access::read_value,
    limits::{
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

/// Who made a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    Agent,
    /// LinuxContainerExecutor. The journal keeps its values from the first limit on; they are
    /// restored when the limit is lifted.
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

/// The inputs of a limit besides the plan.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances<'a> {
    /// None while too little of the resident memory is charged to the group to limit it there.
    pub resident_bytes: Option<u64>,
    pub margin: Margin,
    /// Whether the watch of the memory limit woke.
    pub is_near_limit: bool,
    /// The disks whose traffic is limited.
    pub disks: &'a [Device],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MemoryInForce {
    planned_bytes: u64,
    limit_bytes: u64,
    /// Whether all files of the limit are written.
    is_complete: bool,
}

/// Puts the limits of one container in force, each resource in the group where it is limited.
#[derive(Debug, Default)]
pub struct Limiter {
    cpu: Option<(Place, CpuLimits)>,
    memory: Option<(Place, Option<MemoryInForce>)>,
    disk: Option<(Place, Option<u64>)>,
}

impl Limiter {
    /// Sets the group in which a resource is limited. No limit is in force there yet.
    pub fn limit_in(&mut self, controller: Controller, place: Option<Place>) {
        match controller {
            Controller::Cpu => self.cpu = place.map(|place| (place, CpuLimits::default())),
            Controller::Memory => self.memory = place.map(|place| (place, None)),
            Controller::Disk => self.disk = place.map(|place| (place, None)),
            Controller::CpuAccounting | Controller::Network => {}
        }
    }

    /// The groups in which a resource is limited.
    pub fn groups(&self) -> impl Iterator<Item = &Path> {
        let all = Controller::ALL.into_iter();
        all.filter_map(|one| Some(self.place(one)?.group.as_path()))
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

    /// The limits that the kernel enforces now.
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
        let cpu = self.cpu_step(planned, files, journal);
        let memory = self.memory_step(planned, circumstances, files, journal);
        let disk = self.disk_step(planned, circumstances.disks, files, journal);
        let steps = [cpu, memory, disk].into_iter();
        steps.filter_map(Result::transpose).collect()
    }

    /// Records that the changes of a step were written.
    pub fn settle(
        &mut self,
        step: &LimitStep,
        files: &mut KernelFiles,
        journal: &mut Journal,
    ) -> Result<(), JournalError> {
        match step.settles {
            Settles::Cpu(limits) => set_in_force(&mut self.cpu, limits),
            Settles::Memory(memory) => set_in_force(&mut self.memory, memory),
            Settles::Disk(cap) => set_in_force(&mut self.disk, cap),
        }
        for (group, file) in &step.returned {
            // The executor may write the file from now on, so the remembered value is void.
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
    ) -> Result<Option<LimitStep>, LimitError> {
        let limits = CpuLimits {
            weight_cores: planned.cpu_weight_cores,
            cap_cores: planned.cpu_cap_cores,
        };
        let Some((place, _)) = self.cpu.as_ref().filter(|(_, now)| *now != limits) else {
            return Ok(None);
        };
        let group = &place.group;
        let (settings, all) = match place.version {
            Version::One => {
                let is_own = place.owner == Owner::Agent;
                let around = files.around(group, &place.mount_point, is_own)?;
                let all = [LimitFile::CpuShares, LimitFile::CpuQuota];
                (cpu_v1(limits, around), all)
            }
            Version::Two => {
                let all = [LimitFile::CpuWeight, LimitFile::CpuMax];
                (cpu_v2(limits, period_us(group)?), all)
            }
        };
        let settles = Settles::Cpu(limits);
        plan_step(place, settings, &all, settles, files, journal).map(Some)
    }

    fn memory_step(
        &self,
        planned: &Limits,
        circumstances: Circumstances<'_>,
        files: &mut KernelFiles,
        journal: &mut Journal,
    ) -> Result<Option<LimitStep>, LimitError> {
        let Some((place, in_force)) = &self.memory else {
            return Ok(None);
        };
        let Some(planned_bytes) = planned.memory_bytes else {
            if in_force.is_none() {
                return Ok(None);
            }
            let all: &[LimitFile] = match place.version {
                Version::One => &[LimitFile::MemoryLimit],
                Version::Two => &[LimitFile::MemoryMax, LimitFile::MemoryHigh],
            };
            let settles = Settles::Memory(None);
            return plan_step(place, Vec::new(), all, settles, files, journal).map(Some);
        };
        let Some(resident_bytes) = circumstances.resident_bytes else {
            return Ok(None);
        };
        let is_of_same_plan = in_force.is_some_and(|now| now.planned_bytes == planned_bytes);
        let next = |charged_bytes| {
            let held = HeldMemory {
                resident_bytes,
                charged_bytes,
            };
            let before = in_force.map(|now| Before {
                limit_bytes: now.limit_bytes,
                is_of_same_plan,
            });
            let (margin, is_near) = (circumstances.margin, circumstances.is_near_limit);
            next_limit(before, planned_bytes, held, margin, is_near)
        };
        let stays = |now: MemoryInForce| now.is_complete && next(0) == now.limit_bytes;
        if is_of_same_plan && in_force.is_some_and(stays) {
            // Most rounds end here, without a read.
            return Ok(None);
        }
        let charged_bytes = charged_bytes(place)?;
        let limit_bytes = next(charged_bytes);
        let (settings, is_complete) = match place.version {
            Version::One => (memory_v1(limit_bytes), true),
            Version::Two => {
                let before = in_force.map(|now| now.limit_bytes);
                memory_v2(limit_bytes, before, charged_bytes)
            }
        };
        let settled = MemoryInForce {
            planned_bytes,
            limit_bytes,
            is_complete,
        };
        if *in_force == Some(settled) && is_complete {
            return Ok(None);
        }
        let settles = Settles::Memory(Some(settled));
        // No file is lifted: one without a setting waits for its turn.
        let mut step = plan_step(place, settings, &[], settles, files, journal)?;
        step.follows_use = is_of_same_plan;
        Ok(Some(step))
    }

    fn disk_step(
        &self,
        planned: &Limits,
        disks: &[Device],
        files: &mut KernelFiles,
        journal: &mut Journal,
    ) -> Result<Option<LimitStep>, LimitError> {
        let cap = planned.disk_cap_bytes_per_s;
        let Some((place, _)) = self.disk.as_ref().filter(|(_, now)| *now != cap) else {
            return Ok(None);
        };
        let settings_of = match place.version {
            Version::One => disk_v1,
            Version::Two => disk_v2,
        };
        let settings = cap.map_or_else(Vec::new, |cap| settings_of(cap, disks));
        let all = settings_of(u64::MAX, disks).into_iter();
        let all: Vec<LimitFile> = all.map(|(file, _)| file).collect();
        plan_step(place, settings, &all, Settles::Disk(cap), files, journal).map(Some)
    }
}

fn set_in_force<T>(resource: &mut Option<(Place, T)>, limit: T) {
    if let Some((_, in_force)) = resource {
        *in_force = limit;
    }
}

/// The memory charged to the group, page cache included.
fn charged_bytes(place: &Place) -> Result<u64, KernelFileError> {
    read_value(&place.group.join(match place.version {
        Version::One => "memory.usage_in_bytes",
        Version::Two => "memory.current",
    }))
}

#[cfg(test)]
mod tests;

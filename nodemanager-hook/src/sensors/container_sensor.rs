//! The readings of one container.

use std::{io, path::PathBuf, time::Instant};

use super::{
    Device, GroupMemory, HeldHeap, HeldMemory, Reading,
    group_files::GroupFile,
    growth::{Growth, UsageGrowth},
    proc_fs::{ProcFs, is_gone},
    process::Process,
    processes::Processes,
};
use crate::cgroups::Version;

/// The groups to read for a container. The sensor reads processes for what no group counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeasuredGroups {
    /// The group that lists the processes. Version 2 only: its list can stay open.
    pub members: Option<PathBuf>,
    pub cpu: Option<(PathBuf, Version)>,
    /// The group with the CPU cap.
    pub throttling: Option<(PathBuf, Version)>,
    pub memory: Option<(PathBuf, Version)>,
    /// Whether memory from before the container joined the memory group may be charged elsewhere.
    pub came_later: bool,
    /// Version 2 only: in version 1 the processes count more.
    pub disk: Option<(PathBuf, Version)>,
}

/// Turns the counters of one container into readings.
#[derive(Debug, Default)]
pub struct ContainerSensor {
    listing: Option<GroupFile>,
    cpu_time: Option<GroupFile>,
    throttling: Option<GroupFile>,
    memory: Option<GroupMemory>,
    /// Whether the memory group is charged for enough of the memory of its processes. A process
    /// that joined the group stays charged to its former group for the memory it had touched
    /// before, which a limit of the new group would not cover.
    is_memory_complete: bool,
    disk: Option<GroupFile>,
    usage: UsageGrowth,
    periods: Growth,
    throttled: Growth,
    /// The processes that the group listed last, or of the tree.
    pub processes: Processes,
    held: HeldMemory,
    /// The heaps of its JVMs, for later readings.
    pub heap: HeldHeap,
    /// Memory that its JVMs have mapped more than once, for later readings.
    pub mapped_again_bytes: u64,
}

/// The kernel's default period of a CPU cap.
const PERIOD_NANOSECONDS: u64 = 100_000_000;
/// The memory group's figures are used when the group is charged for this percentage of the
/// anonymous memory of its processes.
const COMPLETE_PERCENT: u64 = 90;
/// They are also used when no more than this is charged elsewhere. Every limit leaves more free.
const ELSEWHERE_BYTES: u64 = 16 << 20;

impl ContainerSensor {
    /// Reads these groups from now on. A counter of another group than before begins anew.
    pub fn measure(&mut self, groups: MeasuredGroups) -> io::Result<()> {
        let members = groups.members.map(|group| (group, Version::Two));
        follow(&mut self.listing, members, "cgroup.procs")?;
        let cpu_file = match groups.cpu {
            Some((_, Version::One)) => "cpuacct.usage",
            _ => "cpu.stat",
        };
        if follow(&mut self.cpu_time, groups.cpu, cpu_file)? {
            self.usage.cpu = Growth::default();
        }
        if follow(&mut self.throttling, groups.throttling, "cpu.stat")? {
            (self.periods, self.throttled) = Default::default();
        }
        let group = groups.memory.as_ref().map(|(group, _)| group);
        let is_same = match (&self.memory, group) {
            (Some(memory), Some(group)) => memory.is_of(group),
            (memory, group) => memory.is_none() && group.is_none(),
        };
        if !is_same {
            let opened = groups.memory.map(|(group, version)| GroupMemory::open(&group, version));
            self.memory = opened.transpose()?;
            self.is_memory_complete = !groups.came_later;
        }
        if follow(&mut self.disk, groups.disk, "io.stat")? {
            (self.usage.disk_read, self.usage.disk_written) = Default::default();
        }
        Ok(())
    }

    /// Whether CPU time comes from the processes, so that [`Self::read_tree`] must be used.
    pub fn needs_tree(&self) -> bool {
        self.cpu_time.is_none()
    }

    /// The processes that the group lists; `None` without such a group.
    pub fn pids(&self) -> Option<io::Result<Vec<u32>>> {
        self.listing.as_ref().map(GroupFile::pids)
    }

    pub fn resident_bytes(&self) -> u64 {
        self.held.resident_bytes
    }

    /// Whether a group is charged for the container's memory, so that the group can limit it.
    pub fn is_charged_in_group(&self) -> bool {
        self.memory.is_some() && self.is_memory_complete
    }

    /// Whether the memory group is charged for too little of the container's memory.
    pub fn charges_elsewhere(&self) -> bool {
        self.memory.is_some() && !self.is_memory_complete
    }

    /// Reads the memory of a container by its group, or by the processes that were known at the last reading. The counters
    /// of the time since then are left to the next one, so this takes no time of the open sample. None before the first
    /// reading, and if the group is gone.
    pub fn read_memory(&mut self, proc: &ProcFs) -> io::Result<Option<Reading>> {
        // Only a reading that lists the processes can tell that the group is charged for all of them.
        let held = match &self.memory {
            Some(memory) if self.is_memory_complete => memory.held(),
            _ => self.held_by_processes(proc),
        };
        match held {
            Err(error) if is_gone(&error) => return Ok(None),
            held => self.held = HeldMemory { heap: self.heap, ..held? },
        }
        Ok(self.usage.between(self.held))
    }

    /// Reads the memory of the group again, between two readings.
    pub fn read_memory_again(&mut self) -> io::Result<()> {
        if let Some(memory) = self.memory.as_ref().filter(|_| self.is_memory_complete) {
            self.held = memory.held()?;
        }
        Ok(())
    }

    /// Reads a container by its group and the group's processes, in ascending order; `None` if the
    /// group is gone.
    pub fn read_group(
        &mut self,
        proc: &ProcFs,
        pids: &[u32],
        disks: &[Device],
        now: Instant,
    ) -> io::Result<Option<Reading>> {
        let Some(cpu_time) = &self.cpu_time else {
            return Ok(None);
        };
        let total = cpu_time.cpu_nanoseconds();
        let reading = total.and_then(|total| {
            self.processes.follow_pids(pids, proc)?;
            self.read(proc, disks, total, now)
        });
        match reading {
            // The group was removed meanwhile.
            Err(error) if is_gone(&error) => Ok(None),
            other => other.map(Some),
        }
    }

    /// Reads a container by its process tree.
    pub fn read_tree(
        &mut self,
        proc: &ProcFs,
        tree: &[&Process],
        disks: &[Device],
        now: Instant,
    ) -> io::Result<Reading> {
        let keys = tree.iter().map(|process| process.key()).collect();
        self.processes.follow(&keys);
        let total = tree.iter().map(|process| process.cpu_nanoseconds).sum();
        self.read(proc, disks, total, now)
    }

    fn read(
        &mut self,
        proc: &ProcFs,
        disks: &[Device],
        cpu_total: u64,
        now: Instant,
    ) -> io::Result<Reading> {
        self.held = HeldMemory { heap: self.heap, ..self.held_memory(proc)? };
        let traffic = match &self.disk {
            Some(file) => {
                if self.is_charged_in_group() {
                    // Nothing else would notice that a process has ended and its pid is reused.
                    self.processes.memory(proc)?;
                }
                file.disk(disks)?
            }
            None => self.processes.traffic(proc)?,
        };
        let throttling = self.throttling.as_ref().map(GroupFile::throttling);
        let throttling = throttling.transpose()?.unwrap_or_default();
        let periods = self.periods.advance(throttling.periods);
        let throttled = self.throttled.advance(throttling.nanoseconds);
        let mut reading = self.usage.reading(cpu_total, traffic, self.held, now);
        reading.counted.throttled_nanoseconds =
            throttled.min(periods.saturating_mul(PERIOD_NANOSECONDS));
        Ok(reading)
    }

    fn held_by_processes(&mut self, proc: &ProcFs) -> io::Result<HeldMemory> {
        let held = self.processes.memory(proc)?;
        let again_bytes = self.mapped_again_bytes;
        Ok(HeldMemory {
            resident_bytes: held.resident_bytes.saturating_sub(again_bytes),
            file_bytes: held.file_bytes.saturating_sub(again_bytes),
            ..held
        })
    }

    /// Reads the group if it is charged for the memory, the processes otherwise. The group takes
    /// one file instead of one per process, and counts shared pages once.
    fn held_memory(&mut self, proc: &ProcFs) -> io::Result<HeldMemory> {
        let Some(memory) = &self.memory else {
            return self.held_by_processes(proc);
        };
        let charged = memory.held()?;
        if self.is_memory_complete {
            return Ok(charged);
        }
        let held = self.held_by_processes(proc)?;
        // The sum over some of the processes is too low to tell.
        self.is_memory_complete = self.processes.left_out == 0
            && is_enough(charged.anonymous_bytes, held.anonymous_bytes);
        let is_charge_more =
            self.processes.left_out > 0 && charged.resident_bytes > held.resident_bytes;
        Ok(if self.is_memory_complete || is_charge_more { charged } else { held })
    }
}

/// Opens a file of the group to measure. Returns whether this is another group than before.
fn follow(
    file: &mut Option<GroupFile>,
    place: Option<(PathBuf, Version)>,
    name: &str,
) -> io::Result<bool> {
    let path = place.as_ref().map(|(group, _)| group.join(name));
    if path.as_deref() == file.as_ref().map(GroupFile::path) {
        return Ok(false);
    }
    let opened = place.map(|(group, version)| GroupFile::open(&group, name, version));
    *file = opened.transpose()?;
    Ok(true)
}

/// Whether a group is charged for enough of the anonymous memory of its processes. File pages are
/// charged to the group that read them first, so they are not compared.
fn is_enough(charged_bytes: u64, anonymous_bytes: u64) -> bool {
    let elsewhere_bytes = anonymous_bytes.saturating_sub(charged_bytes);
    let elsewhere = u128::from(elsewhere_bytes) * 100;
    let most_elsewhere = u128::from(anonymous_bytes) * u128::from(100 - COMPLETE_PERCENT);
    elsewhere <= most_elsewhere || elsewhere_bytes <= ELSEWHERE_BYTES
}

#[cfg(test)]
mod tests;

//! One container's readings.

use std::{
    io,
    path::{Path, PathBuf},
    time::Instant,
};

use nix::errno::Errno;

use super::{
    Device, HeldHeap, HeldMemory,
    group_files::{GroupFile, Throttling},
    growth::Growth,
    proc_fs::ProcFs,
    process_table::Process,
    processes::Processes,
};
use crate::{
    cgroups::Version,
    samples::{Counted, Reading},
};

/// The groups that say what a container uses. What none of them says, its processes do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeasuredGroups {
    /// Where its processes are listed; of version 2, whose lists can stay open.
    pub members: Option<PathBuf>,
    pub cpu: Option<(PathBuf, Version)>,
    /// Where it is held back by a cap.
    pub throttling: Option<(PathBuf, Version)>,
    pub memory: Option<(PathBuf, Version)>,
    /// Whether what it held before it came to the memory group may be charged elsewhere.
    pub came_later: bool,
    /// Version 2 only: in version 1 the processes know more.
    pub disk: Option<(PathBuf, Version)>,
}

/// Turns the counters of one container into readings.
#[derive(Debug, Default)]
pub struct ContainerSensor {
    groups: MeasuredGroups,
    listing: Option<GroupFile>,
    cpu_time: Option<GroupFile>,
    throttling: Option<GroupFile>,
    memory: Option<GroupMemory>,
    disk: Option<GroupFile>,
    cpu: Growth,
    periods: Growth,
    throttled: Growth,
    read: Growth,
    written: Growth,
    before: Option<Instant>,
    /// Those that were there at the last reading.
    pub processes: Processes,
    held: HeldMemory,
    /// What its JVMs say, for the readings to come.
    pub heap: HeldHeap,
    /// What they count more than once of what they hold, for the readings to come.
    pub mapped_again_bytes: u64,
}

/// The memory that a group is charged for.
#[derive(Debug)]
struct GroupMemory {
    stat: GroupFile,
    /// Whether that is enough of what its processes hold.
    holds_it: bool,
}

/// The length of a period after which a cap is reckoned anew; the kernel's default.
const PERIOD_NANOSECONDS: u64 = 100_000_000;

/// The part of a container's anonymous memory that its group has to be charged for before the
/// group speaks for it, in percent.
const HELD_PERCENT: u64 = 90;
/// So little may be charged elsewhere in any case: a part of what every limit leaves free.
const ELSEWHERE_BYTES: u64 = 16 << 20;

impl ContainerSensor {
    /// Reads these groups from now on. A counter that comes from elsewhere now begins anew.
    ///
    /// # Errors
    /// Files of a group that cannot be opened.
    pub fn measure(&mut self, groups: MeasuredGroups) -> io::Result<()> {
        let open = |place: &Option<(PathBuf, Version)>, v1: &str, v2: &str| {
            let Some((group, version)) = place else {
                return Ok(None);
            };
            let name = match version {
                Version::One => v1,
                Version::Two => v2,
            };
            open_in(group, name, *version).map(Some)
        };
        if groups.members != self.groups.members {
            let members = groups.members.clone();
            let members = members.map(|group| (group, Version::Two));
            self.listing = open(&members, "cgroup.procs", "cgroup.procs")?;
        }
        if groups.cpu != self.groups.cpu {
            self.cpu_time = open(&groups.cpu, "cpuacct.usage", "cpu.stat")?;
            self.cpu = Growth::default();
        }
        if groups.throttling != self.groups.throttling {
            self.throttling = open(&groups.throttling, "cpu.stat", "cpu.stat")?;
            (self.periods, self.throttled) = Default::default();
        }
        if groups.memory != self.groups.memory {
            let stat = open(&groups.memory, "memory.stat", "memory.stat")?;
            let holds_it = !groups.came_later;
            self.memory = stat.map(|stat| GroupMemory { stat, holds_it });
        }
        if groups.disk != self.groups.disk {
            self.disk = open(&groups.disk, "io.stat", "io.stat")?;
            (self.read, self.written) = Default::default();
        }
        self.groups = groups;
        Ok(())
    }

    /// Whether CPU comes from process times, so that [`Self::read_tree`] has to be used.
    pub fn needs_tree(&self) -> bool {
        self.cpu_time.is_none()
    }

    /// The processes that its group lists; nothing where another way finds them.
    ///
    /// # Errors
    /// Those of reading the list.
    pub fn pids(&self) -> Option<io::Result<Vec<u32>>> {
        self.listing.as_ref().map(GroupFile::pids)
    }

    /// Resident memory at the last reading.
    pub fn resident_bytes(&self) -> u64 {
        self.held.resident_bytes
    }

    /// Whether a group is charged for the container's memory, so that it can be limited there.
    pub fn is_charged_in_group(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.holds_it)
    }

    /// Whether it has a memory group that is charged for too little of what it holds.
    pub fn charges_elsewhere(&self) -> bool {
        self.memory.as_ref().is_some_and(|memory| !memory.holds_it)
    }

    /// Reads anew what its group is charged for, between two readings.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn read_memory_again(&mut self) -> io::Result<()> {
        if let Some(memory) = self.memory.as_ref().filter(|memory| memory.holds_it) {
            self.held = memory.stat.memory()?;
        }
        Ok(())
    }

    /// Reads a container whose processes its group lists, in ascending order; nothing when the
    /// group is gone.
    ///
    /// # Errors
    /// Files that are there but cannot be read.
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
            // What is read of a group that was removed meanwhile.
            Err(error) if error.raw_os_error() == Some(Errno::ENODEV as i32) => Ok(None),
            other => other.map(Some),
        }
    }

    /// Reads a container whose processes were found in a table.
    ///
    /// # Errors
    /// Files that are there but cannot be read.
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
        self.held = HeldMemory {
            heap: self.heap,
            ..self.held_memory(proc)?
        };
        let traffic = match &self.disk {
            Some(file) => file.disk(disks)?,
            None => self.processes.traffic(proc)?,
        };
        let throttling = self.throttling.as_ref().map(GroupFile::throttling);
        let Throttling {
            periods,
            nanoseconds,
        } = throttling.transpose()?.unwrap_or_default();
        let periods = self.periods.advance(periods);
        let throttled = self.throttled.advance(nanoseconds);
        Ok(Reading {
            since: self.before.replace(now).unwrap_or(now),
            at: now,
            counted: Counted {
                cpu_nanoseconds: self.cpu.advance(cpu_total),
                throttled_nanoseconds: throttled.min(periods.saturating_mul(PERIOD_NANOSECONDS)),
                disk_read_bytes: self.read.advance(traffic.read_bytes),
                disk_written_bytes: self.written.advance(traffic.written_bytes),
                ..Counted::default()
            },
            held: self.held,
        })
    }

    /// From the group where that is charged for it, which costs one file rather than one for each
    /// process and counts shared pages once; from the processes otherwise.
    fn held_memory(&mut self, proc: &ProcFs) -> io::Result<HeldMemory> {
        let again_bytes = self.mapped_again_bytes;
        let held_once = |held: HeldMemory| HeldMemory {
            resident_bytes: held.resident_bytes.saturating_sub(again_bytes),
            file_bytes: held.file_bytes.saturating_sub(again_bytes),
            ..held
        };
        let Some(memory) = &mut self.memory else {
            return self.processes.memory(proc).map(held_once);
        };
        let charged = memory.stat.memory()?;
        if memory.holds_it {
            if self.disk.is_some() {
                // Nothing else would notice that a process has ended and its pid is another's.
                self.processes.memory(proc)?;
            }
            return Ok(charged);
        }
        let held = held_once(self.processes.memory(proc)?);
        memory.holds_it = holds(charged.anonymous_bytes, held.anonymous_bytes);
        Ok(if memory.holds_it { charged } else { held })
    }
}

/// Whether a group is charged for enough of what its processes hold. What a process touched before
/// it came to the group stays charged to where it was, and a limit would not see it. Files are
/// charged to whoever read them first, so they say nothing.
fn holds(charged_anonymous_bytes: u64, anonymous_bytes: u64) -> bool {
    let elsewhere_bytes = anonymous_bytes.saturating_sub(charged_anonymous_bytes);
    let elsewhere = u128::from(elsewhere_bytes) * 100;
    let most_elsewhere = u128::from(anonymous_bytes) * u128::from(100 - HELD_PERCENT);
    elsewhere <= most_elsewhere || elsewhere_bytes <= ELSEWHERE_BYTES
}

fn open_in(group: &Path, name: &str, version: Version) -> io::Result<GroupFile> {
    GroupFile::open(group, name, version).map_err(|error| {
        let path = group.join(name);
        io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, time::Duration};

    use super::super::process_table::{KernelThreads, ProcessKey, ProcessTable};
    use super::*;

    /// A recorded `/proc` with one process per call.
    struct Recorded(tempfile::TempDir);

    impl Recorded {
        fn process(&self, pid: u32, parent: u32, ticks: u64, pages: u64, disk_bytes: u64) {
            let files = self.0.path().join(pid.to_string());
            fs::create_dir_all(&files).unwrap();
            let stat = format!(
                "{pid} (sh) S {parent} 10 10 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0 {pid} 0"
            );
            let io = format!("read_bytes: {disk_bytes}\nwrite_bytes: 0\n");
            fs::write(files.join("stat"), stat).unwrap();
            fs::write(files.join("statm"), format!("900 {pages} 5 1 0 3 0\n")).unwrap();
            fs::write(files.join("io"), io).unwrap();
        }

        fn end(&self, pid: u32) {
            fs::remove_dir_all(self.0.path().join(pid.to_string())).unwrap();
        }

        fn read(&self, sensor: &mut ContainerSensor, now: Instant) -> Reading {
            let proc = ProcFs::new(self.0.path());
            let table = ProcessTable::scan(&proc, &mut KernelThreads::default()).unwrap();
            let root = ProcessKey {
                pid: 10,
                start_ticks: 10,
            };
            let tree = table.tree(root, &sensor.processes.keys());
            sensor.read_tree(&proc, &tree, &[], now).unwrap()
        }
    }

    const TICK_NANOSECONDS: u64 = 10_000_000;

    #[test]
    fn the_tree_is_summed_and_differenced() {
        let recorded = Recorded(tempfile::tempdir().unwrap());
        let mut sensor = ContainerSensor::default();
        let start = Instant::now();
        recorded.process(10, 1, 100, 10, 1000);
        recorded.process(11, 10, 50, 20, 500);
        let first = recorded.read(&mut sensor, start);
        assert_eq!(first.counted, Counted::default());
        assert_eq!(first.held.resident_bytes, 30 * 4096);
        assert_eq!(first.held.anonymous_bytes, 20 * 4096);
        assert_eq!(first.held.file_bytes, 10 * 4096);

        recorded.process(11, 10, 70, 25, 4500);
        let second = recorded.read(&mut sensor, start + Duration::from_secs(1));
        assert_eq!(second.counted.cpu_nanoseconds, 20 * TICK_NANOSECONDS);
        assert_eq!(second.counted.disk_read_bytes, 4000);
        assert_eq!(second.held.resident_bytes, 35 * 4096);
        assert_eq!(second.at - second.since, Duration::from_secs(1));
    }

    #[test]
    fn what_a_reaped_child_used_is_counted_once() {
        let recorded = Recorded(tempfile::tempdir().unwrap());
        let mut sensor = ContainerSensor::default();
        let start = Instant::now();
        recorded.process(10, 1, 100, 10, 1000);
        recorded.process(11, 10, 50, 20, 500);
        recorded.read(&mut sensor, start);
        recorded.end(11);
        recorded.process(10, 1, 155, 10, 1600);
        let after = recorded.read(&mut sensor, start + Duration::from_secs(1));
        assert_eq!(after.counted.cpu_nanoseconds, 5 * TICK_NANOSECONDS);
        assert_eq!(after.counted.disk_read_bytes, 100);
    }

    #[test]
    fn a_group_speaks_for_its_processes_when_it_holds_nine_tenths_or_little_is_missing() {
        const GIB: u64 = 1 << 30;
        assert!(holds(90 * GIB, 100 * GIB) && holds(2 * GIB, GIB) && holds(0, 0));
        assert!(!holds(89 * GIB, 100 * GIB));
        assert!(holds(0, ELSEWHERE_BYTES) && !holds(0, ELSEWHERE_BYTES + 1));
        assert!(holds(u64::MAX, u64::MAX));
    }

    /// A group with CPU time, memory and a cap.
    fn group(version: Version) -> (tempfile::TempDir, MeasuredGroups) {
        let group = tempfile::tempdir().unwrap();
        let place = Some((group.path().to_owned(), version));
        let groups = MeasuredGroups {
            members: None,
            cpu: place.clone(),
            throttling: place.clone(),
            memory: place.clone(),
            came_later: true,
            disk: place.filter(|_| version == Version::Two),
        };
        (group, groups)
    }

    #[test]
    fn a_group_of_version_1_says_what_its_processes_do_not() {
        let recorded = Recorded(tempfile::tempdir().unwrap());
        recorded.process(10, 1, 100, 20_005, 1000);
        let (group, groups) = group(Version::One);
        let write = |usage: u64, throttled: u64, pages: u64| {
            let stat = format!("nr_throttled {throttled}\nthrottled_time {throttled}000000\n");
            let bytes = pages * 4096;
            let memory = format!("total_cache 7\ntotal_rss {bytes}\ntotal_mapped_file 1\n");
            for (name, text) in [
                ("cpuacct.usage", usage.to_string()),
                ("cpu.stat", stat),
                ("memory.stat", memory),
            ] {
                fs::write(group.path().join(name), text).unwrap();
            }
        };
        write(5000, 5, 2);
        let mut sensor = ContainerSensor::default();
        sensor.measure(groups).unwrap();
        let proc = ProcFs::new(recorded.0.path());
        let start = Instant::now();
        let mut read = |at: u64| {
            let now = start + Duration::from_secs(at);
            let reading = sensor.read_group(&proc, &[10, 999], &[], now);
            (reading.unwrap().unwrap(), sensor.is_charged_in_group())
        };
        // 20,000 pages of the process are anonymous, and 2 are charged.
        let (first, is_charged) = read(0);
        assert!(!is_charged);
        assert_eq!(first.held.resident_bytes, 20_005 * 4096);
        write(12_000, 7, 19_000);
        let (second, is_charged) = read(1);
        assert!(is_charged);
        assert_eq!(second.counted.cpu_nanoseconds, 7000);
        assert_eq!(second.counted.throttled_nanoseconds, 2_000_000);
        assert_eq!(second.held.resident_bytes, 19_000 * 4096 + 1);
        assert_eq!(second.held.file_bytes, 7);
    }

    #[test]
    fn a_group_of_version_2_says_what_was_read_and_written() {
        let recorded = Recorded(tempfile::tempdir().unwrap());
        let (group, groups) = group(Version::Two);
        let write = |usage_us: u64, read: u64| {
            for (name, text) in [
                ("cpu.stat", format!("usage_usec {usage_us}\n")),
                ("memory.stat", "anon 5\nfile 6\nfile_mapped 1\n".to_owned()),
                ("io.stat", format!("8:0 rbytes={read} wbytes=1\n")),
            ] {
                fs::write(group.path().join(name), text).unwrap();
            }
        };
        write(5, 100);
        let mut sensor = ContainerSensor::default();
        sensor.measure(groups).unwrap();
        let (proc, now) = (ProcFs::new(recorded.0.path()), Instant::now());
        let disks = ["8:0".parse().unwrap()];
        let mut read = || sensor.read_group(&proc, &[], &disks, now).unwrap().unwrap();
        read();
        write(12, 150);
        let reading = read();
        assert_eq!(reading.counted.cpu_nanoseconds, 7000);
        assert_eq!(reading.counted.disk_read_bytes, 50);
        assert_eq!(reading.held.resident_bytes, 6);
    }
}

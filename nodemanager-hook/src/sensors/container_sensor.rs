//! One container's readings.

use std::{collections::BTreeSet, fs::File, io, os::unix::fs::FileExt, path::Path, time::Instant};

use super::{
    growth::Growth,
    proc_fs::{DiskBytes, ProcFs},
    process_table::{Process, ProcessKey},
};
use crate::samples::Reading;

/// Where a container's CPU time is read.
#[derive(Debug)]
pub enum CpuSource {
    /// `cpuacct.usage` of its group, held open from round to round.
    Accounting(File),
    /// Own and reaped time of the processes in its tree.
    ProcessTimes,
}

/// Turns the counters of one container into readings.
#[derive(Debug)]
pub struct ContainerSensor {
    cpu_source: CpuSource,
    cpu: Growth,
    disk: Growth,
    before: Option<Instant>,
    members: BTreeSet<ProcessKey>,
    /// Whether the disk counters of a process could not be read for lack of rights.
    pub disk_denied: bool,
}

impl CpuSource {
    /// The accounting of a cpuacct group.
    ///
    /// # Errors
    /// Those of opening `cpuacct.usage`.
    pub fn accounting(group: &Path) -> io::Result<Self> {
        Ok(Self::Accounting(File::open(group.join("cpuacct.usage"))?))
    }
}

impl ContainerSensor {
    pub fn new(cpu_source: CpuSource) -> Self {
        Self {
            cpu_source,
            cpu: Growth::default(),
            disk: Growth::default(),
            before: None,
            members: BTreeSet::new(),
            disk_denied: false,
        }
    }

    /// Takes CPU time from another source from now on; the next reading is its first one. What is
    /// counted of memory and disk goes on.
    pub fn switch(&mut self, cpu_source: CpuSource) {
        self.cpu_source = cpu_source;
        self.cpu = Growth::default();
    }

    /// What the tree has to hold at the next reading, however it descends.
    pub fn follow(&mut self, members: BTreeSet<ProcessKey>) {
        self.members = members;
    }

    /// Whether CPU comes from process times, so that [`Self::read_tree`] has to be used.
    pub fn needs_tree(&self) -> bool {
        matches!(self.cpu_source, CpuSource::ProcessTimes)
    }

    /// The members of the tree at the last reading.
    pub fn members(&self) -> &BTreeSet<ProcessKey> {
        &self.members
    }

    /// Reads a container whose processes its group lists.
    ///
    /// # Errors
    /// Files that are there but cannot be read.
    pub fn read_group(
        &mut self,
        proc: &ProcFs,
        pids: &[u32],
        now: Instant,
    ) -> io::Result<Option<Reading>> {
        let CpuSource::Accounting(file) = &self.cpu_source else {
            return Ok(None);
        };
        let total = read_number(file)?;
        self.read(proc, pids, total, now).map(Some)
    }

    /// Reads a container whose processes were found in a table.
    ///
    /// # Errors
    /// Files that are there but cannot be read.
    pub fn read_tree(
        &mut self,
        proc: &ProcFs,
        tree: &[&Process],
        now: Instant,
    ) -> io::Result<Reading> {
        self.members = tree.iter().map(|process| process.key()).collect();
        let pids: Vec<u32> = tree.iter().map(|process| process.pid).collect();
        let total = tree.iter().map(|process| process.cpu_nanoseconds).sum();
        self.read(proc, &pids, total, now)
    }

    /// `pids` are in ascending order: parents are mostly read before their children, so that a
    /// child that is reaped meanwhile is missed for one reading rather than counted twice.
    fn read(
        &mut self,
        proc: &ProcFs,
        pids: &[u32],
        cpu_total: u64,
        now: Instant,
    ) -> io::Result<Reading> {
        let mut memory_bytes = 0;
        let mut disk_total = 0;
        for pid in pids {
            let resident = proc.resident_bytes(*pid)?.unwrap_or(0);
            memory_bytes = u64::saturating_add(memory_bytes, resident);
            match proc.disk_bytes(*pid)? {
                Some(DiskBytes::Read(bytes)) => {
                    disk_total = u64::saturating_add(disk_total, bytes);
                }
                Some(DiskBytes::Denied) => self.disk_denied = true,
                None => {}
            }
        }
        Ok(Reading {
            since: self.before.replace(now).unwrap_or(now),
            at: now,
            cpu_nanoseconds: self.cpu.advance(cpu_total),
            memory_bytes,
            disk_bytes: self.disk.advance(disk_total),
        })
    }
}

fn read_number(file: &File) -> io::Result<u64> {
    let mut buffer = [0; 32];
    let length = file.read_at(&mut buffer, 0)?;
    let text = String::from_utf8_lossy(&buffer[..length]);
    text.trim()
        .parse()
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, format!("`{text}` is no number")))
}

#[cfg(test)]
mod tests {
    use std::{fs, time::Duration};

    use super::super::process_table::{KernelThreads, ProcessTable};
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
            let tree = table.tree(root, sensor.members());
            sensor.read_tree(&proc, &tree, now).unwrap()
        }
    }

    const TICK_NANOSECONDS: u64 = 10_000_000;

    #[test]
    fn the_tree_is_summed_and_differenced() {
        let recorded = Recorded(tempfile::tempdir().unwrap());
        let mut sensor = ContainerSensor::new(CpuSource::ProcessTimes);
        let start = Instant::now();
        recorded.process(10, 1, 100, 10, 1000);
        recorded.process(11, 10, 50, 20, 500);
        let first = recorded.read(&mut sensor, start);
        assert_eq!((first.cpu_nanoseconds, first.disk_bytes), (0, 0));
        assert_eq!(first.memory_bytes, 30 * 4096);

        recorded.process(11, 10, 70, 25, 4500);
        let second = recorded.read(&mut sensor, start + Duration::from_secs(1));
        assert_eq!(second.cpu_nanoseconds, 20 * TICK_NANOSECONDS);
        assert_eq!(second.disk_bytes, 4000);
        assert_eq!(second.memory_bytes, 35 * 4096);
        assert_eq!(second.at - second.since, Duration::from_secs(1));
    }

    #[test]
    fn what_a_reaped_child_used_is_counted_once() {
        let recorded = Recorded(tempfile::tempdir().unwrap());
        let mut sensor = ContainerSensor::new(CpuSource::ProcessTimes);
        let start = Instant::now();
        recorded.process(10, 1, 100, 10, 1000);
        recorded.process(11, 10, 50, 20, 500);
        recorded.read(&mut sensor, start);
        recorded.end(11);
        recorded.process(10, 1, 155, 10, 1600);
        let after = recorded.read(&mut sensor, start + Duration::from_secs(1));
        assert_eq!(after.cpu_nanoseconds, 5 * TICK_NANOSECONDS);
        assert_eq!(after.disk_bytes, 100);
    }

    #[test]
    fn a_group_takes_its_cpu_from_the_accounting() {
        let recorded = Recorded(tempfile::tempdir().unwrap());
        recorded.process(10, 1, 100, 10, 1000);
        let group = tempfile::tempdir().unwrap();
        fs::write(group.path().join("cpuacct.usage"), "5000\n").unwrap();
        let mut sensor = ContainerSensor::new(CpuSource::accounting(group.path()).unwrap());
        let proc = ProcFs::new(recorded.0.path());
        let now = Instant::now();
        sensor.read_group(&proc, &[10], now).unwrap().unwrap();
        fs::write(group.path().join("cpuacct.usage"), "12000\n").unwrap();
        let reading = sensor.read_group(&proc, &[10, 999], now).unwrap().unwrap();
        assert_eq!(reading.cpu_nanoseconds, 7000);
        assert_eq!(reading.memory_bytes, 10 * 4096);
    }
}

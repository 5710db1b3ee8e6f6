//! The processes of one container, with those of their files that each reading needs.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

use super::{
    HeldMemory,
    group_files::DiskTraffic,
    proc_fs::{DiskBytes, HeldFile, ProcFs},
    process_table::ProcessKey,
};

/// Known by pid. One that has ended is forgotten when that is found.
#[derive(Debug, Default)]
pub struct Processes {
    known: BTreeMap<u32, Known>,
    /// Whether the disk counters of one could not be read for lack of rights.
    pub disk_denied: bool,
    /// Whether files are opened with each reading, because too many are open already.
    pub opened_anew: bool,
}

#[derive(Debug)]
struct Known {
    start_ticks: u64,
    statm: HeldFile,
    io: HeldFile,
    has_ended: bool,
}

impl Processes {
    /// Those that were there at the last reading.
    pub fn keys(&self) -> BTreeSet<ProcessKey> {
        let known = self.known.iter();
        known
            .map(|(pid, known)| ProcessKey {
                pid: *pid,
                start_ticks: known.start_ticks,
            })
            .collect()
    }

    /// Knows these from now on, and no others.
    pub fn follow(&mut self, keys: &BTreeSet<ProcessKey>) {
        self.known.retain(|pid, known| {
            keys.contains(&ProcessKey {
                pid: *pid,
                start_ticks: known.start_ticks,
            })
        });
        for key in keys {
            let known = self.known.entry(key.pid);
            known.or_insert_with(|| Known::new(key.start_ticks));
        }
    }

    /// Knows those with these pids, in ascending order, from now on, and no others. A pid of which
    /// the process is not there any more is left out, and so is one that may not be seen.
    ///
    /// # Errors
    /// Those of reading when a process began.
    pub fn follow_pids(&mut self, pids: &[u32], proc: &ProcFs) -> io::Result<()> {
        self.known.retain(|pid, _| pids.binary_search(pid).is_ok());
        if self.known.len() == pids.len() {
            return Ok(());
        }
        for pid in pids {
            if self.known.contains_key(pid) {
                continue;
            }
            match proc.process(*pid) {
                Ok(Some(process)) => {
                    self.known.insert(*pid, Known::new(process.start_ticks));
                }
                Ok(None) => {}
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// What they hold together. Pages that several share are counted for each of them.
    ///
    /// # Errors
    /// Files that are there but cannot be read.
    pub fn memory(&mut self, proc: &ProcFs) -> io::Result<HeldMemory> {
        let mut sum = HeldMemory::default();
        for (pid, known) in &mut self.known {
            match proc.memory(*pid, &mut known.statm)? {
                Some(held) => sum.add(held),
                None => known.has_ended = true,
            }
            self.opened_anew |= !known.has_ended && !known.statm.is_open();
        }
        self.known.retain(|_, known| !known.has_ended);
        Ok(sum)
    }

    /// What they, and the children that they have reaped, had read from disks and written there.
    ///
    /// Parents are mostly read before their children, so that a child that is reaped meanwhile is
    /// missed for one reading rather than counted twice.
    ///
    /// # Errors
    /// Files that are there but cannot be read.
    pub fn traffic(&mut self, proc: &ProcFs) -> io::Result<DiskTraffic> {
        let mut sum = DiskTraffic::default();
        for (pid, known) in &mut self.known {
            match proc.disk_bytes(*pid, &mut known.io)? {
                Some(DiskBytes::Read(traffic)) => {
                    sum.read_bytes = sum.read_bytes.saturating_add(traffic.read_bytes);
                    sum.written_bytes = sum.written_bytes.saturating_add(traffic.written_bytes);
                    self.opened_anew |= !known.io.is_open();
                }
                Some(DiskBytes::Denied) => self.disk_denied = true,
                None => known.has_ended = true,
            }
        }
        self.known.retain(|_, known| !known.has_ended);
        Ok(sum)
    }
}

impl Known {
    fn new(start_ticks: u64) -> Self {
        Self {
            start_ticks,
            statm: HeldFile::default(),
            io: HeldFile::default(),
            has_ended: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{path::Path, process::Command};

    use super::*;

    #[test]
    fn a_process_is_known_until_it_ends_and_its_files_are_opened_once() {
        let proc = ProcFs::new(Path::new("/proc"));
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id();
        let start_ticks = proc.process(pid).unwrap().unwrap().start_ticks;
        let mut processes = Processes::default();
        processes.follow_pids(&[pid], &proc).unwrap();
        assert_eq!(processes.keys(), [ProcessKey { pid, start_ticks }].into());
        assert!(processes.memory(&proc).unwrap().resident_bytes > 0);
        processes.traffic(&proc).unwrap();
        assert!(processes.known[&pid].statm.is_open() && processes.known[&pid].io.is_open());
        assert!(!processes.opened_anew);

        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(processes.memory(&proc).unwrap(), HeldMemory::default());
        assert!(processes.keys().is_empty());
        processes.follow_pids(&[pid], &proc).unwrap();
        assert!(processes.keys().is_empty());
    }

    #[test]
    fn a_file_that_is_open_is_not_taken_for_a_later_process_with_its_pid() {
        let proc = ProcFs::new(Path::new("/proc"));
        let (mut child, this) = (Command::new("true").spawn().unwrap(), std::process::id());
        let mut processes = Processes::default();
        processes.follow_pids(&[child.id()], &proc).unwrap();
        processes.traffic(&proc).unwrap();
        child.wait().unwrap();
        // As if the pid of the child had been given to this process.
        let ended = processes.known.remove(&child.id()).unwrap();
        processes.known.insert(this, ended);
        assert_eq!(processes.traffic(&proc).unwrap(), DiskTraffic::default());
        assert!(processes.keys().is_empty());
        processes.follow_pids(&[this], &proc).unwrap();
        let start_ticks = proc.process(this).unwrap().unwrap().start_ticks;
        let this = ProcessKey {
            pid: this,
            start_ticks,
        };
        assert_eq!(processes.keys(), [this].into());
    }

    #[test]
    fn where_too_many_files_are_open_they_are_opened_anew() {
        let proc = ProcFs::new(Path::new("/proc")).holding_below(0);
        let mut processes = Processes::default();
        processes.follow_pids(&[std::process::id()], &proc).unwrap();
        for _ in 0..2 {
            assert!(processes.memory(&proc).unwrap().resident_bytes > 0);
        }
        assert!(processes.opened_anew);
    }
}

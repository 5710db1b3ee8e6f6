//! The processes of one container, with the files that each reading needs.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

use super::{
    HeldMemory,
    cpu_waits::CpuWaits,
    group_files::DiskTraffic,
    proc_fs::{HeldFile, ProcFs},
    process::ProcessKey,
};

/// The processes of a container that one reading reads: some 50 us each, while the agent does nothing else. A fork bomb has as
/// many as the kernel allows.
const MOST_READ: usize = 1_000;

/// A process is forgotten when a reading finds that it has ended.
#[derive(Debug, Default)]
pub struct Processes {
    known: BTreeMap<ProcessKey, OpenFiles>,
    /// The latest start among all processes that were asked for their waits.
    newest_start_ticks: Option<u64>,
    /// Processes that the group no longer lists although they run.
    pub taken_out: BTreeSet<ProcessKey>,
    /// Whether the agent lacked the rights to read the disk counters of a process.
    pub disk_denied: bool,
    /// Whether each reading opens files anew because too many are open.
    pub opened_anew: bool,
    /// How many processes the last reading left out, since there were more than [`MOST_READ`].
    pub left_out: usize,
    /// The listed pids that the last reading left out, in ascending order.
    left_out_pids: Vec<u32>,
}

#[derive(Debug, Default)]
struct OpenFiles {
    statm: HeldFile,
    io: HeldFile,
    /// How long its threads had waited for a core when that was last read.
    waited_nanoseconds: Option<u64>,
    /// Whether readings read it. It stays so until it ends, so that no counter falls meanwhile.
    is_read: bool,
    /// Whether a reading left it out. Its counters then count from their first reading.
    was_left_out: bool,
    /// Its disk traffic at that first reading.
    traffic_before: Option<DiskTraffic>,
    has_ended: bool,
}

impl Processes {
    pub fn iter(&self) -> impl Iterator<Item = ProcessKey> + '_ {
        self.known.keys().copied()
    }

    pub fn keys(&self) -> BTreeSet<ProcessKey> {
        self.known.keys().copied().collect()
    }

    /// Counts the processes that were taken out as known again.
    pub fn take_back(&mut self) {
        for key in std::mem::take(&mut self.taken_out) {
            self.known.entry(key).or_default();
        }
    }

    /// Replaces the known processes. Processes above [`MOST_READ`] are known but not read: their children belong to the tree.
    pub fn follow(&mut self, keys: &BTreeSet<ProcessKey>) {
        self.left_out = keys.len().saturating_sub(MOST_READ);
        self.known.retain(|key, _| keys.contains(key));
        let left_out = std::mem::take(&mut self.left_out_pids);
        for key in keys {
            self.known.entry(*key).or_insert_with(|| OpenFiles::of(key.pid, &left_out));
        }
    }

    /// Replaces the known processes by those with these pids, in ascending order. Leaves out
    /// processes that have ended, processes that the agent may not see, and all above [`MOST_READ`].
    pub fn follow_pids(&mut self, pids: &[u32], proc: &ProcFs) -> io::Result<()> {
        let is_listed = |key: &ProcessKey| pids.binary_search(&key.pid).is_ok();
        let missing = self.known.keys().filter(|key| !is_listed(key)).copied();
        for key in missing.collect::<Vec<_>>() {
            self.known.remove(&key);
            let process = proc.process(key.pid).ok().flatten();
            let process = process.filter(|one| one.key() == key && !one.has_ended);
            self.taken_out.extend(process.map(|process| process.key()));
        }
        self.left_out = pids.len().saturating_sub(MOST_READ);
        if self.known.len() == pids.len() {
            self.left_out_pids.clear();
            return Ok(());
        }
        let known: BTreeSet<u32> = self.known.keys().map(|key| key.pid).collect();
        let room = MOST_READ.saturating_sub(known.len());
        for pid in pids.iter().filter(|pid| !known.contains(pid)).take(room) {
            match proc.process(*pid) {
                Ok(Some(process)) => {
                    let files = OpenFiles::of(*pid, &self.left_out_pids);
                    self.known.insert(process.key(), files);
                }
                Ok(None) => {}
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                Err(error) => return Err(error),
            }
        }
        self.left_out_pids.clear();
        if self.left_out > 0 {
            let known: BTreeSet<u32> = self.known.keys().map(|key| key.pid).collect();
            self.left_out_pids.extend(pids.iter().filter(|pid| !known.contains(pid)));
        }
        Ok(())
    }

    /// The memory of all processes. Pages that several processes share count for each.
    pub fn memory(&mut self, proc: &ProcFs) -> io::Result<HeldMemory> {
        let mut sum = HeldMemory::default();
        for (key, files) in read_of(&mut self.known) {
            match proc.memory(key.pid, &mut files.statm)? {
                Some(held) => sum.add(held),
                None => files.has_ended = true,
            }
            self.opened_anew |= !files.has_ended && !files.statm.is_open();
        }
        self.known.retain(|_, files| !files.has_ended);
        Ok(sum)
    }

    /// Disk traffic of the processes and of the children that they have reaped.
    ///
    /// Parents usually have lower pids and are read before their children. So a child that is
    /// reaped meanwhile is missed for one reading instead of counted twice.
    pub fn traffic(&mut self, proc: &ProcFs) -> io::Result<DiskTraffic> {
        let mut sum = DiskTraffic::default();
        for (key, files) in read_of(&mut self.known) {
            match proc.disk_traffic(key.pid, &mut files.io) {
                Ok(Some(traffic)) => {
                    if files.was_left_out {
                        files.traffic_before.get_or_insert(traffic);
                    }
                    sum.add(traffic.since(files.traffic_before.unwrap_or_default()));
                    self.opened_anew |= !files.io.is_open();
                }
                Ok(None) => files.has_ended = true,
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    self.disk_denied = true;
                }
                Err(error) => return Err(error),
            }
        }
        self.known.retain(|_, files| !files.has_ended);
        Ok(sum)
    }

    /// How long threads of the processes waited for a core since this was last read. A process that has started
    /// since and was not left out counts from its start; any other that was not read before counts from now. What a process that has
    /// ended waited since then is lost.
    pub fn waited_nanoseconds(&mut self, waits: &mut CpuWaits) -> io::Result<u64> {
        let newest = self.newest_start_ticks;
        let mut sum = 0_u64;
        for (key, files) in read_of(&mut self.known) {
            let Some(total) = waits.nanoseconds_of(key.pid)? else {
                files.has_ended = true;
                continue;
            };
            let has_started_since = newest.is_some_and(|newest| key.start_ticks > newest);
            let first = if has_started_since && !files.was_left_out { 0 } else { total };
            let from = files.waited_nanoseconds.replace(total).unwrap_or(first);
            sum = sum.saturating_add(total.saturating_sub(from));
            self.newest_start_ticks = self.newest_start_ticks.max(Some(key.start_ticks));
        }
        self.known.retain(|_, files| !files.has_ended);
        Ok(sum)
    }
}

impl OpenFiles {
    fn of(pid: u32, left_out_pids: &[u32]) -> Self {
        let was_left_out = left_out_pids.binary_search(&pid).is_ok();
        Self { was_left_out, ..Self::default() }
    }
}

/// The processes to read, in ascending order: those read before, then others up to [`MOST_READ`].
fn read_of(
    known: &mut BTreeMap<ProcessKey, OpenFiles>,
) -> impl Iterator<Item = (&ProcessKey, &mut OpenFiles)> {
    let read = known.values().filter(|files| files.is_read).count();
    let mut room = MOST_READ.saturating_sub(read);
    for files in known.values_mut().filter(|files| !files.is_read) {
        files.is_read = room > 0;
        files.was_left_out |= !files.is_read;
        room = room.saturating_sub(1);
    }
    known.iter_mut().filter(|(_, files)| files.is_read)
}

#[cfg(test)]
mod tests {
    use std::{
        path::Path,
        process::{Child, Command},
        time::{Duration, Instant},
    };

    use nix::unistd::geteuid;

    use super::*;

    #[test]
    fn a_process_is_known_until_it_ends_and_its_files_are_opened_once() {
        let proc = ProcFs::new(Path::new("/proc"));
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id();
        let start_ticks = proc.process(pid).unwrap().unwrap().start_ticks;
        let mut processes = Processes::default();
        processes.follow_pids(&[pid], &proc).unwrap();
        let key = ProcessKey { pid, start_ticks };
        assert_eq!(processes.keys(), [key].into());
        assert!(processes.memory(&proc).unwrap().resident_bytes > 0);
        processes.traffic(&proc).unwrap();
        assert!(processes.known[&key].statm.is_open() && processes.known[&key].io.is_open());
        assert!(!processes.opened_anew);

        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(processes.memory(&proc).unwrap(), HeldMemory::default());
        assert!(processes.keys().is_empty());
        processes.follow_pids(&[pid], &proc).unwrap();
        assert!(processes.keys().is_empty());
    }

    #[test]
    fn an_open_file_is_not_taken_for_a_later_process_with_the_same_pid() {
        let proc = ProcFs::new(Path::new("/proc"));
        let (mut child, this) = (Command::new("true").spawn().unwrap(), std::process::id());
        let mut processes = Processes::default();
        processes.follow_pids(&[child.id()], &proc).unwrap();
        processes.traffic(&proc).unwrap();
        child.wait().unwrap();
        // As if this process had got the pid of the child.
        let (mut key, ended) = processes.known.pop_first().unwrap();
        key.pid = this;
        processes.known.insert(key, ended);
        assert_eq!(processes.traffic(&proc).unwrap(), DiskTraffic::default());
        assert!(processes.keys().is_empty());
        processes.follow_pids(&[this], &proc).unwrap();
        let start_ticks = proc.process(this).unwrap().unwrap().start_ticks;
        let this = ProcessKey { pid: this, start_ticks };
        assert_eq!(processes.keys(), [this].into());
    }

    #[test]
    fn files_are_opened_anew_when_too_many_are_open() {
        let proc = ProcFs::new(Path::new("/proc")).holding_below(0);
        let mut processes = Processes::default();
        processes.follow_pids(&[std::process::id()], &proc).unwrap();
        for _ in 0..2 {
            assert!(processes.memory(&proc).unwrap().resident_bytes > 0);
        }
        assert!(processes.opened_anew);
    }

    #[test]
    fn a_container_with_too_many_processes_is_read_in_part() {
        let directory = tempfile::tempdir().unwrap();
        let pids: Vec<u32> = (1..).take(MOST_READ + 2).collect();
        for pid in &pids {
            let files = directory.path().join(pid.to_string());
            std::fs::create_dir(&files).unwrap();
            let stat = format!("{pid} (sh) S 1 1 1 0 -1 0 0 0 0 0 1 1 1 1 20 0 1 0 5 0");
            std::fs::write(files.join("stat"), stat).unwrap();
            std::fs::write(files.join("statm"), "9 1 0 0 0 0 0\n").unwrap();
            std::fs::write(files.join("io"), "read_bytes: 1\nwrite_bytes: 0\n").unwrap();
        }
        let proc = ProcFs::new(directory.path()).holding_below(0);
        let page_bytes = |count: usize| {
            let one = proc.memory(1, &mut HeldFile::default()).unwrap().unwrap();
            one.resident_bytes * count as u64
        };
        let mut processes = Processes::default();
        for _ in 0..2 {
            processes.follow_pids(&pids, &proc).unwrap();
            assert_eq!((processes.known.len(), processes.left_out), (MOST_READ, 2));
        }
        let keys = |count: usize| {
            let pids = pids.iter().take(count);
            pids.map(|pid| ProcessKey { pid: *pid, start_ticks: 5 }).collect()
        };
        processes.follow(&keys(pids.len()));
        assert_eq!((processes.known.len(), processes.left_out), (pids.len(), 2));
        assert_eq!(processes.memory(&proc).unwrap().resident_bytes, page_bytes(MOST_READ));
        assert_eq!(processes.traffic(&proc).unwrap().read_bytes, MOST_READ as u64);
        processes.follow(&keys(MOST_READ));
        assert_eq!(processes.left_out, 0);
    }

    #[test]
    fn a_process_that_was_left_out_counts_from_its_first_reading() {
        let directory = tempfile::tempdir().unwrap();
        let io = |pid: u32, bytes: u64| {
            let text = format!("read_bytes: {bytes}\nwrite_bytes: 0\n");
            std::fs::write(directory.path().join(pid.to_string()).join("io"), text).unwrap();
        };
        let pids: Vec<u32> = (1..).take(MOST_READ + 1).collect();
        for pid in &pids {
            let files = directory.path().join(pid.to_string());
            std::fs::create_dir(&files).unwrap();
            let stat = format!("{pid} (sh) S 1 1 1 0 -1 0 0 0 0 0 1 1 1 1 20 0 1 0 5 0");
            std::fs::write(files.join("stat"), stat).unwrap();
            io(*pid, 7);
        }
        let (last, proc) = (MOST_READ as u32 + 1, ProcFs::new(directory.path()).holding_below(0));
        let key = |pid: &u32| ProcessKey { pid: *pid, start_ticks: 5 };
        for is_tree in [false, true] {
            let mut processes = Processes::default();
            let mut read = |pids: &[u32]| {
                match is_tree {
                    true => processes.follow(&pids.iter().map(key).collect()),
                    false => processes.follow_pids(pids, &proc).unwrap(),
                }
                processes.traffic(&proc).unwrap().read_bytes
            };
            io(last, 5_000);
            assert_eq!(read(&pids), 7 * MOST_READ as u64);
            // The first one has ended.
            let rest = 7 * (MOST_READ as u64 - 1);
            assert_eq!(read(&pids[1..]), rest, "what the last one read before");
            io(last, 5_300);
            assert_eq!(read(&pids[1..]), rest + 300);
            // Nobody that is read makes room for one with a lower pid.
            assert_eq!(read(&pids), rest + 300);
        }
    }

    /// A busy process. All of them share one core.
    struct Busy(Child);

    impl Busy {
        fn new() -> Self {
            let mut command = Command::new("taskset");
            Self(command.args(["1", "sh", "-c", "while :; do :; done"]).spawn().unwrap())
        }

        /// One that has waited for the core for some time.
        fn that_waited(waits: &mut CpuWaits) -> Self {
            let busy = Self::new();
            let deadline = Instant::now() + Duration::from_secs(60);
            while waits.nanoseconds_of(busy.0.id()).unwrap().unwrap() < 200_000_000 {
                assert!(Instant::now() < deadline, "nothing keeps {} waiting", busy.0.id());
                std::thread::sleep(Duration::from_millis(10));
            }
            busy
        }
    }

    impl Drop for Busy {
        fn drop(&mut self) {
            let _ = (self.0.kill(), self.0.wait());
        }
    }

    #[test]
    fn what_a_process_waited_before_counts_only_if_it_has_started_since_the_last_reading() {
        if !geteuid().is_root() {
            return; // The kernel tells nobody else.
        }
        let (proc, mut waits) = (ProcFs::new(Path::new("/proc")), CpuWaits::open().unwrap());
        let _busy = Busy::new();
        let known = Busy::that_waited(&mut waits);
        let mut processes = Processes::default();
        for _ in 0..2 {
            processes.follow_pids(&[known.0.id()], &proc).unwrap();
            assert_eq!(processes.waited_nanoseconds(&mut waits).unwrap(), 0);
            // As when a container is moved to another group.
            processes.follow_pids(&[], &proc).unwrap();
        }
        let started_since = Busy::that_waited(&mut waits);
        let mut too_many =
            Processes { newest_start_ticks: processes.newest_start_ticks, ..Processes::default() };
        too_many.left_out_pids.push(started_since.0.id());
        too_many.follow_pids(&[started_since.0.id()], &proc).unwrap();
        assert_eq!(too_many.waited_nanoseconds(&mut waits).unwrap(), 0, "it was left out");
        processes.follow_pids(&[started_since.0.id()], &proc).unwrap();
        assert!(processes.waited_nanoseconds(&mut waits).unwrap() >= 200_000_000);
    }
}

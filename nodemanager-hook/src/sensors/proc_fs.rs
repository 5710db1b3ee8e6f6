//! The files of `/proc` that the agent reads. A process that vanishes meanwhile is no error.

use std::{
    fmt::Write as _,
    fs::File,
    io,
    os::{
        fd::{AsRawFd, RawFd},
        unix::fs::{DirEntryExt, FileExt},
    },
    path::{Path, PathBuf},
};

use nix::{
    errno::Errno,
    sys::resource::{Resource, getrlimit},
    unistd::{SysconfVar, sysconf},
};

use super::{HeldMemory, group_files::DiskTraffic, process_table::Process};

/// What the agent may have open beside the files of processes, as a part of what it may open.
const OTHER_FILES_PART: u64 = 2;
const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;
/// `PF_KTHREAD` of the kernel, which proc(5) does not name.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Disk traffic of a process since it began, and of the children that it has reaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskBytes {
    Read(DiskTraffic),
    /// Another user's process, and the agent is not root.
    Denied,
}

/// The user ids of a process: whose it is, and whose rights it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Users {
    pub real: u32,
    pub effective: u32,
    pub saved: u32,
}

/// A `/proc`; its root is a parameter so that recorded trees can be read.
#[derive(Debug, Clone)]
pub struct ProcFs {
    root: PathBuf,
    page_bytes: u64,
    nanoseconds_per_tick: u64,
    /// Files of processes are held open only below this descriptor.
    hold_below: RawFd,
}

/// A file of one process that is read again and again, held open between: to open it costs the
/// kernel several times what it costs to read it. It stays that process's: when that has ended, the
/// kernel refuses to read it, also when its pid is given anew.
#[derive(Debug, Default)]
pub struct HeldFile(Option<File>);

impl HeldFile {
    /// Whether it is held open.
    pub fn is_open(&self) -> bool {
        self.0.is_some()
    }
}

impl ProcFs {
    pub fn new(root: &Path) -> Self {
        let positive = |variable, usual: u64| {
            let value = sysconf(variable).ok().flatten();
            value
                .and_then(|value| u64::try_from(value).ok())
                .filter(|value| *value > 0)
                .unwrap_or(usual)
        };
        let ticks_per_second = positive(SysconfVar::CLK_TCK, 100);
        Self {
            root: root.into(),
            page_bytes: positive(SysconfVar::PAGE_SIZE, 4096),
            nanoseconds_per_tick: NANOSECONDS_PER_SECOND / ticks_per_second,
            hold_below: hold_below(),
        }
    }

    /// The same, with files of processes held open only below this descriptor.
    #[cfg(test)]
    pub fn holding_below(self, hold_below: RawFd) -> Self {
        Self { hold_below, ..self }
    }

    /// How long the tick is in which the kernel counts CPU time.
    pub fn nanoseconds_per_tick(&self) -> u64 {
        self.nanoseconds_per_tick
    }

    /// A file below the root.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// All processes now: pid and inode. A pid that is given anew has another inode; the inode of
    /// a process may change too, when the kernel needs memory.
    ///
    /// # Errors
    /// Those of reading the directory.
    pub fn pids(&self) -> io::Result<Vec<(u32, u64)>> {
        let mut pids = Vec::new();
        for entry in std::fs::read_dir(&self.root)? {
            let entry = entry?;
            let name = entry.file_name();
            if let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) {
                pids.push((pid, entry.ino()));
            }
        }
        Ok(pids)
    }

    /// Parent, session, start and CPU time of a process.
    pub fn process(&self, pid: u32) -> io::Result<Option<Process>> {
        let parsed = self.read(pid, "stat", |text| {
            parse_stat(pid, text, self.nanoseconds_per_tick)
        })?;
        match parsed {
            Some(None) => Err(self.unreadable(pid, "stat")),
            other => Ok(other.flatten()),
        }
    }

    /// Resident memory. Pages that several processes share are counted for each of them.
    pub fn memory(&self, pid: u32, held: &mut HeldFile) -> io::Result<Option<HeldMemory>> {
        let pages = self.read_held(pid, "statm", held, |text| {
            let mut fields = text.split_ascii_whitespace().skip(1).map(str::parse::<u64>);
            let (resident, shared) = (fields.next()?.ok()?, fields.next()?.ok()?);
            Some((resident, shared))
        })?;
        match pages {
            Some(None) => Err(self.unreadable(pid, "statm")),
            other => Ok(other.flatten().map(|(resident, shared)| HeldMemory {
                resident_bytes: resident.saturating_mul(self.page_bytes),
                anonymous_bytes: resident
                    .saturating_sub(shared)
                    .saturating_mul(self.page_bytes),
                file_bytes: shared.saturating_mul(self.page_bytes),
                ..HeldMemory::default()
            })),
        }
    }

    /// Bytes that the process caused to be read from and written to storage.
    pub fn disk_bytes(&self, pid: u32, held: &mut HeldFile) -> io::Result<Option<DiskBytes>> {
        let bytes = match self.read_held(pid, "io", held, parse_io) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Ok(Some(DiskBytes::Denied));
            }
            other => other?,
        };
        match bytes {
            Some(None) => Err(self.unreadable(pid, "io")),
            other => Ok(other.flatten().map(DiskBytes::Read)),
        }
    }

    /// Whose process it is.
    pub fn users(&self, pid: u32) -> io::Result<Option<Users>> {
        match self.read(pid, "status", parse_users)? {
            Some(None) => Err(self.unreadable(pid, "status")),
            other => Ok(other.flatten()),
        }
    }

    /// The lines of `/proc/PID/cgroup`.
    pub fn cgroup(&self, pid: u32) -> io::Result<Option<String>> {
        self.read(pid, "cgroup", str::to_owned)
    }

    /// Reads a file once.
    fn read<T>(&self, pid: u32, file: &str, parse: impl Fn(&str) -> T) -> io::Result<Option<T>> {
        self.read_held(pid, file, &mut HeldFile::default(), parse)
    }

    /// Reads a file that fits the kernel's page; nothing when the process is gone. It stays open
    /// for the next time, unless there are too many.
    fn read_held<T>(
        &self,
        pid: u32,
        name: &str,
        held: &mut HeldFile,
        parse: impl Fn(&str) -> T,
    ) -> io::Result<Option<T>> {
        let file = match held.0.take() {
            Some(file) => file,
            None => match self.open(pid, name) {
                Err(error) if is_gone(&error) => return Ok(None),
                other => other?,
            },
        };
        let mut buffer = [0; 4096];
        let length = match fill(&file, &mut buffer) {
            Err(error) if is_gone(&error) => return Ok(None),
            other => other?,
        };
        // The kernel gives the lowest number that is free.
        held.0 = Some(file).filter(|file| file.as_raw_fd() < self.hold_below);
        let text = String::from_utf8_lossy(&buffer[..length]);
        // Some kernels give an empty file for a process that is just ending.
        Ok((!text.is_empty()).then(|| parse(&text)))
    }

    fn open(&self, pid: u32, name: &str) -> io::Result<File> {
        let mut path = String::with_capacity(64);
        // Writing to a String cannot fail.
        let _ = write!(path, "{}/{pid}/{name}", self.root.display());
        File::open(path)
    }

    fn unreadable(&self, pid: u32, file: &str) -> io::Error {
        let path = self.root.join(pid.to_string()).join(file);
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{} is not as expected", path.display()),
        )
    }
}

/// Where the limit cannot be asked for, nothing is held open.
fn hold_below() -> RawFd {
    let most = getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| soft);
    RawFd::try_from(most - most / OTHER_FILES_PART).unwrap_or(RawFd::MAX)
}

/// Each of these files is one record, which the kernel gives as a whole: after a short read nothing
/// is left, and asking for that would double the number of reads.
fn fill(file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    loop {
        let room = buffer.len() - length;
        let count = file.read_at(&mut buffer[length..], length as u64)?;
        length += count;
        if count < room || count == 0 {
            return Ok(length);
        }
    }
}

fn is_gone(error: &io::Error) -> bool {
    let vanished = error.raw_os_error() == Some(Errno::ESRCH as i32);
    vanished || error.kind() == io::ErrorKind::NotFound
}

/// `pid (name) state ppid pgrp session …`; the name may hold spaces and parentheses.
fn parse_stat(pid: u32, text: &str, nanoseconds_per_tick: u64) -> Option<Process> {
    let (_, after_name) = text.rsplit_once(')')?;
    let fields: Vec<&str> = after_name.split_ascii_whitespace().collect();
    // Counted from the state, which proc(5) calls field 3.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    let ticks = (14..=17).try_fold(0, |sum: u64, field| sum.checked_add(number(field)?))?;
    Some(Process {
        pid,
        parent: u32::try_from(number(4)?).ok()?,
        session: u32::try_from(number(6)?).ok()?,
        start_ticks: number(22)?,
        is_kernel_thread: number(9)? & KERNEL_THREAD != 0,
        cpu_nanoseconds: ticks.saturating_mul(nanoseconds_per_tick),
    })
}

fn parse_io(text: &str) -> Option<DiskTraffic> {
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim().parse::<u64>().ok()
    };
    Some(DiskTraffic {
        read_bytes: value("read_bytes:")?,
        written_bytes: value("write_bytes:")?,
    })
}

/// `Uid:`, then the real, effective, saved and file system user ids.
fn parse_users(status: &str) -> Option<Users> {
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    let mut ids = line.split_ascii_whitespace().map(str::parse);
    let mut next = || ids.next()?.ok();
    Some(Users {
        real: next()?,
        effective: next()?,
        saved: next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_is_skipped() {
        let text = "77 (a) S (b 1 2) R 5 6 7 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 1 0 999 0 0";
        let process = parse_stat(77, text, 1000).unwrap();
        assert_eq!((process.parent, process.session), (5, 7));
        assert_eq!(process.start_ticks, 999);
        assert_eq!(process.cpu_nanoseconds, 100_000);
    }

    #[test]
    fn a_kernel_thread_is_told_by_its_flags() {
        let text = "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 25 0 0";
        assert!(parse_stat(2, text, 1).unwrap().is_kernel_thread);
    }

    #[test]
    fn users_are_the_real_the_effective_and_the_saved_one() {
        let users = Users {
            real: 1000,
            effective: 0,
            saved: 7,
        };
        assert_eq!(
            parse_users("Name:\tsu\nUid:\t1000\t0\t7\t0\nGid:\t1\t1\t1\t1\n"),
            Some(users)
        );
        assert_eq!(parse_users("Name:\tsu\nUid:\t1000\tx\n"), None);
    }

    #[test]
    fn a_stat_that_is_cut_is_refused() {
        assert!(parse_stat(77, "77 (a) R 5 6 7", 1000).is_none());
        assert!(parse_stat(77, "", 1000).is_none());
    }

    #[test]
    fn io_is_what_storage_saw_not_what_was_asked() {
        let text = "rchar: 900\nwchar: 800\nsyscr: 1\nsyscw: 1\nread_bytes: 4096\n\
                    write_bytes: 8192\ncancelled_write_bytes: 0\n";
        let expected = DiskTraffic {
            read_bytes: 4096,
            written_bytes: 8192,
        };
        assert_eq!(parse_io(text), Some(expected));
    }

    #[test]
    fn a_process_that_is_gone_is_no_error() {
        let directory = tempfile::tempdir().unwrap();
        let proc = ProcFs::new(directory.path());
        assert!(proc.process(5).unwrap().is_none());
        assert!(proc.memory(5, &mut HeldFile::default()).unwrap().is_none());
        assert!(
            proc.disk_bytes(5, &mut HeldFile::default())
                .unwrap()
                .is_none()
        );
        std::fs::create_dir(directory.path().join("5")).unwrap();
        std::fs::write(directory.path().join("5/stat"), "").unwrap();
        assert!(proc.process(5).unwrap().is_none());
    }

    #[test]
    fn the_agent_itself_can_be_read() {
        let proc = ProcFs::new(Path::new("/proc"));
        let process = proc.process(std::process::id()).unwrap().unwrap();
        assert_eq!(process.parent, nix::unistd::getppid().as_raw() as u32);
        let held = proc
            .memory(process.pid, &mut HeldFile::default())
            .unwrap()
            .unwrap();
        assert!(held.anonymous_bytes > 10_000 && held.resident_bytes > 100_000);
        let pids = proc.pids().unwrap();
        assert!(pids.iter().any(|(pid, _)| *pid == process.pid));
    }
}

//! Reading the files of `/proc`. A process that vanishes meanwhile is not an error.

use std::{
    fmt::Display,
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

use super::{
    HeldMemory,
    group_files::DiskTraffic,
    process::{Process, Users, parse_io},
};

/// The agent keeps 1 / `OTHER_FILES_PART` of its descriptors for other files.
const OTHER_FILES_PART: u64 = 2;
/// Longer than most of the node's files.
const NODE_FILE_BYTES: usize = 8 << 10;
const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

/// The size of the kernel's pages: 4 KiB, or 64 KiB with some kernels for aarch64, such as RHEL 8's.
pub fn page_bytes() -> u64 {
    configured(SysconfVar::PAGE_SIZE, 4096)
}

fn configured(variable: SysconfVar, usual: u64) -> u64 {
    match sysconf(variable) {
        Ok(Some(value @ 1..)) => value.cast_unsigned(),
        _ => usual,
    }
}

/// A `/proc`. Its root is a parameter, so that tests can read recorded trees.
#[derive(Debug, Clone)]
pub struct ProcFs {
    root: PathBuf,
    page_bytes: u64,
    nanoseconds_per_tick: u64,
    /// Files of processes stay open only below this descriptor.
    hold_below: RawFd,
}

/// A file kept open between readings: opening costs the kernel several times as much as reading. When
/// its process has ended, reading fails, even if the pid is reused.
#[derive(Debug, Default)]
pub struct HeldFile(Option<File>);

impl HeldFile {
    pub fn is_open(&self) -> bool {
        self.0.is_some()
    }
}

impl ProcFs {
    pub fn new(root: &Path) -> Self {
        let ticks_per_second = configured(SysconfVar::CLK_TCK, 100);
        Self {
            root: root.into(),
            page_bytes: page_bytes(),
            nanoseconds_per_tick: NANOSECONDS_PER_SECOND / ticks_per_second,
            hold_below: hold_below(),
        }
    }

    #[cfg(test)]
    pub fn holding_below(self, hold_below: RawFd) -> Self {
        Self { hold_below, ..self }
    }

    /// The length of the tick in which the kernel counts CPU time.
    pub fn nanoseconds_per_tick(&self) -> u64 {
        self.nanoseconds_per_tick
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Pid and inode of all processes. A reused pid has another inode. The inode of a process can
    /// change, too, when the kernel runs short of memory.
    pub fn pids(&self) -> io::Result<Vec<(u32, u64)>> {
        let mut pids = Vec::new();
        let of_root = |error| with_path(error, self.root.display());
        for entry in std::fs::read_dir(&self.root).map_err(of_root)? {
            let entry = entry.map_err(of_root)?;
            let name = entry.file_name();
            if let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) {
                pids.push((pid, entry.ino()));
            }
        }
        Ok(pids)
    }

    pub fn process(&self, pid: u32) -> io::Result<Option<Process>> {
        self.read(pid, "stat", |text| Process::parse(pid, text, self.nanoseconds_per_tick))
    }

    /// Resident memory. Pages that several processes share count for each of them.
    pub fn memory(&self, pid: u32, held: &mut HeldFile) -> io::Result<Option<HeldMemory>> {
        self.read_held(pid, "statm", held, |text| {
            let mut pages = text.split_ascii_whitespace().skip(1).map(str::parse::<u64>);
            let (resident, shared) = (pages.next()?.ok()?, pages.next()?.ok()?);
            let bytes = |pages: u64| pages.saturating_mul(self.page_bytes);
            Some(HeldMemory {
                resident_bytes: bytes(resident),
                anonymous_bytes: bytes(resident.saturating_sub(shared)),
                file_bytes: bytes(shared),
                ..HeldMemory::default()
            })
        })
    }

    /// Bytes that the process, and the children that it has reaped, caused to be read from and
    /// written to storage. `PermissionDenied` for another user's process if the agent is not root.
    pub fn disk_traffic(&self, pid: u32, held: &mut HeldFile) -> io::Result<Option<DiskTraffic>> {
        self.read_held(pid, "io", held, parse_io)
    }

    pub fn users(&self, pid: u32) -> io::Result<Option<Users>> {
        self.read(pid, "status", Users::parse)
    }

    pub fn cgroup(&self, pid: u32) -> io::Result<Option<String>> {
        self.read(pid, "cgroup", |text| Some(text.to_owned()))
    }

    fn read<T>(
        &self,
        pid: u32,
        name: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> io::Result<Option<T>> {
        self.read_held(pid, name, &mut HeldFile::default(), parse)
    }

    /// Reads a file of the node, of any length. It stays open for the next reading.
    pub fn of_node<T>(
        &self,
        name: &str,
        held: &mut HeldFile,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> io::Result<T> {
        let path = self.root.join(name);
        let of_file = |error| with_path(error, path.display());
        let file = match held.0.take() {
            Some(file) => file,
            None => File::open(&path).map_err(of_file)?,
        };
        let mut text = Vec::with_capacity(NODE_FILE_BYTES);
        let mut part = [0; NODE_FILE_BYTES];
        // Of a list, the kernel gives no more than a page at a time.
        loop {
            match file.read_at(&mut part, text.len() as u64).map_err(of_file)? {
                0 => break,
                count => text.extend_from_slice(&part[..count]),
            }
        }
        held.0 = Some(file);
        let malformed = || format!("{} is not as expected", path.display());
        parse(&String::from_utf8_lossy(&text))
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, malformed()))
    }

    /// Reads a file of at most one page; `None` if the process is gone. The file stays open for the
    /// next reading, unless too many are open.
    fn read_held<T>(
        &self,
        pid: u32,
        name: &str,
        held: &mut HeldFile,
        parse: impl Fn(&str) -> Option<T>,
    ) -> io::Result<Option<T>> {
        let path = || format!("{}/{pid}/{name}", self.root.display());
        let of_file = |error| with_path(error, path());
        let file = match held.0.take() {
            Some(file) => file,
            None => match File::open(path()) {
                Err(error) if is_gone(&error) => return Ok(None),
                other => other.map_err(of_file)?,
            },
        };
        let mut buffer = [0; 4096];
        // The kernel gives each of these files as one record, so nothing follows a single read.
        let length = match file.read_at(&mut buffer, 0) {
            Err(error) if is_gone(&error) => return Ok(None),
            other => other.map_err(of_file)?,
        };
        // The kernel assigns the lowest free descriptor.
        held.0 = Some(file).filter(|file| file.as_raw_fd() < self.hold_below);
        // For an exiting process some kernels give an empty file.
        if length == 0 {
            return Ok(None);
        }
        match parse(&String::from_utf8_lossy(&buffer[..length])) {
            None => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("{} is not as expected", path()),
            )),
            parsed => Ok(parsed),
        }
    }
}

/// Without a known limit of descriptors, no file stays open.
fn hold_below() -> RawFd {
    let most = getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| soft);
    RawFd::try_from(most - most / OTHER_FILES_PART).unwrap_or(RawFd::MAX)
}

/// Whether a process or a group, or its file, no longer exists.
pub fn is_gone(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw);
    let vanished = matches!(errno, Some(Errno::ESRCH | Errno::ENODEV));
    vanished || error.kind() == io::ErrorKind::NotFound
}

/// Adds the path to an error of a file, unless that would lose the errno by which [`is_gone`] knows a vanished file.
pub fn with_path(error: io::Error, path: impl Display) -> io::Error {
    let named = io::Error::new(error.kind(), format!("{path}: {error}"));
    if is_gone(&named) == is_gone(&error) { named } else { error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_the_node_is_read_to_its_end() {
        // `kallsyms` is longer than a page everywhere, as `diskstats` is with many disks.
        let Ok(all) = std::fs::read_to_string("/proc/kallsyms") else { return };
        let proc = ProcFs::new(Path::new("/proc"));
        let mut held = HeldFile::default();
        for _ in 0..2 {
            let read = proc.of_node("kallsyms", &mut held, |text| Some(text.lines().count()));
            assert_eq!(read.unwrap(), all.lines().count());
        }
    }

    #[test]
    fn an_error_names_its_file_unless_that_is_gone() {
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let named = with_path(denied, "/proc/7/io");
        assert_eq!(named.to_string(), "/proc/7/io: permission denied");
        assert_eq!(named.kind(), io::ErrorKind::PermissionDenied);
        let missing = with_path(io::ErrorKind::NotFound.into(), "/proc/7/io");
        assert!(is_gone(&missing) && missing.to_string().starts_with("/proc/7/io: "));
        assert!(is_gone(&with_path(Errno::ENODEV.into(), "/proc/7/io")));
    }

    #[test]
    fn a_missing_process_is_not_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let proc = ProcFs::new(directory.path());
        assert!(proc.process(5).unwrap().is_none());
        assert!(proc.memory(5, &mut HeldFile::default()).unwrap().is_none());
        assert!(proc.disk_traffic(5, &mut HeldFile::default()).unwrap().is_none());
        std::fs::create_dir(directory.path().join("5")).unwrap();
        std::fs::write(directory.path().join("5/stat"), "").unwrap();
        assert!(proc.process(5).unwrap().is_none());
    }

    #[test]
    fn the_agents_own_process_is_read() {
        let proc = ProcFs::new(Path::new("/proc"));
        let process = proc.process(std::process::id()).unwrap().unwrap();
        assert_eq!(process.parent, nix::unistd::getppid().as_raw() as u32);
        let held = proc.memory(process.pid, &mut HeldFile::default()).unwrap().unwrap();
        assert!(held.anonymous_bytes > 10_000 && held.resident_bytes > 100_000);
        let pids = proc.pids().unwrap();
        assert!(pids.iter().any(|(pid, _)| *pid == process.pid));
    }
}

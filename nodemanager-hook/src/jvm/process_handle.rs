//! One process, by a handle on its `/proc/PID`. All reads through the handle are of that process,
//! even if its pid is reused.

use std::{
    fs::File,
    io::{self, Read},
    os::fd::OwnedFd,
    path::Path,
};

use nix::{
    errno::Errno,
    fcntl::{OFlag, open, openat},
    sys::stat::Mode,
};

use crate::sensors::{Process, ProcessKey};

/// `SIGQUIT` in the kernel's masks of signals.
const SIGQUIT_MASK: u64 = 0x4;
/// `SIGPWR` in them.
const SIGPWR_MASK: u64 = 1 << 29;
const MOST_BYTES: u64 = 16 * 1024;
/// Opens a directory as a place only.
const PLACE: OFlag = OFlag::O_PATH.union(OFlag::O_DIRECTORY).union(OFlag::O_CLOEXEC);

/// The errors of its methods tell by [`is_gone`](crate::sensors::is_gone) whether the process is
/// gone.
#[derive(Debug)]
pub struct ProcessHandle {
    key: ProcessKey,
    directory: OwnedFd,
}

/// The content of `/proc/PID/status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessStatus {
    /// `R`, `S`, `D`, `T`, `t`, `Z`, …
    pub state: char,
    pub uid: u32,
    pub gid: u32,
    /// The pid in the innermost pid namespace.
    pub inner_pid: u32,
    pub catches_quit: bool,
    pub catches_power: bool,
    /// Resident shared memory without a file on a disk. A page mapped twice counts twice.
    pub shared_memory_bytes: u64,
}

impl ProcessHandle {
    /// Opens the process that has a pid now.
    pub fn open(proc: &Path, pid: u32) -> io::Result<Self> {
        let directory = open(&proc.join(pid.to_string()), PLACE, Mode::empty())?;
        let mut handle = Self { key: ProcessKey { pid, start_ticks: 0 }, directory };
        let process = handle.read("stat", |stat| Some(Process::parse(pid, stat, 1)))?;
        // For an exiting process some kernels give an empty file.
        handle.key = process.ok_or(Errno::ESRCH)?.key();
        Ok(handle)
    }

    pub fn key(&self) -> ProcessKey {
        self.key
    }

    pub fn pid(&self) -> u32 {
        self.key.pid
    }

    pub fn status(&self) -> io::Result<ProcessStatus> {
        self.read("status", ProcessStatus::parse)
    }

    pub fn cgroup(&self) -> io::Result<String> {
        self.read("cgroup", |text| Some(text.to_owned()))
    }

    pub fn open_file(&self, name: &str) -> io::Result<File> {
        let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC;
        Ok(openat(&self.directory, name, flags, Mode::empty())?.into())
    }

    pub fn open_root(&self) -> io::Result<OwnedFd> {
        Ok(openat(&self.directory, "root", PLACE, Mode::empty())?)
    }

    /// The directory that the process works in.
    pub fn open_working(&self) -> io::Result<OwnedFd> {
        Ok(openat(&self.directory, "cwd", PLACE, Mode::empty())?)
    }

    fn read<T>(&self, name: &str, parse: impl FnOnce(&str) -> Option<T>) -> io::Result<T> {
        let mut bytes = Vec::with_capacity(4096);
        self.open_file(name)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
        parse(&String::from_utf8_lossy(&bytes))
            .ok_or_else(|| io::Error::other(format!("unexpected {name}")))
    }
}

impl ProcessStatus {
    pub fn parse(text: &str) -> Option<Self> {
        let values = |key: &str| {
            let mut lines = text.lines();
            let line = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
            Some(line?.split_ascii_whitespace())
        };
        // An exiting process has no memory any more.
        let shared_kib: u64 = match values("RssShmem") {
            Some(mut words) => words.next()?.parse().ok()?,
            None => 0,
        };
        let caught = u64::from_str_radix(values("SigCgt")?.next()?, 16).ok()?;
        Some(Self {
            state: values("State")?.next()?.chars().next()?,
            // The second ids are the effective ones.
            uid: values("Uid")?.nth(1)?.parse().ok()?,
            gid: values("Gid")?.nth(1)?.parse().ok()?,
            inner_pid: values("NSpid")?.last()?.parse().ok()?,
            catches_quit: caught & SIGQUIT_MASK != 0,
            catches_power: caught & SIGPWR_MASK != 0,
            shared_memory_bytes: shared_kib.checked_mul(1024)?,
        })
    }

    /// Whether the process can answer: it is neither stopped, traced nor dead.
    pub fn can_answer(&self) -> bool {
        !matches!(self.state, 'T' | 't' | 'Z' | 'X')
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensors::is_gone;

    const STATUS: &str = "Name:\tjava\nState:\tT (stopped)\nUid:\t7\t8\t9\t9\nGid:\t1\t2\t3\t3\n\
                          NSpid:\t4711\t23\nRssShmem:\t    12 kB\nSigCgt:\t2000000181005ccd\n";

    #[test]
    fn a_status_gives_effective_ids_and_the_innermost_pid() {
        let status = ProcessStatus::parse(STATUS).unwrap();
        assert_eq!((status.uid, status.gid, status.inner_pid), (8, 2, 23));
        assert!(status.catches_quit);
        assert_eq!(status.shared_memory_bytes, 12 * 1024);
        assert!(!status.can_answer());
    }

    #[test]
    fn a_mask_without_sigquit_or_with_sigpwr_is_recognised() {
        let without = STATUS.replace("5ccd", "5cc9");
        assert!(!ProcessStatus::parse(&without).unwrap().catches_quit);
        assert!(!ProcessStatus::parse(STATUS).unwrap().catches_power);
        let with = STATUS.replace("0181005ccd", "01a1005ccd");
        assert!(ProcessStatus::parse(&with).unwrap().catches_power);
    }

    #[test]
    fn a_text_that_is_cut_is_refused() {
        for end in 0..STATUS.len() - "2000000181005ccd\n".len() {
            assert_eq!(ProcessStatus::parse(&STATUS[..end]), None, "{end}");
        }
    }

    #[test]
    fn a_process_that_has_ended_is_gone() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let process = ProcessHandle::open(Path::new("/proc"), child.id()).unwrap();
        process.status().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_gone(&process.status().unwrap_err()));
        assert!(is_gone(&process.open_root().unwrap_err()));
        let process = ProcessHandle::open(Path::new("/proc"), child.id());
        assert!(is_gone(&process.unwrap_err()));
    }
}

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

/// `SIGQUIT` in the kernel's masks of signals.
const SIGQUIT_MASK: u64 = 0x4;
const MOST_STATUS_BYTES: u64 = 16 * 1024;

/// A handle on a process. Its methods return `None` when the process is gone.
#[derive(Debug)]
pub struct Process {
    pid: u32,
    start_ticks: u64,
    directory: OwnedFd,
}

/// The content of `/proc/PID/status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// `R`, `S`, `D`, `T`, `t`, `Z`, …
    pub state: char,
    pub uid: u32,
    pub gid: u32,
    /// The pid in the innermost pid namespace.
    pub inner_pid: u32,
    pub catches_quit: bool,
    /// Resident shared memory without a file on a disk. A page mapped twice counts twice.
    pub shared_memory_bytes: u64,
}

impl Process {
    /// Opens the process that has a pid now; `None` if there is none.
    pub fn open(proc: &Path, pid: u32) -> io::Result<Option<Self>> {
        let path = proc.join(pid.to_string());
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let opened = if_there(open(&path, flags, Mode::empty()))?;
        let Some(directory) = opened else {
            return Ok(None);
        };
        let mut process = Self {
            pid,
            start_ticks: 0,
            directory,
        };
        let Some(start_ticks) = process.read_start_ticks()? else {
            return Ok(None);
        };
        process.start_ticks = start_ticks;
        Ok(Some(process))
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The start in ticks since boot. Pid and start identify a process.
    pub fn start_ticks(&self) -> u64 {
        self.start_ticks
    }

    /// Whether the process still exists.
    pub fn is_there(&self) -> bool {
        matches!(self.read_start_ticks(), Ok(Some(ticks)) if ticks == self.start_ticks)
    }

    pub fn status(&self) -> io::Result<Option<Status>> {
        let Some(text) = self.read("status")? else {
            return Ok(None);
        };
        let unexpected = || io::Error::new(io::ErrorKind::InvalidData, "unexpected status");
        parse_status(&text).map(Some).ok_or_else(unexpected)
    }

    pub fn cgroup(&self) -> io::Result<Option<String>> {
        self.read("cgroup")
    }

    pub fn open_file(&self, name: &str) -> io::Result<Option<File>> {
        let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC;
        let opened = openat(&self.directory, name, flags, Mode::empty());
        Ok(if_there(opened)?.map(File::from))
    }

    pub fn open_root(&self) -> io::Result<Option<OwnedFd>> {
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        if_there(openat(&self.directory, "root", flags, Mode::empty()))
    }

    fn read_start_ticks(&self) -> io::Result<Option<u64>> {
        Ok(self.read("stat")?.as_deref().and_then(parse_start_ticks))
    }

    fn read(&self, name: &str) -> io::Result<Option<String>> {
        let Some(file) = self.open_file(name)? else {
            return Ok(None);
        };
        let mut bytes = Vec::with_capacity(4096);
        match file.take(MOST_STATUS_BYTES).read_to_end(&mut bytes) {
            Err(error) if error.raw_os_error() == Some(Errno::ESRCH as i32) => Ok(None),
            Err(error) => Err(error),
            Ok(_) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        }
    }
}

impl Status {
    /// Whether the process can answer: it is neither stopped, traced nor dead.
    pub fn can_answer(&self) -> bool {
        !matches!(self.state, 'T' | 't' | 'Z' | 'X')
    }
}

fn if_there<T>(opened: Result<T, Errno>) -> io::Result<Option<T>> {
    match opened {
        Err(Errno::ENOENT | Errno::ESRCH) => Ok(None),
        other => Ok(Some(other?)),
    }
}

/// Field 22. The name in field 2 may hold spaces and parentheses.
pub(crate) fn parse_start_ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(19)?.parse().ok()
}

pub(crate) fn parse_status(text: &str) -> Option<Status> {
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
    Some(Status {
        state: values("State")?.next()?.chars().next()?,
        // The second ids are the effective ones.
        uid: values("Uid")?.nth(1)?.parse().ok()?,
        gid: values("Gid")?.nth(1)?.parse().ok()?,
        inner_pid: values("NSpid")?.last()?.parse().ok()?,
        catches_quit: caught & SIGQUIT_MASK != 0,
        shared_memory_bytes: shared_kib.checked_mul(1024)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tjava\nState:\tT (stopped)\nUid:\t7\t8\t9\t9\nGid:\t1\t2\t3\t3\n\
                          NSpid:\t4711\t23\nRssShmem:\t    12 kB\nSigCgt:\t2000000181005ccd\n";

    #[test]
    fn a_status_gives_effective_ids_and_the_innermost_pid() {
        let status = parse_status(STATUS).unwrap();
        assert_eq!((status.uid, status.gid, status.inner_pid), (8, 2, 23));
        assert!(status.catches_quit);
        assert_eq!(status.shared_memory_bytes, 12 * 1024);
        assert!(!status.can_answer());
    }

    #[test]
    fn a_mask_without_sigquit_is_recognised() {
        let without = STATUS.replace("5ccd", "5cc9");
        assert!(!parse_status(&without).unwrap().catches_quit);
    }

    #[test]
    fn a_text_that_is_cut_is_refused() {
        for end in 0..STATUS.len() - "2000000181005ccd\n".len() {
            assert_eq!(parse_status(&STATUS[..end]), None, "{end}");
        }
        assert_eq!(parse_start_ticks("77 (a b) c) S 1 2 3"), None);
    }

    #[test]
    fn a_start_is_found_behind_any_name() {
        let stat = "77 (a) S (b 1 2) R 5 6 7 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 1 0 999 0 0";
        assert_eq!(parse_start_ticks(stat), Some(999));
    }

    #[test]
    fn a_process_that_has_ended_is_not_there() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let process = Process::open(Path::new("/proc"), child.id())
            .unwrap()
            .unwrap();
        assert!(process.is_there());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!process.is_there());
        assert_eq!(process.status().unwrap(), None);
        assert!(process.open_root().unwrap().is_none());
        assert!(
            Process::open(Path::new("/proc"), child.id())
                .unwrap()
                .is_none()
        );
    }
}

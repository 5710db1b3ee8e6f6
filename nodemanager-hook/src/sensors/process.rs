//! One process, by the texts of its files in `/proc`.

use super::group_files::DiskTraffic;

/// `PF_KTHREAD` of the kernel, which proc(5) does not name.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// A process by `/proc/PID/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    pub parent: u32,
    pub session: u32,
    /// Since boot; tells a process from a later one with the same pid.
    pub start_ticks: u64,
    pub is_kernel_thread: bool,
    /// Whether it has ended and waits for its parent.
    pub has_ended: bool,
    /// Time of the process and of the children that it has reaped.
    pub cpu_nanoseconds: u64,
}

/// Identifies a process, even if its pid is reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessKey {
    /// In the agent's pid namespace.
    pub pid: u32,
    /// Since boot.
    pub start_ticks: u64,
}

/// The user ids of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Users {
    pub real: u32,
    pub effective: u32,
    pub saved: u32,
}

impl Process {
    /// Parses `pid (name) state ppid pgrp session …`; the name may hold spaces and parentheses.
    pub fn parse(pid: u32, stat: &str, nanoseconds_per_tick: u64) -> Option<Self> {
        let (_, after_name) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = after_name.split_ascii_whitespace().collect();
        // The first of these is the state, which proc(5) calls field 3.
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        let ticks = (14..=17).try_fold(0, |sum: u64, field| sum.checked_add(number(field)?))?;
        Some(Self {
            pid,
            parent: u32::try_from(number(4)?).ok()?,
            session: u32::try_from(number(6)?).ok()?,
            start_ticks: number(22)?,
            is_kernel_thread: number(9)? & KERNEL_THREAD != 0,
            has_ended: matches!(fields.first(), Some(&"Z" | &"X")),
            cpu_nanoseconds: ticks.saturating_mul(nanoseconds_per_tick),
        })
    }

    pub fn key(&self) -> ProcessKey {
        ProcessKey { pid: self.pid, start_ticks: self.start_ticks }
    }
}

impl Users {
    /// Parses the line `Uid:` with the real, effective, saved and file system user ids.
    pub fn parse(status: &str) -> Option<Self> {
        let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        let mut ids = line.split_ascii_whitespace().map(str::parse);
        let mut next = || ids.next()?.ok();
        Some(Self { real: next()?, effective: next()?, saved: next()? })
    }
}

pub fn parse_io(text: &str) -> Option<DiskTraffic> {
    let value = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim().parse::<u64>().ok()
    };
    Some(DiskTraffic { read_bytes: value("read_bytes:")?, written_bytes: value("write_bytes:")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_is_skipped() {
        let text = "77 (a) S (b 1 2) R 5 6 7 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 1 0 999 0 0";
        let process = Process::parse(77, text, 1000).unwrap();
        assert_eq!((process.parent, process.session), (5, 7));
        assert_eq!(process.start_ticks, 999);
        assert_eq!(process.cpu_nanoseconds, 100_000);
    }

    #[test]
    fn a_kernel_thread_is_recognised_by_its_flags() {
        let text = "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 25 0 0";
        assert!(Process::parse(2, text, 1).unwrap().is_kernel_thread);
    }

    #[test]
    fn users_are_the_real_the_effective_and_the_saved_one() {
        let users = Users { real: 1000, effective: 0, saved: 7 };
        assert_eq!(Users::parse("Name:\tsu\nUid:\t1000\t0\t7\t0\nGid:\t1\t1\t1\t1\n"), Some(users));
        assert_eq!(Users::parse("Name:\tsu\nUid:\t1000\tx\n"), None);
    }

    #[test]
    fn a_truncated_stat_is_refused() {
        assert!(Process::parse(77, "77 (a) R 5 6 7", 1000).is_none());
        assert!(Process::parse(77, "", 1000).is_none());
    }

    #[test]
    fn disk_traffic_is_what_reached_storage() {
        let text = "rchar: 900\nwchar: 800\nsyscr: 1\nsyscw: 1\nread_bytes: 4096\n\
                    write_bytes: 8192\ncancelled_write_bytes: 0\n";
        let expected = DiskTraffic { read_bytes: 4096, written_bytes: 8192 };
        assert_eq!(parse_io(text), Some(expected));
    }
}

//! cgroup v2: `memory.events`, which the kernel marks when a group passes `memory.high`, hits
//! `memory.max` or runs out of memory.

use std::{
    fs::File,
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::FileExt,
    },
    path::{Path, PathBuf},
};

use nix::sys::epoll::EpollFlags;

use super::{MemoryWatchError, number_file::NumberFile};

/// Edge-triggered as a guard: a group that is gone stays marked.
pub const FLAGS: EpollFlags = EpollFlags::EPOLLPRI.union(EpollFlags::EPOLLET);
const MOST_BYTES: usize = 1024;

/// One group's events.
#[derive(Debug)]
pub struct Events {
    path: PathBuf,
    file: File,
    usage: NumberFile,
    seen: u64,
}

impl Events {
    pub fn new(group: &Path) -> Result<Self, MemoryWatchError> {
        let path = group.join("memory.events");
        let file = File::open(&path);
        let file = file.map_err(|error| MemoryWatchError::file("open", &path, error))?;
        let usage = NumberFile::open(group.join("memory.current"))?;
        let mut events = Self {
            path,
            file,
            usage,
            seen: 0,
        };
        // The kernel marks the file for who has read it.
        events.seen = events.read()?;
        Ok(events)
    }

    /// The usage, when a limit was passed since the last time.
    pub fn passed(&mut self) -> Result<Option<u64>, MemoryWatchError> {
        let count = self.read()?;
        let has_passed = count != self.seen;
        self.seen = count;
        has_passed.then(|| self.usage.read()).transpose()
    }

    /// How often a limit was passed, or memory was short.
    fn read(&self) -> Result<u64, MemoryWatchError> {
        let mut buffer = [0; MOST_BYTES];
        let length = self.file.read_at(&mut buffer, 0);
        let length = length.map_err(|error| MemoryWatchError::file("read", &self.path, error))?;
        Ok(count_limits(&String::from_utf8_lossy(&buffer[..length])))
    }
}

impl AsFd for Events {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// The sum of `high`, `max` and `oom`: each only grows.
fn count_limits(events: &str) -> u64 {
    let count = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        let is_limit = matches!(name, "high" | "max" | "oom");
        is_limit.then(|| value.parse::<u64>().ok())?
    };
    events
        .lines()
        .filter_map(count)
        .fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_events_of_limits_count() {
        let text = "low 9\nhigh 3\nmax 2\noom 1\noom_kill 7\noom_group_kill 7\n";
        assert_eq!(count_limits(text), 6);
        assert_eq!(count_limits("high x\nmax\n\n"), 0);
    }
}

//! cgroup v2: the kernel marks `memory.events` when a group passes `memory.high`, hits `memory.max`
//! or runs out of memory.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd},
    path::Path,
};

use nix::sys::epoll::EpollFlags;

use crate::{cgroups::Version, sensors::GroupFile};

/// Edge-triggered, because the file of a removed group stays marked.
pub const FLAGS: EpollFlags = EpollFlags::EPOLLPRI.union(EpollFlags::EPOLLET);

#[derive(Debug)]
pub struct Events {
    events: GroupFile,
    usage: GroupFile,
    seen: u64,
}

impl Events {
    pub fn new(group: &Path) -> io::Result<Self> {
        let events = GroupFile::open(group, "memory.events", Version::Two)?;
        let usage = GroupFile::open(group, "memory.current", Version::Two)?;
        // The kernel marks the file only for a reader that has read it.
        let seen = events.read(|text| Some(count_limits(text)))?;
        Ok(Self { events, usage, seen })
    }

    /// The usage if a limit was passed since the last call.
    pub fn passed(&mut self) -> io::Result<Option<u64>> {
        let count = self.events.read(|text| Some(count_limits(text)))?;
        let has_passed = count != self.seen;
        self.seen = count;
        has_passed.then(|| self.usage.number()).transpose()
    }
}

impl AsFd for Events {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }
}

/// How often a limit was passed or memory ran short: the sum of `high`, `max` and `oom`, each of
/// which only grows.
fn count_limits(events: &str) -> u64 {
    let count = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        let is_limit = matches!(name, "high" | "max" | "oom");
        is_limit.then(|| value.parse::<u64>().ok())?
    };
    events.lines().filter_map(count).fold(0, u64::saturating_add)
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

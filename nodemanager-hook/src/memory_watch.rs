//! Wakes when a group is about to hit its memory limit.
//!
//! On cgroup v1 the kernel signals an eventfd when the usage of a group passes a threshold. On v2
//! the kernel marks `memory.events` when a group passes `memory.high`. So nothing is polled: a
//! thread waits in [`MemoryWatch::wait`] and the agent raises the limits of the groups it returns. While the agent is busy,
//! the thread raises limits itself ([`Follower`]).
#![allow(missing_docs, reason = "public for the integration tests only")]

mod follower;
mod version_1;
mod version_2;

use std::{collections::BTreeMap, io, os::fd::AsFd, path::Path, time::Duration};

use nix::{
    errno::Errno,
    sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollTimeout},
};
use parking_lot::Mutex;

pub use self::follower::Follower;
#[cfg(fuzzing)]
pub(crate) use self::version_2::Events as MemoryEvents;
use self::{version_1::Threshold, version_2::Events};
use crate::sensors::is_gone;
pub use crate::{actuators::UrgentRaises, cgroups::Version};

/// Memory that a process may take before the limit is raised: a core fills some gigabytes per
/// second, and a busy host may take 50 ms.
const LEAST_ROOM_BYTES: u64 = 64 * 1024 * 1024;
const MOST_ROOM_BYTES: u64 = 512 * 1024 * 1024;
const EVENTS_AT_ONCE: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchId(pub(crate) u64);

#[derive(Debug, PartialEq, Eq)]
pub enum Cause {
    /// The group is about to hit its limit.
    NearLimit { usage_bytes: u64 },
    /// The group was removed, and the watch with it.
    Gone,
    /// The group's files cannot be read; the watch is removed.
    Failed(String),
}

#[derive(Debug, PartialEq, Eq)]
pub struct Wake {
    pub id: WatchId,
    pub cause: Cause,
}

/// All watches. One thread may wait while others change the watches.
#[derive(Debug)]
pub struct MemoryWatch {
    epoll: Epoll,
    watches: Mutex<Watches>,
}

#[derive(Debug, Default)]
struct Watches {
    last: u64,
    by_id: BTreeMap<u64, Watch>,
}

/// The kernel's notification for one group. Closing its files ends the notification.
#[derive(Debug)]
enum Watch {
    Threshold(Threshold),
    Events(Events),
}

/// The usage at which the watch of a group wakes: `memory.high` on v2, where the kernel slows a
/// group above it down, and the threshold on v1.
///
/// A group with less free memory than twice this distance to the limit wakes all the time.
pub fn wake_at(limit_bytes: u64) -> u64 {
    let room = (limit_bytes / 8).clamp(LEAST_ROOM_BYTES, MOST_ROOM_BYTES);
    limit_bytes - room.min(limit_bytes / 2)
}

/// The lowest limit at whose [`wake_at`] a group may use this much.
pub fn limit_that_wakes_at(usage_bytes: u64) -> u64 {
    let room = (usage_bytes / 7).clamp(LEAST_ROOM_BYTES, MOST_ROOM_BYTES);
    usage_bytes.saturating_add(room)
}

impl MemoryWatch {
    pub fn new() -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        Ok(Self { epoll, watches: Mutex::default() })
    }

    /// Watches a group whose limit is in force. A group already near its limit wakes at once.
    pub fn watch(&self, group: &Path, version: Version, limit_bytes: u64) -> io::Result<WatchId> {
        let watch = match version {
            Version::One => Watch::Threshold(Threshold::new(group, wake_at(limit_bytes))?),
            Version::Two => Watch::Events(Events::new(group)?),
        };
        let mut watches = self.watches.lock();
        watches.last += 1;
        let id = watches.last;
        self.add(id, &watch)?;
        watches.by_id.insert(id, watch);
        Ok(WatchId(id))
    }

    /// Watches the same group with another limit; returns whether the watch exists. On an error the
    /// group is watched as before.
    pub fn rearm(&self, id: WatchId, limit_bytes: u64) -> io::Result<bool> {
        let mut watches = self.watches.lock();
        let Some(watch) = watches.by_id.get_mut(&id.0) else {
            return Ok(false);
        };
        // On v2 the kernel compares with `memory.high`, which the agent writes with the limit.
        if let Watch::Threshold(threshold) = &watch {
            let next = Watch::Threshold(Threshold::new(&threshold.group, wake_at(limit_bytes))?);
            self.add(id.0, &next)?;
            *watch = next;
        }
        Ok(true)
    }

    pub fn forget(&self, id: WatchId) {
        // Closing its files removes it from the epoll and from the kernel.
        self.watches.lock().by_id.remove(&id.0);
    }

    pub fn len(&self) -> usize {
        self.watches.lock().by_id.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits for wakes, at most for `timeout`. May return early without any.
    pub fn wait(&self, timeout: Duration) -> io::Result<Vec<Wake>> {
        let mut events = [EpollEvent::empty(); EVENTS_AT_ONCE];
        let timeout = EpollTimeout::try_from(timeout).unwrap_or(EpollTimeout::MAX);
        let count = match self.epoll.wait(&mut events, timeout) {
            Ok(count) => count,
            Err(Errno::EINTR) => 0,
            Err(errno) => return Err(errno.into()),
        };
        let mut watches = self.watches.lock();
        let mut wakes = Vec::new();
        for event in &events[..count] {
            let id = event.data();
            // Another thread may have ended the watch meanwhile.
            let Some(watch) = watches.by_id.get_mut(&id) else {
                continue;
            };
            let usage = match watch {
                Watch::Threshold(threshold) => threshold.passed(),
                Watch::Events(events) => events.passed(),
            };
            let cause = match usage {
                Ok(None) => continue,
                Ok(Some(usage_bytes)) => Cause::NearLimit { usage_bytes },
                // An error of one group must not hide that another group is near its limit.
                Err(error) => {
                    watches.by_id.remove(&id);
                    if is_gone(&error) { Cause::Gone } else { Cause::Failed(error.to_string()) }
                }
            };
            wakes.push(Wake { id: WatchId(id), cause });
        }
        Ok(wakes)
    }

    fn add(&self, id: u64, watch: &Watch) -> io::Result<()> {
        let (file, flags) = match watch {
            Watch::Threshold(threshold) => (threshold.as_fd(), version_1::FLAGS),
            Watch::Events(events) => (events.as_fd(), version_2::FLAGS),
        };
        Ok(self.epoll.add(file, EpollEvent::new(flags, id))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1024 * 1024;

    #[test]
    fn the_distance_to_the_limit_is_bounded() {
        for (limit, at) in
            [(0, 0), (100, 50), (200, 136), (800, 700), (2048, 1792), (16_384, 15_872)]
        {
            assert_eq!(wake_at(limit * MIB), at * MIB, "{limit} MiB");
        }
        assert!(wake_at(u64::MAX) < u64::MAX);
        for usage in [0, 1, 30, 64, 100, 448, 500, 3584, 5000, 100_000].map(|mib| mib * MIB) {
            let limit = limit_that_wakes_at(usage);
            assert!(wake_at(limit) >= usage && limit - usage <= MOST_ROOM_BYTES, "{usage}");
        }
    }

    #[test]
    fn a_missing_group_is_an_error_with_its_path() {
        let watch = MemoryWatch::new().unwrap();
        for (version, file) in
            [(Version::One, "memory.usage_in_bytes"), (Version::Two, "memory.events")]
        {
            let error = watch.watch(Path::new("/nowhere"), version, MIB).unwrap_err();
            let expected = format!("/nowhere/{file}: No such file or directory (os error 2)");
            assert_eq!(error.to_string(), expected);
        }
        assert!(watch.is_empty());
    }
}

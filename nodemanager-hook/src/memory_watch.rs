//! Who is about to hit its memory limit, told by the kernel.
//!
//! On cgroup v1 the kernel signals an eventfd when the usage of a group passes a threshold; on v2 it
//! marks `memory.events` when a group passes `memory.high`. Nothing is polled: a thread waits in
//! [`MemoryWatch::wait`] and raises the limit of what it is given.

mod error;
mod number_file;
mod version_1;
mod version_2;

use std::{
    collections::BTreeMap,
    os::fd::{AsFd, BorrowedFd},
    path::Path,
    time::Duration,
};

use nix::{
    errno::Errno,
    sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollTimeout},
};
use parking_lot::Mutex;

pub use self::error::MemoryWatchError;
#[cfg(fuzzing)]
pub(crate) use self::number_file::NumberFile;
#[cfg(fuzzing)]
pub(crate) use self::version_2::Events as MemoryEvents;
use self::{version_1::Threshold, version_2::Events};
pub use crate::cgroups::Version;

/// A process may take that much before the one who raises the limit has run: a core fills some
/// gigabytes a second, and 50 ms pass on a busy host.
const LEAST_ROOM_BYTES: u64 = 64 * 1024 * 1024;
const MOST_ROOM_BYTES: u64 = 512 * 1024 * 1024;
const EVENTS_AT_ONCE: usize = 64;

/// Names a watch for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchId(u64);

/// Why a watch woke.
#[derive(Debug, PartialEq, Eq)]
pub enum Cause {
    /// The group is about to hit its limit.
    NearLimit {
        /// What it uses now.
        usage_bytes: u64,
    },
    /// The group was removed; so is the watch.
    Gone,
    /// The group's files cannot be read; the watch is removed.
    Failed(MemoryWatchError),
}

/// Something to be acted on.
#[derive(Debug, PartialEq, Eq)]
pub struct Wake {
    /// The watch.
    pub id: WatchId,
    /// What the kernel said.
    pub cause: Cause,
}

/// All watches. One thread may wait while others change what is watched.
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

/// What the kernel tells of one group; closing its files ends that.
#[derive(Debug)]
enum Watch {
    Threshold(Threshold),
    Events(Events),
}

/// The usage at which the watch of a group wakes: as `memory.high` on v2, where the kernel slows a
/// group above it down, and as the threshold on v1.
///
/// Where less than twice the room is free below the limit, whoever waits is woken all the time.
pub fn wake_at(limit_bytes: u64) -> u64 {
    let room = (limit_bytes / 8).clamp(LEAST_ROOM_BYTES, MOST_ROOM_BYTES);
    limit_bytes - room.min(limit_bytes / 2)
}

impl MemoryWatch {
    /// Watches nothing yet.
    ///
    /// # Errors
    /// Those of making an epoll.
    pub fn new() -> Result<Self, MemoryWatchError> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC);
        Ok(Self {
            epoll: epoll.map_err(MemoryWatchError::Epoll)?,
            watches: Mutex::default(),
        })
    }

    /// Watches a group whose limit is in force. A group that is near its limit already wakes at
    /// once.
    ///
    /// # Errors
    /// Those of the group's files, and of the kernel's refusal to tell of them.
    pub fn watch(
        &self,
        group: &Path,
        version: Version,
        limit_bytes: u64,
    ) -> Result<WatchId, MemoryWatchError> {
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

    /// Watches the same group with another limit; says whether the watch was there.
    ///
    /// # Errors
    /// As of [`MemoryWatch::watch`]; the group is then watched as before.
    pub fn rearm(&self, id: WatchId, limit_bytes: u64) -> Result<bool, MemoryWatchError> {
        let mut watches = self.watches.lock();
        let Some(watch) = watches.by_id.get_mut(&id.0) else {
            return Ok(false);
        };
        // On v2 the kernel compares with `memory.high`, which is written with the limit.
        if let Watch::Threshold(threshold) = &watch {
            let next = Watch::Threshold(threshold.with(wake_at(limit_bytes))?);
            self.add(id.0, &next)?;
            *watch = next;
        }
        Ok(true)
    }

    /// Ends a watch; nothing happens when it has ended already.
    pub fn forget(&self, id: WatchId) {
        // Closing its files takes it out of the epoll and out of the kernel.
        self.watches.lock().by_id.remove(&id.0);
    }

    /// How many groups are watched.
    pub fn len(&self) -> usize {
        self.watches.lock().by_id.len()
    }

    /// Whether no group is watched.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Waits until something is to be acted on, or the time has passed. It may return early with
    /// nothing.
    ///
    /// # Errors
    /// Those of epoll.
    pub fn wait(&self, timeout: Duration) -> Result<Vec<Wake>, MemoryWatchError> {
        let mut events = [EpollEvent::empty(); EVENTS_AT_ONCE];
        let timeout = EpollTimeout::try_from(timeout).unwrap_or(EpollTimeout::MAX);
        let count = match self.epoll.wait(&mut events, timeout) {
            Ok(count) => count,
            Err(Errno::EINTR) => 0,
            Err(errno) => return Err(MemoryWatchError::Epoll(errno)),
        };
        let mut watches = self.watches.lock();
        let mut wakes = Vec::new();
        for event in &events[..count] {
            let id = event.data();
            // Another thread may have ended it meanwhile.
            let Some(watch) = watches.by_id.get_mut(&id) else {
                continue;
            };
            let cause = match watch {
                Watch::Threshold(threshold) => threshold.passed(),
                Watch::Events(events) => events.passed(),
            };
            // What is wrong with one group must not hide that another one is near its limit.
            let cause = match cause {
                Err(error) if error.is_gone() => Some(Cause::Gone),
                Err(error) => Some(Cause::Failed(error)),
                Ok(usage) => usage.map(|usage_bytes| Cause::NearLimit { usage_bytes }),
            };
            if matches!(cause, Some(Cause::Gone | Cause::Failed(_))) {
                watches.by_id.remove(&id);
            }
            let id = WatchId(id);
            wakes.extend(cause.map(|cause| Wake { id, cause }));
        }
        Ok(wakes)
    }

    fn add(&self, id: u64, watch: &Watch) -> Result<(), MemoryWatchError> {
        let flags = match watch {
            Watch::Threshold(_) => version_1::FLAGS,
            Watch::Events(_) => version_2::FLAGS,
        };
        let added = self.epoll.add(watch.as_fd(), EpollEvent::new(flags, id));
        added.map_err(MemoryWatchError::Epoll)
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Threshold(threshold) => threshold.as_fd(),
            Self::Events(events) => events.as_fd(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1024 * 1024;

    #[test]
    fn the_room_follows_the_limit_within_bounds() {
        for (limit, at) in [
            (0, 0),
            (100, 50),
            (200, 136),
            (800, 700),
            (2048, 1792),
            (16_384, 15_872),
        ] {
            assert_eq!(wake_at(limit * MIB), at * MIB, "{limit} MiB");
        }
        assert!(wake_at(u64::MAX) < u64::MAX);
    }

    #[test]
    fn a_group_that_is_not_there_is_an_error_with_its_path() {
        let watch = MemoryWatch::new().unwrap();
        for (version, file) in [
            (Version::One, "memory.usage_in_bytes"),
            (Version::Two, "memory.events"),
        ] {
            let error = watch
                .watch(Path::new("/nowhere"), version, MIB)
                .unwrap_err();
            let expected =
                format!("cannot open /nowhere/{file}: ENOENT: No such file or directory");
            assert_eq!(error.to_string(), expected);
        }
        assert!(watch.is_empty());
    }
}

//! Raises memory limits while the agent is busy.
//!
//! On v1 a container that hits its limit is killed. On v2 the kernel slows it down above `memory.high`, to a standstill if its
//! memory cannot be reclaimed.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;

use super::{
    KernelFileError, LimitFile, Value,
    file_access::write_text,
    group_state::{memory_limit_of, read_limit},
    memory_limits::{Margin, raised_limit},
};
use crate::{
    cgroups::Version,
    memory_watch::{WatchId, wake_at},
    sensors::GroupMemory,
};

/// The groups whose limits may rise without the agent, by the watch of their limit.
///
/// The agent forbids raises of a limit before it lifts it, and takes raises over before it computes limits. Where it writes
/// another limit after a raise that it has not taken over, v1 refuses one below what is charged and cannot be reclaimed. v2
/// would kill, so there [`Self::unless_risen`] refuses it.
#[derive(Debug)]
pub struct UrgentRaises {
    margin: Margin,
    groups: Mutex<BTreeMap<WatchId, Arc<Group>>>,
}

#[derive(Debug)]
struct Group {
    path: PathBuf,
    version: Version,
    memory: GroupMemory,
    /// Locked while a raise is under way, while the agent writes `memory.max`, and while it raises a limit of version 1.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_forbidden: bool,
    /// What the agent has not taken over yet.
    outcome: Option<Result<u64, KernelFileError>>,
}

impl UrgentRaises {
    /// `margin_bytes`: the least room that a limit leaves above resident memory.
    pub fn new(margin_bytes: u64) -> Self {
        Self { margin: Margin { min_bytes: margin_bytes }, groups: Mutex::default() }
    }

    /// Lets the limit of a group that the agent made rise. A raise is in no journal, so the container executor's groups
    /// cannot be restored after one.
    pub fn allow(&self, id: WatchId, group: &Path, version: Version) -> io::Result<()> {
        if let Entry::Vacant(vacant) = self.groups.lock().entry(id) {
            let memory = GroupMemory::open(group, version)?;
            let group = Group { path: group.into(), version, memory, state: Mutex::default() };
            vacant.insert(Arc::new(group));
        }
        Ok(())
    }

    /// Returns after a raise that is under way, with the outcome that [`Self::take`] would pass on.
    pub fn forbid(&self, id: WatchId) -> Option<Result<u64, KernelFileError>> {
        let group = self.groups.lock().remove(&id)?;
        let mut state = group.state.lock();
        state.is_forbidden = true;
        state.outcome.take()
    }

    /// Raises the limit if resident memory is about to reach it. A group that is gone has none. Does not wait for the agent,
    /// so that no other group does: the caller tries again.
    pub fn raise(&self, id: WatchId) {
        let Some(group) = self.groups.lock().get(&id).cloned() else {
            return;
        };
        let Some(mut state) = group.state.try_lock().filter(|state| !state.is_forbidden) else {
            return;
        };
        match group.raise(self.margin) {
            Ok(None) => {}
            Ok(Some(limit_bytes)) => state.outcome = Some(Ok(limit_bytes)),
            Err(error) if error.is_gone() => {}
            // A raise that the agent has not taken over yet is not forgotten.
            Err(error) => drop(state.outcome.get_or_insert(Err(error))),
        }
    }

    /// Passes on the limit that rose since the last call, in bytes, or why none could. It counts as taken over when
    /// `take_over` returns: until then [`Self::risen`] waits, so that a thread ends its write with this limit or with what
    /// `take_over` superseded the write by.
    pub fn take<T>(
        &self,
        id: WatchId,
        take_over: impl FnOnce(Result<u64, KernelFileError>) -> T,
    ) -> Option<T> {
        let group = self.groups.lock().get(&id).cloned()?;
        let mut state = group.state.lock();
        state.outcome.take().map(take_over)
    }

    /// Lets the agent raise a limit of version 1 while nobody else does. Otherwise a raise that read the limit before could
    /// write a lower one after it. The kernel reclaims nothing meanwhile.
    pub(super) fn alone<T>(&self, group: &Path, write: impl FnOnce() -> T) -> T {
        let known = self.groups.lock().values().find(|known| known.path == group).cloned();
        let _state = known.as_ref().map(|known| known.state.lock());
        write()
    }

    /// Lets the agent write a limit file unless the group's limit rose and the agent computed the new value without the raise.
    pub(super) fn unless_risen<T>(
        &self,
        group: &Path,
        file: LimitFile,
        write: impl FnOnce() -> Result<T, KernelFileError>,
    ) -> Result<T, KernelFileError> {
        let Some(known) = self.of_version_2(group, file) else {
            return write();
        };
        let state = known.state.lock();
        if state.outcome.is_some() {
            let risen = io::Error::other("a raise while the agent was busy is not taken over yet");
            return Err(KernelFileError::new("write", &group.join(file.name()), risen));
        }
        if file == LimitFile::MemoryHigh {
            // The kernel reclaims meanwhile. A limit that rises then falls again, which only slows the container down.
            drop(state);
        }
        write()
    }

    /// The value of a limit file after a raise that the agent has not taken over yet.
    pub(super) fn risen(&self, group: &Path, file: LimitFile) -> Option<Value> {
        let known = self.groups.lock().values().find(|known| known.path == group).cloned()?;
        let state = known.state.lock();
        let limit_bytes = *state.outcome.as_ref()?.as_ref().ok()?;
        Some(Value::AtMost(match file {
            LimitFile::MemoryHigh => wake_at(limit_bytes),
            _ => limit_bytes,
        }))
    }

    fn of_version_2(&self, group: &Path, file: LimitFile) -> Option<Arc<Group>> {
        if !matches!(file, LimitFile::MemoryMax | LimitFile::MemoryHigh) {
            return None;
        }
        let is_it = |known: &Group| known.version == Version::Two && known.path == group;
        self.groups.lock().values().find(|known| is_it(known)).cloned()
    }
}

impl Group {
    fn raise(&self, margin: Margin) -> Result<Option<u64>, KernelFileError> {
        let unread = |error| KernelFileError::new("read the memory of", &self.path, error);
        let held = self.memory.held().map_err(unread)?;
        let Some(in_force) = memory_limit_of(&self.path, self.version)? else {
            return Ok(None);
        };
        let Some(limit_bytes) = raised_limit(in_force, held.resident_bytes, margin) else {
            return Ok(None);
        };
        match self.version {
            Version::One => self.write(LimitFile::MemoryLimit, limit_bytes)?,
            Version::Two => {
                // While the agent lowers a limit, this one is still higher.
                let max = read_limit(&self.path, LimitFile::MemoryMax)?;
                if Value::AtMost(limit_bytes).is_looser_than(max) {
                    self.write(LimitFile::MemoryMax, limit_bytes)?;
                }
                self.write(LimitFile::MemoryHigh, wake_at(limit_bytes))?;
            }
        }
        Ok(Some(limit_bytes))
    }

    fn write(&self, file: LimitFile, bytes: u64) -> Result<(), KernelFileError> {
        write_text(&self.path.join(file.name()), &file.text(Value::AtMost(bytes)))
    }
}

#[cfg(test)]
mod tests;

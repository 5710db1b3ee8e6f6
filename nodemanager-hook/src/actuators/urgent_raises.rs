//! Raises memory limits while the agent is busy.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use parking_lot::Mutex;

use super::{
    KernelFileError, LimitFile, Value,
    file_access::write_text,
    group_state::read_limit,
    memory_limits::{Margin, raised_limit},
};
use crate::{
    cgroups::Version,
    memory_watch::{WatchId, limit_that_wakes_at, wake_at},
    sensors::GroupMemory,
};

/// The groups whose limits may rise without the agent, by the watch of their limit.
///
/// The agent forbids raises of a limit before it lifts it. Where it writes another limit after a raise, its own counts.
#[derive(Debug)]
pub struct UrgentRaises {
    margin: Margin,
    groups: Mutex<BTreeMap<WatchId, Group>>,
}

#[derive(Debug)]
struct Group {
    path: PathBuf,
    version: Version,
    memory: GroupMemory,
    /// What the agent has not taken over yet.
    outcome: Option<Result<u64, KernelFileError>>,
}

impl UrgentRaises {
    /// `margin_bytes`: the least room that a limit leaves above resident memory.
    pub fn new(margin_bytes: u64) -> Self {
        Self { margin: Margin { min_bytes: margin_bytes }, groups: Mutex::default() }
    }

    /// Lets the limit of a group that the agent made rise. A raise is in no journal, so the container executor's
    /// groups cannot be restored after one.
    pub fn allow(&self, id: WatchId, group: &Path, version: Version) -> io::Result<()> {
        let memory = GroupMemory::open(group, version)?;
        let group = Group { path: group.into(), version, memory, outcome: None };
        self.groups.lock().insert(id, group);
        Ok(())
    }

    /// Returns after a raise that is under way.
    pub fn forbid(&self, id: WatchId) {
        self.groups.lock().remove(&id);
    }

    /// Raises the limit if resident memory is about to reach it. A group that is gone has none.
    pub fn raise(&self, id: WatchId) {
        let mut groups = self.groups.lock();
        let Some(group) = groups.get_mut(&id) else {
            return;
        };
        match group.raise(self.margin) {
            Ok(None) => {}
            Ok(Some(limit_bytes)) => group.outcome = Some(Ok(limit_bytes)),
            Err(error) if error.is_gone() => {}
            Err(error) => group.outcome = Some(Err(error)),
        }
    }

    /// The limit that rose since the last call, in bytes, or why none could.
    pub fn take(&self, id: WatchId) -> Option<Result<u64, KernelFileError>> {
        self.groups.lock().get_mut(&id)?.outcome.take()
    }
}

impl Group {
    fn raise(&self, margin: Margin) -> Result<Option<u64>, KernelFileError> {
        let unread = |error| KernelFileError::new("read the memory of", &self.path, error);
        let held = self.memory.held().map_err(unread)?;
        let Some(in_force) = self.in_force()? else {
            return Ok(None);
        };
        let Some(limit_bytes) = raised_limit(in_force, held.resident_bytes, margin) else {
            return Ok(None);
        };
        self.write(limit_bytes)?;
        Ok(Some(limit_bytes))
    }

    fn write(&self, limit_bytes: u64) -> Result<(), KernelFileError> {
        let write = |file: LimitFile, bytes| {
            write_text(&self.path.join(file.name()), &file.text(Value::AtMost(bytes)))
        };
        match self.version {
            Version::One => write(LimitFile::MemoryLimit, limit_bytes),
            Version::Two => {
                // It may not have followed `memory.high` down yet, and lowering it kills.
                if self.bytes(LimitFile::MemoryMax)?.is_some_and(|max| max < limit_bytes) {
                    write(LimitFile::MemoryMax, limit_bytes)?;
                }
                write(LimitFile::MemoryHigh, wake_at(limit_bytes))
            }
        }
    }

    /// The limit that the files have, of which one may be lowered already. None if they have none.
    fn in_force(&self) -> Result<Option<u64>, KernelFileError> {
        match self.version {
            Version::One => self.bytes(LimitFile::MemoryLimit),
            Version::Two => {
                let slows = self.bytes(LimitFile::MemoryHigh)?.map(limit_that_wakes_at);
                let kills = self.bytes(LimitFile::MemoryMax)?;
                Ok(slows.into_iter().chain(kills).min())
            }
        }
    }

    fn bytes(&self, file: LimitFile) -> Result<Option<u64>, KernelFileError> {
        let bytes = |value| if let Value::AtMost(bytes) = value { Some(bytes) } else { None };
        read_limit(&self.path, file).map(bytes)
    }
}

//! Raises memory limits of cgroup v1 while the agent is busy: there a container that hits its limit is killed.
//!
//! On v2 it is slowed down first. A limit that rose there without the agent would mislead it: the agent raises `memory.max`
//! without a look at what is charged, and a value below that kills.

use std::{
    collections::{BTreeMap, btree_map::Entry},
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
use crate::{cgroups::Version, memory_watch::WatchId, sensors::GroupMemory};

/// The groups whose limits may rise without the agent, by the watch of their limit.
///
/// The agent forbids raises of a limit before it lifts it. Where it writes another limit after a raise, its own counts:
/// the kernel refuses one below what is charged and cannot be reclaimed.
#[derive(Debug)]
pub struct UrgentRaises {
    margin: Margin,
    groups: Mutex<BTreeMap<WatchId, Group>>,
}

#[derive(Debug)]
struct Group {
    path: PathBuf,
    memory: GroupMemory,
    /// What the agent has not taken over yet.
    outcome: Option<Result<u64, KernelFileError>>,
}

impl UrgentRaises {
    /// `margin_bytes`: the least room that a limit leaves above resident memory.
    pub fn new(margin_bytes: u64) -> Self {
        Self { margin: Margin { min_bytes: margin_bytes }, groups: Mutex::default() }
    }

    /// Lets the limit of a version 1 group that the agent made rise. A raise is in no journal, so the container executor's
    /// groups cannot be restored after one.
    pub fn allow(&self, id: WatchId, group: &Path) -> io::Result<()> {
        if let Entry::Vacant(vacant) = self.groups.lock().entry(id) {
            let memory = GroupMemory::open(group, Version::One)?;
            vacant.insert(Group { path: group.into(), memory, outcome: None });
        }
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
            // A raise that the agent has not taken over yet is not forgotten.
            Err(error) => drop(group.outcome.get_or_insert(Err(error))),
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
        let Value::AtMost(in_force) = read_limit(&self.path, LimitFile::MemoryLimit)? else {
            return Ok(None);
        };
        let Some(limit_bytes) = raised_limit(in_force, held.resident_bytes, margin) else {
            return Ok(None);
        };
        let path = self.path.join(LimitFile::MemoryLimit.name());
        write_text(&path, &LimitFile::MemoryLimit.text(Value::AtMost(limit_bytes)))?;
        Ok(Some(limit_bytes))
    }
}

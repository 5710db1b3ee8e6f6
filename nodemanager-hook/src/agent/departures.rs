//! The end of a container, and the end of the agent.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use super::{Agent, limits::Wanted};
use crate::{
    actuators::{empty_group, take_back},
    audit::Reason,
    container_id::ContainerId,
    own_file,
    sensors::ProcessTable,
};

/// The time that a group which was just emptied gets to become free.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// Own groups removed.
    pub removed: usize,
    /// Groups and JVMs that could not be restored.
    pub failed: usize,
}

impl Agent {
    /// Ends a container that the NodeManager no longer lists. Reads it once more, since its group
    /// still has its usage up to the end, then removes its group.
    pub(super) fn depart(&mut self, id: &ContainerId, now: Instant) {
        let container = self.containers.get(id);
        if container.is_some_and(|container| !container.needs_table()) {
            self.read_one(id, &ProcessTable::default(), now);
        }
        let Some(mut container) = self.containers.remove(id) else {
            return;
        };
        let wanted = Wanted::lifted(id, &mut container, Reason::ContainerGone);
        self.actuator.limit(vec![wanted], now);
        let watched = container.watch_memory_limit(&self.memory_watch);
        self.troubles.check("memory watch", watched);
        self.end_network(id, &mut container, Reason::ContainerGone);
        self.leaving.extend(container.distinct_own_groups());
        self.remove_leaving();
    }

    /// Removes the groups that no container needs any more. Their remaining processes return to
    /// their former groups. A busy group is tried again at the next reading.
    pub(super) fn remove_leaving(&mut self) {
        let leaving = std::mem::take(&mut self.leaving);
        self.leaving = self.put_back_and_remove(leaving);
    }

    /// Lifts all limits, returns all processes to their former groups and removes the own groups.
    /// Every later call of the agent does nothing.
    pub fn stop(&mut self) -> Restored {
        self.stopped = true;
        let removed = own_file::remove(&self.status_file);
        self.troubles.check("status", removed);
        let mut groups = std::mem::take(&mut self.leaving);
        let mut containers = std::mem::take(&mut self.containers);
        let mut all = Vec::new();
        for (id, container) in &mut containers {
            groups.extend(container.distinct_own_groups());
            all.push(Wanted::lifted(id, container, Reason::AgentStops));
        }
        self.actuator.limit(all, Instant::now());
        for (id, container) in &mut containers {
            self.end_network(id, container, Reason::AgentStops);
        }
        let jvms_left = self.restore_heaps_at_stop();
        let mut restored = self.empty_and_remove(&mut groups);
        for error in self.network.restore(&mut self.actuator.journal) {
            self.troubles.warn("network", error);
            restored.failed += 1;
        }
        restored.failed += jvms_left + self.actuator.journal.former().len();
        restored.removed += self.removed_at_start;
        self.remove_parents();
        for (kind, count) in self.troubles.counts() {
            log::info!("{kind}: {count}");
        }
        if self.samples.dropped() > 0 {
            log::info!("samples dropped: {}", self.samples.dropped());
        }
        restored
    }

    /// Empties and removes groups, and waits a moment for busy ones. Those that stay busy remain in
    /// `groups`.
    pub(super) fn empty_and_remove(&mut self, groups: &mut BTreeSet<PathBuf>) -> Restored {
        let all = groups.len();
        let deadline = Instant::now() + BUSY_TIMEOUT;
        loop {
            *groups = self.put_back_and_remove(std::mem::take(groups));
            if groups.is_empty() || Instant::now() > deadline {
                break;
            }
            // An ending process keeps its group busy for a moment.
            thread::sleep(Duration::from_millis(10));
        }
        for group in groups.iter() {
            log::warn!("{} is not removed: it is still busy", group.display());
        }
        Restored { removed: all - groups.len(), failed: groups.len() }
    }

    fn remove_parents(&mut self) {
        // The parent is locked by this agent until it is gone.
        self.own_groups = None;
        let actuator = &mut self.actuator;
        for group in actuator.journal.made().to_vec().iter().rev() {
            let removed = actuator.files.remove_group(group);
            match self.troubles.check("groups not removed", removed) {
                Some(true) => {
                    let saved = actuator.journal.forget_made(group);
                    self.troubles.check("journal", saved);
                }
                Some(false) => log::info!("{} is not removed: others use it", group.display()),
                None => {}
            }
        }
        let failed = take_back(&mut actuator.journal);
        let failed = self.troubles.check("journal", failed);
        for error in failed.unwrap_or_default() {
            log::info!("a controller stays enabled: {error}");
        }
    }

    /// Moves the processes of a group back to their former group.
    pub(super) fn put_back(&mut self, group: &Path) {
        let Some(hierarchy) = self.hierarchies.of(group) else {
            return;
        };
        let origin = self.actuator.journal.origin(group);
        let moved = empty_group(group, hierarchy, &origin, &self.proc);
        self.troubles.check("processes not moved back", moved);
    }

    /// Returns the groups that are still there.
    fn put_back_and_remove(&mut self, mut groups: BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        groups.retain(|group| {
            self.put_back(group);
            let removed = self.actuator.files.remove_group(group);
            let is_gone = self.troubles.check("groups not removed", removed) == Some(true);
            if is_gone {
                let saved = self.actuator.journal.forget_origin(group);
                self.troubles.check("journal", saved);
            }
            !is_gone
        });
        groups
    }
}

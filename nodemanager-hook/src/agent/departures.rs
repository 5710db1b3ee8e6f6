//! The end of a container, and the end of the agent.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use super::{
    Agent,
    limits::Wanted,
    memory::watch,
    network::{CountersNow, end as end_network},
    warnings,
};
use crate::{
    actuators::{empty_group, take_back},
    audit::Reason,
    container_id::ContainerId,
    sensors::ProcessTable,
};

/// The time that a group which was just emptied gets to become free.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// The outcome of a stop.
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
        let Some(mut container) = self.containers.remove(id) else {
            return;
        };
        let disks = self.node.disks();
        if !container.needs_table()
            && let Ok(Some(reading)) = container.read(
                &self.proc,
                &ProcessTable::default(),
                disks,
                CountersNow::EachByItself,
                now,
            )
        {
            self.samples.add(id, &reading);
        }
        let wanted = Wanted::lifted(id, &mut container, Reason::ContainerGone);
        self.actuator.limit(vec![wanted], now, &mut self.troubles);
        watch(&mut container, &self.memory_watch, &mut self.troubles);
        let audit = (&mut self.actuator.audit, Reason::ContainerGone);
        end_network(
            id,
            &mut container,
            &mut self.network,
            audit,
            &mut self.troubles,
        );
        self.leaving.extend(container.distinct_own_groups());
        self.remove_leaving();
    }

    /// Removes the groups that no container needs any more. Their remaining processes return to
    /// their former groups. A busy group is tried again at the next reading.
    pub(super) fn remove_leaving(&mut self) {
        for group in std::mem::take(&mut self.leaving) {
            self.put_back(&group);
            if !self.remove(&group) {
                self.leaving.insert(group);
            }
        }
    }

    /// Lifts all limits, returns all processes to their former groups and removes the own groups.
    /// Every later call of the agent does nothing.
    pub fn stop(&mut self) -> Restored {
        self.stopped = true;
        if let Err(error) = fs::remove_file(&self.status_file)
            && error.kind() != io::ErrorKind::NotFound
        {
            self.troubles.warn("status", error);
        }
        let mut groups = std::mem::take(&mut self.leaving);
        let mut all = Vec::new();
        for (id, container) in &mut self.containers {
            groups.extend(container.distinct_own_groups());
            all.push(Wanted::lifted(id, container, Reason::AgentStops));
        }
        self.actuator.limit(all, Instant::now(), &mut self.troubles);
        for (id, container) in &mut self.containers {
            let audit = (&mut self.actuator.audit, Reason::AgentStops);
            end_network(id, container, &mut self.network, audit, &mut self.troubles);
        }
        let jvms_left = self.restore_heaps_at_stop();
        let mut restored = self.empty_and_remove(&mut groups);
        for error in self.network.restore(&mut self.actuator.journal) {
            self.troubles.warn("network", error);
            restored.failed += 1;
        }
        restored.failed += jvms_left;
        restored.removed += self.removed_at_start;
        restored.failed += self.actuator.journal.former().count();
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
            for group in std::mem::take(groups) {
                self.put_back(&group);
                if !self.remove(&group) {
                    groups.insert(group);
                }
            }
            if groups.is_empty() || Instant::now() > deadline {
                break;
            }
            // An ending process keeps its group busy for a moment.
            thread::sleep(Duration::from_millis(10));
        }
        for group in groups.iter() {
            log::warn!("{} is not removed: it is still busy", group.display());
        }
        Restored {
            removed: all - groups.len(),
            failed: groups.len(),
        }
    }

    fn remove_parents(&mut self) {
        // The parent is locked by this agent until it is gone.
        self.own_groups = None;
        let made = self.actuator.journal.made().to_vec();
        for group in made.iter().rev() {
            match self.actuator.files.remove_group(group) {
                Ok(true) => {
                    let saved = self.actuator.journal.forget_made(group);
                    warnings::journal(&mut self.troubles, saved);
                }
                Ok(false) => log::info!("{} is not removed: others use it", group.display()),
                Err(error) => self.troubles.warn("groups not removed", error),
            }
        }
        match take_back(&mut self.actuator.journal) {
            Ok(failed) => {
                for error in failed {
                    log::info!("a controller stays enabled: {error}");
                }
            }
            Err(error) => self.troubles.warn("journal", error),
        }
    }

    /// Moves the processes of a group back to their former group.
    pub(super) fn put_back(&mut self, group: &Path) {
        let Some(hierarchy) = self.hierarchies.of(group) else {
            return;
        };
        let origin = self.actuator.journal.origin(group);
        if let Err(error) = empty_group(group, hierarchy, &origin, &self.proc) {
            self.troubles.warn("processes not moved back", error);
        }
    }

    /// Returns whether the group is gone.
    fn remove(&mut self, group: &Path) -> bool {
        let actuator = &mut self.actuator;
        let removed = actuator.files.remove_group(group).unwrap_or_else(|error| {
            self.troubles.warn("groups not removed", error);
            false
        });
        if removed {
            let saved = actuator.journal.forget_origin(group);
            warnings::journal(&mut self.troubles, saved);
        }
        removed
    }
}

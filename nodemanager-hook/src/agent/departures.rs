//! Containers that are gone, and the end of the agent.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use elastane_protocol::Limits;

use super::{
    Actuator, Agent,
    limits::Wanted,
    memory::watch,
    network::{CountersNow, end as end_network},
};
use crate::{
    actuators::{empty_group, take_back},
    audit::Reason,
    container_id::ContainerId,
    sensors::ProcessTable,
};

/// How long a stopping agent waits for a group that has just been emptied.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a stopping agent put back.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Restored {
    /// Own groups that are removed.
    pub removed: usize,
    /// Groups that could not be removed or put back.
    pub failed: usize,
}

impl Agent {
    /// A container is not in the list any more: it is read once more, since its group still
    /// knows what it used up to its end, and its group is removed.
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
        let wanted = Wanted {
            id,
            container: &mut container,
            limits: Limits::default(),
            reason: Reason::ContainerGone,
            is_near_limit: false,
        };
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

    /// Removes the groups that no container needs any more; what is left in them goes back to
    /// where it was. One that is still busy is tried again at the next reading.
    pub(super) fn remove_leaving(&mut self) {
        for group in std::mem::take(&mut self.leaving) {
            self.put_back(&group);
            if !self.remove(&group) {
                self.leaving.insert(group);
            }
        }
    }

    /// Lifts all limits, moves what runs back to where it came from and removes the own groups.
    /// The agent does nothing any more afterwards.
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
            all.push(Wanted {
                id,
                container,
                limits: Limits::default(),
                reason: Reason::AgentStops,
                is_near_limit: false,
            });
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
        let foreign_left = self.actuator.journal.former().count();
        restored.failed += foreign_left;
        self.remove_parents();
        for (kind, count) in self.troubles.counts() {
            log::info!("{kind}: {count}");
        }
        if self.samples.dropped() > 0 {
            log::info!("samples dropped: {}", self.samples.dropped());
        }
        restored
    }

    /// Waits a moment for groups that are busy; those that stay so are left in `groups`.
    pub(super) fn empty_and_remove(&mut self, groups: &mut BTreeSet<PathBuf>) -> Restored {
        let all = groups.len();
        let deadline = Instant::now() + PATIENCE;
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
            // A process that is ending keeps its group busy for a moment.
            thread::sleep(Duration::from_millis(10));
        }
        for group in groups.iter() {
            log::warn!("{} is left: it is still busy", group.display());
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
                    if let Err(error) = self.actuator.journal.forget_made(group) {
                        self.troubles.warn("journal", error);
                    }
                }
                Ok(false) => log::info!("{} is left: others use it", group.display()),
                Err(error) => self.troubles.warn("removing groups", error),
            }
        }
        let Actuator { files, journal, .. } = &mut self.actuator;
        match take_back(files, journal) {
            Ok(failed) => {
                for error in failed {
                    log::info!("a controller is passed on still: {error}");
                }
            }
            Err(error) => self.troubles.warn("journal", error),
        }
    }

    /// Moves what is in a group to where it was before.
    pub(super) fn put_back(&mut self, group: &Path) {
        let Some(hierarchy) = self.hierarchies.of(group) else {
            return;
        };
        let origin = self.actuator.journal.origin(group);
        let files = &mut self.actuator.files;
        if let Err(error) = empty_group(group, hierarchy, &origin, &self.proc, files) {
            self.troubles.warn("putting processes back", error);
        }
    }

    /// Says whether the group is gone.
    fn remove(&mut self, group: &Path) -> bool {
        let actuator = &mut self.actuator;
        let removed = actuator.files.remove_group(group).unwrap_or_else(|error| {
            self.troubles.warn("removing groups", error);
            false
        });
        if removed && let Err(error) = actuator.journal.forget_origin(group) {
            self.troubles.warn("journal", error);
        }
        removed
    }
}

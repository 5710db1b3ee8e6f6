//! Containers that are gone, and the end of the agent.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use super::{Agent, container::Members};
use crate::{
    actuators::{container_of, put_back},
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
    /// knows what it used up to its end, and its group is removed when it is empty.
    pub(super) fn depart(&mut self, id: &ContainerId, now: Instant) {
        let Some(mut container) = self.containers.remove(id) else {
            return;
        };
        if !container.needs_table()
            && let Ok(Some(reading)) = container.read(&self.proc, &ProcessTable::default(), now)
        {
            self.samples.add(id, &reading);
        }
        if let Some(limiter) = &mut container.limiter {
            let troubles = &mut self.troubles;
            self.actuator
                .limit(id, limiter, None, Reason::ContainerGone, troubles);
        }
        if let (Members::OwnGroup(_), Some(own)) = (&container.members, &self.own_groups) {
            self.leaving.extend(own.groups(id));
        }
        self.remove_leaving();
    }

    /// Removes the groups that are empty by now.
    pub(super) fn remove_leaving(&mut self) {
        for group in std::mem::take(&mut self.leaving) {
            if !self.remove(&group) {
                self.leaving.insert(group);
            }
        }
    }

    /// With the first list: groups of a killed agent whose containers do not run, or that are
    /// below another parent, are removed; the others are adopted when their containers arrive.
    pub(super) fn settle_left_behind(&mut self, running: &BTreeMap<ContainerId, u32>) {
        for group in std::mem::take(&mut self.left_behind) {
            let runs = container_of(&group).is_some_and(|id| running.contains_key(&id));
            let own = self.own_groups.as_ref().is_some_and(|own| own.hold(&group));
            if !(runs && own) {
                self.put_back(&group);
                self.leaving.insert(group);
            }
        }
        self.remove_leaving();
    }

    /// Lifts all limits, moves what runs back to where it came from and removes the own groups.
    /// The agent does nothing any more afterwards.
    pub fn stop(&mut self) -> Restored {
        self.stopped = true;
        let mut groups = std::mem::take(&mut self.leaving);
        groups.append(&mut self.left_behind);
        for (id, container) in &mut self.containers {
            if let Some(limiter) = &mut container.limiter {
                let troubles = &mut self.troubles;
                self.actuator
                    .limit(id, limiter, None, Reason::AgentStops, troubles);
            }
            if let (Members::OwnGroup(_), Some(own)) = (&container.members, &self.own_groups) {
                groups.extend(own.groups(id));
            }
        }
        let mut restored = self.empty_and_remove(groups);
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

    fn empty_and_remove(&mut self, mut groups: BTreeSet<PathBuf>) -> Restored {
        let all = groups.len();
        let deadline = Instant::now() + PATIENCE;
        loop {
            for group in std::mem::take(&mut groups) {
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
        for group in &groups {
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
    }

    fn put_back(&mut self, group: &Path) {
        let actuator = &mut self.actuator;
        if let Err(error) = put_back(group, &mut actuator.files, &actuator.journal) {
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

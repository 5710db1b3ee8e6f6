//! Moves whole process trees into the agent's groups.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::PathBuf,
};

use super::Agent;
use crate::{
    actuators::{KernelFileError, LimitPlace, Moved, move_process, read_pids},
    cgroups::Controller,
    container_id::ContainerId,
    sensors::{ProcessKey, ProcessTable},
};

/// Scans for processes forked while their tree is moved.
const MAX_PASSES: usize = 20;

#[derive(Debug)]
pub(super) struct Moving {
    pub root: ProcessKey,
    /// The targets.
    pub places: BTreeMap<Controller, LimitPlace>,
}

/// A part of the tree is still outside after the last pass.
fn forks_too_fast(tree: &Moving) -> KernelFileError {
    let group = tree.places.values().next().map(|place| place.group.clone()).unwrap_or_default();
    let why = io::Error::other("it forks faster than its processes can be moved");
    KernelFileError::new("move a whole container to", &group, why)
}

impl Agent {
    /// Moves the trees and scans again until no process is outside, so that no fork is missed; later
    /// forks inherit the group. Removes trees that were not moved as a whole from `moving`. Returns the
    /// last scan.
    pub(super) fn move_trees(
        &mut self,
        moving: &mut BTreeMap<ContainerId, Moving>,
        mut table: ProcessTable,
    ) -> ProcessTable {
        for pass in 1..=MAX_PASSES {
            let mut moved = false;
            let mut failed = Vec::new();
            for (id, tree) in &*moving {
                match self.move_tree(id, tree, &table) {
                    Ok(true) if pass == MAX_PASSES => {
                        failed.push((id.clone(), forks_too_fast(tree)))
                    }
                    Ok(any) => moved |= any,
                    Err(error) => failed.push((id.clone(), error)),
                }
            }
            for (id, error) in failed {
                moving.remove(&id);
                self.hold_back(&id, &error.into());
            }
            if !moved {
                break;
            }
            match self.reader.scan() {
                Some(newer) => table = newer,
                None => break,
            }
        }
        table
    }

    /// Moves the processes that are still outside. Returns whether there were any.
    pub(super) fn move_tree(
        &mut self,
        id: &ContainerId,
        moving: &Moving,
        table: &ProcessTable,
    ) -> Result<bool, KernelFileError> {
        let Some(container) = self.containers.get_mut(id) else {
            return Ok(false);
        };
        let tree = table.tree(moving.root, &container.sensor.processes.keys());
        let tree: BTreeSet<ProcessKey> = tree.iter().map(|process| process.key()).collect();
        let groups: BTreeSet<&PathBuf> = moving.places.values().map(|place| &place.group).collect();
        let mut moved = false;
        for group in groups {
            let Some(hierarchy) = self.actuator.hierarchies.of(group) else {
                continue;
            };
            let inside: BTreeSet<u32> = read_pids(group)?.into_iter().collect();
            for key in tree.iter().filter(|key| !inside.contains(&key.pid)) {
                match move_process(*key, hierarchy, group, &self.reader.proc)? {
                    Moved::Yes => moved = true,
                    Moved::Gone => {}
                    Moved::PidReused => {
                        let message = format!("pid {} was reused by another process", key.pid);
                        self.troubles.warn("pids reused", message);
                    }
                }
            }
        }
        container.sensor.processes.follow(&tree);
        Ok(moved)
    }
}

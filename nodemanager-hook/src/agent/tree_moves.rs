//! Whole process trees moved to the agent's groups.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use super::Agent;
use crate::{
    actuators::{KernelFileError, Moved, move_process, read_pids},
    cgroups::Controller,
    container_id::ContainerId,
    sensors::{ProcessKey, ProcessTable},
};

/// How often all processes are scanned for what forked while its tree was moved.
const MOST_PASSES: usize = 20;

/// A tree that has to be moved.
#[derive(Debug)]
pub(super) struct Moving {
    pub root: ProcessKey,
    /// Where to, by what it is for.
    pub groups: BTreeMap<Controller, PathBuf>,
}

impl Agent {
    /// Moves whole trees and scans again until nothing is found outside, so that a fork in
    /// between is not lost; what forks later inherits the group. What fails is taken out of
    /// `moving`. Gives the last scan.
    pub(super) fn move_trees(
        &mut self,
        moving: &mut BTreeMap<ContainerId, Moving>,
        mut table: ProcessTable,
    ) -> ProcessTable {
        for _ in 0..MOST_PASSES {
            let mut moved = false;
            let mut failed = Vec::new();
            for (id, tree) in &*moving {
                match self.move_tree(id, tree, &table) {
                    Ok(any) => moved |= any,
                    Err(error) => failed.push((id.clone(), error)),
                }
            }
            for (id, error) in failed {
                moving.remove(&id);
                self.hold_back(&id, &error.into());
            }
            if !moved {
                return table;
            }
            match self.scan() {
                Some(newer) => table = newer,
                None => return table,
            }
        }
        let message = "a container forks faster than its processes can be moved";
        self.troubles.warn("trees that do not hold still", message);
        table
    }

    /// Moves what is not inside yet; says whether there was anything.
    fn move_tree(
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
        let groups: BTreeSet<&PathBuf> = moving.groups.values().collect();
        let mut moved = false;
        for group in groups {
            let Some(hierarchy) = self.hierarchies.of(group) else {
                continue;
            };
            let inside: BTreeSet<u32> = read_pids(group)?.into_iter().collect();
            for key in tree.iter().filter(|key| !inside.contains(&key.pid)) {
                let files = &mut self.actuator.files;
                match move_process(*key, hierarchy, group, &self.proc, files)? {
                    Moved::Yes => moved = true,
                    Moved::Gone => {}
                    Moved::PidGivenAnew => {
                        let message = format!("pid {} is another process' by now", key.pid);
                        self.troubles.warn("pids given anew", message);
                    }
                }
            }
        }
        container.sensor.processes.follow(&tree);
        Ok(moved)
    }
}

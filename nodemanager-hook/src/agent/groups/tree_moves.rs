//! Moves whole process trees into the agent's groups.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::PathBuf,
};

use crate::{
    actuators::{KernelFileError, LimitPlace, Moved, move_process, read_pids},
    agent::{actuator::Actuator, container::NodeContainer, host::Host, reader::Reader},
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

/// The trees that could not be moved as a whole.
pub(super) type NotMoved = Vec<(ContainerId, KernelFileError)>;

/// Moves the trees and scans again until no process is outside, so that no fork is missed; later
/// forks inherit the group. Removes trees that were not moved as a whole from `moving`, and returns them after the last scan.
pub(super) fn move_trees(
    host: &mut Host,
    moving: &mut BTreeMap<ContainerId, Moving>,
    mut table: ProcessTable,
) -> (ProcessTable, NotMoved) {
    let mut not_moved = NotMoved::new();
    for pass in 1..=MAX_PASSES {
        let mut moved = false;
        moving.retain(|id, tree| {
            let Some(container) = host.containers.get_mut(id) else {
                return false;
            };
            let error = match move_tree(container, tree, &table, &host.reader, &host.actuator) {
                Ok(true) if pass == MAX_PASSES => forks_too_fast(tree),
                Ok(any) => {
                    moved |= any;
                    return true;
                }
                Err(error) => error,
            };
            not_moved.push((id.clone(), error));
            false
        });
        if !moved {
            break;
        }
        match host.reader.scan() {
            Some(newer) => table = newer,
            None => break,
        }
    }
    (table, not_moved)
}

/// Moves the processes that are still outside. Returns whether there were any, or the first failure, after which the others
/// are moved all the same.
fn move_tree(
    container: &mut NodeContainer,
    moving: &Moving,
    table: &ProcessTable,
    reader: &Reader,
    actuator: &Actuator,
) -> Result<bool, KernelFileError> {
    let tree = table.tree(moving.root, &container.sensor.processes.keys());
    let tree: BTreeSet<ProcessKey> = tree.iter().map(|process| process.key()).collect();
    let groups: BTreeSet<&PathBuf> = moving.places.values().map(|place| &place.group).collect();
    let mut all = Ok(false);
    for group in groups {
        let Some(hierarchy) = actuator.hierarchies.of(group) else {
            continue;
        };
        let inside: BTreeSet<u32> = match read_pids(group) {
            Ok(pids) => pids.into_iter().collect(),
            Err(error) => {
                all = all.and(Err(error));
                continue;
            }
        };
        for key in tree.iter().filter(|key| !inside.contains(&key.pid)) {
            match move_process(*key, hierarchy, group, &reader.proc) {
                Ok(Moved::Yes) => all = all.map(|_| true),
                Ok(Moved::Gone) => {}
                Ok(Moved::PidReused) => {
                    let message = format!("pid {} was reused by another process", key.pid);
                    actuator.troubles.warn("pids reused", message);
                }
                Err(error) => all = all.and(Err(error)),
            }
        }
    }
    container.sensor.processes.follow(&tree);
    all
}

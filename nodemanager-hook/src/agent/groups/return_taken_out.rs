//! Returns processes that another program took out of a container's own groups.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

use super::{
    refusals::{MoveChecks, refusals},
    tree_moves::{Moving, move_trees},
};
use crate::{
    actuators::{KernelFileError, OwnGroups, read_pids},
    agent::{container::NodeContainer, host::Host, reader::Reader},
    cgroups::Controller,
    container_id::ContainerId,
    sensors::ProcessTable,
};

/// The containers whose own groups are compared with each other at a time. Reading a group takes some 10 µs.
pub(super) const MOST_COMPARED: usize = 16;

/// Moves processes that another program took out of the agent's groups back into them. `first`: the first container whose own
/// groups are compared.
pub(super) fn return_taken_out(own: &OwnGroups, host: &mut Host, first: usize) {
    let mut incomplete = with_different_groups(host, first);
    for (id, container) in &mut host.containers {
        if container.sensor.processes.taken_out.is_empty() {
            continue;
        }
        if container.own_places().next().is_none() {
            // The container executor may move processes in its groups.
            container.sensor.processes.taken_out.clear();
            continue;
        }
        container.sensor.processes.take_back();
        incomplete.insert(id.clone());
    }
    if incomplete.is_empty() {
        return;
    }
    let Some(table) = host.reader.scan() else {
        return;
    };
    let mut checks = MoveChecks::default();
    let mut moving = BTreeMap::new();
    let mut outside = Vec::new();
    for id in incomplete {
        let Some(container) = host.containers.get(&id) else {
            continue;
        };
        let scattered = scattered(container, &table, &host.reader, own, &mut checks);
        match host.actuator.troubles.check_of("readings", &id, scattered) {
            Some(Scattered::MayMove(tree)) => {
                moving.insert(id, tree);
            }
            Some(Scattered::Stays(why)) => {
                outside.push((id, format!("a move back would lose a restriction: {why}")));
            }
            Some(Scattered::Nothing) | None => {}
        }
    }
    let (_, not_moved) = move_trees(host, &mut moving, table);
    outside.extend(not_moved.into_iter().map(|(id, error)| (id, error.to_string())));
    // The others of their container stay limited.
    for (id, why) in outside {
        let message = format!(
            "{id}: another program moved a process out of the agent's group, and the process is \
             not limited: {why}"
        );
        host.actuator.troubles.warn("processes outside of their group", message);
    }
}

/// The containers with a process that is not in each of their own groups. The next reading notices only processes that the
/// group which lists them lost.
fn with_different_groups(host: &Host, first: usize) -> BTreeSet<ContainerId> {
    let all = host.containers.iter().cycle().skip(first);
    let compared = all.take(MOST_COMPARED.min(host.containers.len()));
    let differs = compared.filter(|(id, container)| {
        let differ = have_different_processes(container);
        host.actuator.troubles.check_of("readings", id, differ) == Some(true)
    });
    differs.map(|(id, _)| id.clone()).collect()
}

fn have_different_processes(container: &NodeContainer) -> Result<bool, KernelFileError> {
    let listing = container.listing_place().map(|place| &place.group);
    let mut others = container.own_groups();
    others.retain(|group| Some(group) != listing);
    if others.is_empty() {
        return Ok(false);
    }
    let listed = || container.listed_pids().transpose().map(Option::unwrap_or_default);
    let differ = || -> Result<bool, KernelFileError> {
        let all = listed()?;
        let mut outside: BTreeSet<u32> = BTreeSet::new();
        for group in &others {
            let inside: BTreeSet<u32> = read_pids(group)?.into_iter().collect();
            outside.extend(all.iter().filter(|pid| !inside.contains(pid)));
        }
        // Some may have ended before their second group was read.
        Ok(!outside.is_empty() && listed()?.iter().any(|pid| outside.contains(pid)))
    };
    match differ() {
        Err(error) if error.is_gone() => Ok(false),
        differ => differ,
    }
}

enum Scattered {
    /// The whole tree, with its places in own groups.
    MayMove(Moving),
    /// A process would lose a restriction there.
    Stays(String),
    Nothing,
}

fn scattered(
    container: &NodeContainer,
    table: &ProcessTable,
    reader: &Reader,
    own: &OwnGroups,
    checks: &mut MoveChecks,
) -> io::Result<Scattered> {
    let Some(root) = container.root.filter(|_| container.can_be_moved()) else {
        return Ok(Scattered::Nothing);
    };
    let places: BTreeMap<Controller, _> =
        container.own_places().map(|(controller, place)| (controller, place.clone())).collect();
    let tree = table.tree(root, &container.sensor.processes.keys());
    let cgroups = reader.cgroups(tree.iter().map(|process| process.pid))?;
    let refused = refusals(&container.places, &cgroups, own, checks);
    Ok(match places.keys().find_map(|controller| refused.get(controller)) {
        Some(why) => Scattered::Stays(why.clone()),
        None => Scattered::MayMove(Moving { root, places }),
    })
}

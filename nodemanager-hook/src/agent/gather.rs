//! Moves processes that somebody took out of a container's own groups there again.

use std::collections::BTreeMap;

use super::{
    Agent,
    refused_moves::{MoveChecks, refusals},
    tree_moves::Moving,
};
use crate::{cgroups::Controller, container_id::ContainerId, sensors::ProcessTable};

impl Agent {
    /// Looks, with each plan, at the containers of which a reading missed a process.
    pub(super) fn gather(&mut self) {
        let mut incomplete: Vec<ContainerId> = Vec::new();
        for (id, container) in &mut self.containers {
            if container.sensor.processes.taken_out.is_empty() {
                continue;
            }
            if container.own_places().next().is_none() {
                // The container executor may move processes in its groups.
                container.sensor.processes.taken_out.clear();
                continue;
            }
            container.sensor.processes.take_back();
            incomplete.push(id.clone());
        }
        if incomplete.is_empty() {
            return;
        }
        let Some(table) = self.reader.scan() else {
            return;
        };
        let mut checks = MoveChecks::default();
        for id in incomplete {
            let Some(moving) = self.scattered(&id, &table, &mut checks) else {
                continue;
            };
            // The others of the container stay limited.
            if let Err(error) = self.move_tree(&id, &moving, &table) {
                let message = format!("{id}: a process was taken out of its group: {error}");
                self.troubles.warn("processes outside of their group", message);
            }
        }
    }

    /// The whole tree of a container in own groups, unless a process would lose a restriction there.
    fn scattered(
        &self,
        id: &ContainerId,
        table: &ProcessTable,
        checks: &mut MoveChecks,
    ) -> Option<Moving> {
        let container = self.containers.get(id).filter(|container| container.can_be_moved())?;
        let (root, own) = container.root.zip(self.own_groups.as_ref())?;
        let places: BTreeMap<Controller, _> =
            container.own_places().map(|(controller, place)| (controller, place.clone())).collect();
        let tree = table.tree(root, &container.sensor.processes.keys());
        let cgroups = tree.iter().filter_map(|one| self.reader.proc.cgroup(one.pid).ok().flatten());
        let cgroups: Vec<String> = cgroups.collect();
        let refused = refusals(&container.places, &cgroups, own, checks);
        if let Some(why) = places.keys().find_map(|controller| refused.get(controller)) {
            let message =
                format!("{id}: a process was taken out of its group and stays there: {why}");
            self.troubles.warn("processes outside of their group", message);
            return None;
        }
        (!places.is_empty()).then_some(Moving { root, places })
    }
}

//! The groups in which a container has to be.

use std::{collections::BTreeSet, time::Instant};

use super::refusals::is_free;
use crate::{
    actuators::OwnGroups, agent::container::NodeContainer, cgroups::Controller,
    container_id::ContainerId, plan::Plan,
};

/// What decides about them.
#[derive(Debug, Clone, Copy)]
pub(super) struct WantedGroups<'a> {
    pub plan: &'a Plan,
    /// Whether containers enter groups before a plan limits them.
    pub from_arrival: bool,
    pub is_network_counted: bool,
    /// Whether the hierarchy of the network serves no other controller.
    pub is_network_apart: bool,
    pub now: Instant,
}

impl WantedGroups<'_> {
    /// The controllers for which a container has to be in own groups. Excludes those for which it must not be moved, and
    /// hierarchies in which the container executor made a group.
    pub fn of(
        &self,
        id: &ContainerId,
        container: &NodeContainer,
        own: &OwnGroups,
    ) -> BTreeSet<Controller> {
        let may_enter = |controller: &Controller| {
            let is_refused = container.refusals.contains_key(controller);
            !is_refused && is_free(*controller, &container.places, own)
        };
        let mut wanted = self.plan.limited(id, self.now);
        if self.plan.limits_memory(self.now) || self.from_arrival {
            wanted.insert(Controller::Memory);
        }
        wanted.retain(may_enter);
        let is_moved = !wanted.is_empty();
        let is_counted = self.is_network_counted && (is_moved || self.is_network_apart);
        for (controller, is_wanted) in
            [(Controller::CpuAccounting, is_moved), (Controller::Network, is_counted)]
        {
            if is_wanted && may_enter(&controller) {
                wanted.insert(controller);
            }
        }
        wanted
    }

    /// Those in which it is not yet.
    pub fn missing(
        &self,
        id: &ContainerId,
        container: &NodeContainer,
        own: &OwnGroups,
    ) -> BTreeSet<Controller> {
        let mut missing = self.of(id, container, own);
        for (present, _) in container.own_places() {
            missing.remove(&present);
        }
        missing
    }
}

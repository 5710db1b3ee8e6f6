//! Counts and limits the network of containers.

use std::time::Instant;

use elastane_protocol::Limits;

use super::{Agent, container::Container, limits::planned_limits};
use crate::{audit::Reason, cgroups::Controller, container_id::ContainerId};

impl Agent {
    /// Counts every container in its present group.
    pub(super) fn count_networks(&mut self) {
        for (id, container) in &mut self.containers {
            let group = container.group(Controller::Network);
            let before = container.network.as_ref().map(|network| &network.group);
            // As bytes: comparing paths by component costs ten times more, with each reading.
            if before.map(|group| group.as_os_str()) == group.map(|group| group.as_os_str()) {
                continue;
            }
            let group = group.cloned();
            if let Some(former) = container.network.take() {
                let forgotten = self.network.forget(former);
                self.troubles.check("limits", forgotten);
            }
            let attached = group.and_then(|group| self.network.attach(&group)).transpose();
            let attached = attached.map_err(|error| format!("{id}: {error}"));
            let attached = self.troubles.check("networks not counted", attached);
            container.network = attached.flatten();
        }
    }

    /// Puts the planned network limits in force.
    pub(super) fn limit_networks(&mut self, now: Instant) {
        let plan = self.plan.as_ref();
        for (id, container) in &mut self.containers {
            let Some(network) = &mut container.network else {
                continue;
            };
            let (limits, reason) = planned_limits(plan, id, now);
            let wanted = Limits {
                network_weight_bytes_per_s: limits.network_weight_bytes_per_s,
                network_cap_bytes_per_s: limits.network_cap_bytes_per_s,
                ..Limits::default()
            };
            if wanted == network.in_force {
                continue;
            }
            if let Err(error) = self.network.limit(network, &wanted) {
                self.troubles.warn("limits", format!("{id}: {error}"));
                continue;
            }
            network.in_force = wanted;
            container.history.push(now, reason);
            let audit = &mut self.actuator.audit;
            audit.network_changed(id, reason, &wanted);
        }
    }

    /// Ends the counting and the limits of a container's network.
    pub(super) fn end_network(
        &mut self,
        id: &ContainerId,
        container: &mut Container,
        reason: Reason,
    ) {
        let Some(network) = container.network.take() else {
            return;
        };
        if network.in_force != Limits::default() {
            let audit = &mut self.actuator.audit;
            audit.network_changed(id, reason, &Limits::default());
        }
        let forgotten = self.network.forget(network);
        self.troubles.check("limits", forgotten);
    }
}

//! The network of containers: their groups, counters and limits.

use std::{io, path::PathBuf, time::Instant};

use elastane_protocol::Limits;

use super::{
    Agent, container::Container, limits::planned_limits, node_network::NodeNetwork, warnings,
};
use crate::{
    audit::{Audit, Reason},
    cgroups::Controller,
    container_id::ContainerId,
    network::{AllCounters, EgressRate, GroupNetwork, ShaperError},
    once::Once,
    sensors::{Counted, Growth},
};

/// The share of a contended link for a class with a cap but no weight.
const MIN_SHARE_BYTES_PER_S: u64 = 256 * 1024;

/// One container's network. Dropping it ends the counting.
#[derive(Debug)]
pub(super) struct ContainerNetwork {
    pub group: PathBuf,
    pub group_network: Box<dyn GroupNetwork>,
    received: Growth,
    sent: Growth,
    in_force: NetworkLimits,
    /// Why the counters could not be read; taken by the caller of [`Self::read`].
    pub failure: Option<io::Error>,
}

/// The source of a container's counters.
#[derive(Debug, Clone, Copy)]
pub(super) enum CountersNow<'a> {
    /// The counters of all containers were read together.
    Of(&'a AllCounters),
    /// The container's counters are read alone.
    EachByItself,
    /// Reading the counters of all containers failed.
    Unreadable,
}

/// The bytes received and sent between two readings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct NetworkGrowth {
    pub received_bytes: u64,
    pub sent_bytes: u64,
}

/// The network part of [`Limits`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct NetworkLimits {
    pub weight_bytes_per_s: Option<u64>,
    pub cap_bytes_per_s: Option<u64>,
}

/// Why a container's network is not limited as planned.
#[derive(Debug, thiserror::Error)]
pub(super) enum NetworkLimitError {
    #[error("cannot change the limits of {}: {source}", group.display())]
    Group { group: PathBuf, source: io::Error },
    #[error(transparent)]
    Shaper(#[from] ShaperError),
}

impl NetworkGrowth {
    pub fn add_to(self, counted: &mut Counted) {
        counted.network_received_bytes += self.received_bytes;
        counted.network_sent_bytes += self.sent_bytes;
    }
}

impl ContainerNetwork {
    pub fn new(group: PathBuf, group_network: Box<dyn GroupNetwork>) -> Self {
        Self {
            group,
            group_network,
            received: Growth::from_zero(),
            sent: Growth::from_zero(),
            in_force: NetworkLimits::default(),
            failure: None,
        }
    }

    /// The growth since the last reading. If the counters cannot be read, the growth is 0 and
    /// [`Self::failure`] is set, so that the container's other usage is still read.
    pub fn read(&mut self, counters: CountersNow<'_>) -> NetworkGrowth {
        let counters = match counters {
            CountersNow::Of(all) => Ok(all.of(self.group_network.slot())),
            CountersNow::EachByItself => self.group_network.counters(),
            CountersNow::Unreadable => return NetworkGrowth::default(),
        };
        match counters {
            Ok(counters) => NetworkGrowth {
                received_bytes: self.received.advance(counters.received_bytes),
                sent_bytes: self.sent.advance(counters.sent_bytes),
            },
            Err(error) => {
                self.failure = Some(error);
                NetworkGrowth::default()
            }
        }
    }

    pub fn add_in_force(&self, limits: &mut Limits) {
        limits.network_weight_bytes_per_s = self.in_force.weight_bytes_per_s;
        limits.network_cap_bytes_per_s = self.in_force.cap_bytes_per_s;
    }
}

impl NetworkLimits {
    fn of(limits: &Limits) -> Self {
        Self {
            weight_bytes_per_s: limits.network_weight_bytes_per_s,
            cap_bytes_per_s: limits.network_cap_bytes_per_s,
        }
    }

    pub fn egress_rate(self) -> Option<EgressRate> {
        let is_limited = self != Self::default();
        is_limited.then(|| EgressRate {
            share_bytes_per_s: self.weight_bytes_per_s.unwrap_or(MIN_SHARE_BYTES_PER_S),
            cap_bytes_per_s: self.cap_bytes_per_s,
        })
    }
}

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
            forget(container, &mut self.network, &mut self.troubles);
            match group.and_then(|group| self.network.attach(&group)) {
                Some(Ok(network)) => container.network = Some(network),
                Some(Err(error)) => {
                    let message = format!("{id}: {error}");
                    self.troubles.warn("networks not counted", message);
                }
                None => {}
            }
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
            let wanted = NetworkLimits::of(&limits);
            if wanted == network.in_force {
                continue;
            }
            if let Err(error) = self.network.limit(network, wanted) {
                self.troubles.warn("limits", format!("{id}: {error}"));
                continue;
            }
            network.in_force = wanted;
            container.history.push(now, reason);
            let written = self.actuator.audit.network_changed(id, reason, &limits);
            warnings::audit(&mut self.troubles, written);
        }
    }
}

pub(super) fn end(
    id: &ContainerId,
    container: &mut Container,
    all: &mut NodeNetwork,
    (audit, reason): (&mut Audit, Reason),
    troubles: &mut Once,
) {
    let network = container.network.as_ref();
    if network.is_some_and(|network| network.in_force != NetworkLimits::default()) {
        let written = audit.network_changed(id, reason, &Limits::default());
        warnings::audit(troubles, written);
    }
    forget(container, all, troubles);
}

fn forget(container: &mut Container, all: &mut NodeNetwork, troubles: &mut Once) {
    if let Some(network) = container.network.take()
        && let Err(error) = all.forget(network)
    {
        troubles.warn("limits", error);
    }
}

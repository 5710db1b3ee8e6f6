//! The network of containers: in which group each is counted, and what the plan limits of it.

use std::{io, path::PathBuf, time::Instant};

use elastane_protocol::Limits;

use super::{Agent, container::Container, limits::why_not_planned, node_network::NodeNetwork};
use crate::{
    audit::{Audit, Reason},
    cgroups::Controller,
    container_id::ContainerId,
    network::{AllCounters, EgressRate, GroupNetwork, ShaperError},
    once::Once,
    sensors::{Counted, Growth},
};

/// A class that is capped and has no weight gets this share of a contended link, in bytes per second.
const LEAST_SHARE_BYTES_PER_S: u64 = 256 * 1024;

/// One container's network; dropping it ends the counting.
#[derive(Debug)]
pub(super) struct ContainerNetwork {
    pub group: PathBuf,
    pub of_group: Box<dyn GroupNetwork>,
    received: Growth,
    sent: Growth,
    in_force: NetworkLimits,
    /// Why its counters could not be read, since somebody asked.
    pub failure: Option<io::Error>,
}

/// From where a container's counters are taken.
#[derive(Debug, Clone, Copy)]
pub(super) enum CountersNow<'a> {
    /// All were read together.
    Of(&'a AllCounters),
    /// They are read for the container alone.
    EachByItself,
    /// All were to be read together, which failed.
    Unreadable,
}

/// Bytes that were received and sent from one reading to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct NetworkGrowth {
    pub received_bytes: u64,
    pub sent_bytes: u64,
}

/// The plan's limits of the network alone.
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
    /// Adds this to what was counted otherwise.
    pub fn add_to(self, counted: &mut Counted) {
        counted.network_received_bytes += self.received_bytes;
        counted.network_sent_bytes += self.sent_bytes;
    }
}

impl ContainerNetwork {
    /// A network that is counted from now on.
    pub fn new(group: PathBuf, of_group: Box<dyn GroupNetwork>) -> Self {
        Self {
            group,
            of_group,
            received: Growth::from_zero(),
            sent: Growth::from_zero(),
            in_force: NetworkLimits::default(),
            failure: None,
        }
    }

    /// What the container received and sent since the reading before. Counters that cannot be read
    /// are nothing, and [`Self::failure`]: the rest of what it uses is read all the same.
    pub fn read(&mut self, counters: CountersNow<'_>) -> NetworkGrowth {
        let counters = match counters {
            CountersNow::Of(all) => Ok(all.of(self.of_group.slot())),
            CountersNow::EachByItself => self.of_group.counters(),
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

    /// Adds what is in force of the network.
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
            share_bytes_per_s: self.weight_bytes_per_s.unwrap_or(LEAST_SHARE_BYTES_PER_S),
            cap_bytes_per_s: self.cap_bytes_per_s,
        })
    }
}

impl Agent {
    /// Counts every container in the group that it has for that now.
    pub(super) fn count_networks(&mut self) {
        for (id, container) in &mut self.containers {
            let group = container.group(Controller::Network);
            let before = container.network.as_ref().map(|network| &network.group);
            // As bytes: comparing paths part by part costs ten times that, with each reading.
            if before.map(|group| group.as_os_str()) == group.map(|group| group.as_os_str()) {
                continue;
            }
            let group = group.cloned();
            forget(container, &mut self.network, &mut self.troubles);
            let counted = group.and_then(|group| self.network.attach(&group));
            match counted {
                Some(Ok(network)) => container.network = Some(network),
                Some(Err(error)) => {
                    let message = format!("{id}: {error}");
                    self.troubles.warn("networks not counted", message);
                }
                None => {}
            }
        }
    }

    /// Puts in force what the plan says about the network now.
    pub(super) fn limit_networks(&mut self, now: Instant) {
        let plan = self.plan.as_ref();
        for (id, container) in &mut self.containers {
            let Some(network) = &mut container.network else {
                continue;
            };
            let planned = plan.and_then(|plan| plan.limits_at(id, now));
            let reason = match planned {
                Some(_) => Reason::PlanStep,
                None => why_not_planned(plan, now),
            };
            let planned = planned.unwrap_or_default();
            let wanted = NetworkLimits::of(&planned);
            if wanted == network.in_force {
                continue;
            }
            if let Err(error) = self.network.limit(network, wanted) {
                self.troubles.warn("limits", format!("{id}: {error}"));
                continue;
            }
            network.in_force = wanted;
            container.history.push(now, reason);
            let audit = &mut self.actuator.audit;
            if let Err(error) = audit.network_changed(id, reason, &planned) {
                self.troubles.warn("audit", format!("audit file: {error}"));
            }
        }
    }
}

/// Ends the counting and limiting of a container that ends, or of all when the agent does.
pub(super) fn end(
    id: &ContainerId,
    container: &mut Container,
    all: &mut NodeNetwork,
    (audit, reason): (&mut Audit, Reason),
    troubles: &mut Once,
) {
    let network = container.network.as_ref();
    if network.is_some_and(|network| network.in_force != NetworkLimits::default())
        && let Err(error) = audit.network_changed(id, reason, &Limits::default())
    {
        troubles.warn("audit", format!("audit file: {error}"));
    }
    forget(container, all, troubles);
}

/// Ends the counting of a container.
fn forget(container: &mut Container, all: &mut NodeNetwork, troubles: &mut Once) {
    if let Some(network) = container.network.take()
        && let Err(error) = all.forget(network)
    {
        troubles.warn("limits", error);
    }
}

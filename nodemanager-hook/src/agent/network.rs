//! The network of containers: in which group each is counted, and what the plan limits of it.

use std::{
    io,
    path::{Path, PathBuf},
    time::Instant,
};

use elastane_protocol::Limits;

use super::{Agent, container::Container, limits::why_not_planned};
use crate::{
    audit::Reason,
    cgroups::Controller,
    config,
    network::{
        AllCounters, Device, EgressRate, GroupNetwork, Network, NetworkError, Shaper, ShaperError,
    },
    once::Once,
    samples::Counted,
    sensors::Growth,
};

/// A class that is capped and has no weight gets this share of a contended link, in bytes per second.
const LEAST_SHARE_BYTES_PER_S: u64 = 256 * 1024;

/// What the agent has for all containers.
#[derive(Debug, Default)]
pub(super) struct NodeNetwork {
    /// Nothing where it is not counted.
    counted: Option<Network>,
    shapers: Vec<Shaper>,
    devices: Vec<MeasuredDevice>,
}

#[derive(Debug)]
struct MeasuredDevice {
    device: Device,
    received: Growth,
    sent: Growth,
}

/// One container's network; dropping it ends the counting.
#[derive(Debug)]
pub(super) struct ContainerNetwork {
    group: PathBuf,
    counted: GroupNetwork,
    received: Growth,
    sent: Growth,
    in_force: NetworkLimits,
}

/// Bytes that were received and sent from one reading to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct NetworkGrowth {
    pub received_bytes: u64,
    pub sent_bytes: u64,
}

/// The plan's limits of the network alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct NetworkLimits {
    weight_bytes_per_s: Option<u64>,
    cap_bytes_per_s: Option<u64>,
}

/// Why a container's network is not limited as planned.
#[derive(Debug, thiserror::Error)]
enum NetworkLimitError {
    #[error("cannot change the limits of {}: {source}", group.display())]
    Group { group: PathBuf, source: io::Error },
    #[error(transparent)]
    Shaper(#[from] ShaperError),
}

impl NodeNetwork {
    /// Opens what the configuration and the host allow; what they do not is said once.
    /// `parent` is the group around the containers' groups, `link_bytes_per_s` the configured
    /// bandwidth.
    pub fn open(
        config: &config::Network,
        parent: Option<&Path>,
        link_bytes_per_s: Option<u64>,
    ) -> Self {
        let devices = devices(config);
        let measured = devices.iter().cloned().map(|device| MeasuredDevice {
            device,
            received: Growth::default(),
            sent: Growth::default(),
        });
        let mut network = Self {
            devices: measured.collect(),
            ..Self::default()
        };
        let Some(parent) = parent.filter(|_| config.measure) else {
            return network;
        };
        match open(parent) {
            Ok(counted) => network.counted = Some(counted),
            Err(error) => {
                log::warn!("the network of containers is neither measured nor limited: {error}");
                return network;
            }
        }
        if !config.devices.is_empty() {
            network.shapers = shapers(&devices, link_bytes_per_s);
        }
        network
    }

    /// Whether containers are counted, and what they receive can be limited.
    pub fn is_counted(&self) -> bool {
        self.counted.is_some()
    }

    /// Whether what they send can be limited.
    pub fn is_shaped(&self) -> bool {
        !self.shapers.is_empty()
    }

    /// The counters of all containers now; nothing where they are not counted.
    ///
    /// # Errors
    /// Those of reading the counters.
    pub fn read_containers(&self) -> io::Result<Option<AllCounters>> {
        self.counted.as_ref().map(Network::read).transpose()
    }

    /// What went over the node's devices since the reading before.
    pub fn read(&mut self) -> io::Result<NetworkGrowth> {
        let mut growth = NetworkGrowth::default();
        for one in &mut self.devices {
            let counters = one.device.counters()?;
            growth.received_bytes += one.received.advance(counters.received_bytes);
            growth.sent_bytes += one.sent.advance(counters.sent_bytes);
        }
        Ok(growth)
    }

    /// Takes everything off that the agent has put on the devices.
    pub fn restore(&mut self) -> Vec<ShaperError> {
        self.counted = None;
        let shapers = std::mem::take(&mut self.shapers).into_iter();
        shapers
            .filter_map(|shaper| shaper.restore().err())
            .collect()
    }

    /// The detected bandwidth of the node's devices; 0 where one of them does not say.
    pub fn link_bytes_per_s(&self) -> u64 {
        let speeds = self.devices.iter().map(|one| one.device.link_bytes_per_s());
        let speeds: Option<Vec<u64>> = speeds.map(|speed| speed.ok().flatten()).collect();
        speeds.unwrap_or_default().iter().sum()
    }

    fn attach(&self, group: &Path) -> Option<Result<ContainerNetwork, NetworkError>> {
        let counted = self.counted.as_ref()?.attach(group);
        Some(counted.map(|counted| ContainerNetwork {
            group: group.into(),
            counted,
            received: Growth::from_zero(),
            sent: Growth::from_zero(),
            in_force: NetworkLimits::default(),
        }))
    }

    /// Takes a container's classes off the devices.
    fn forget(&mut self, network: ContainerNetwork) -> Result<(), ShaperError> {
        let class = network.counted.egress_class();
        for shaper in &mut self.shapers {
            shaper.remove(class)?;
        }
        Ok(())
    }

    fn limit(
        &mut self,
        network: &mut ContainerNetwork,
        wanted: NetworkLimits,
    ) -> Result<(), NetworkLimitError> {
        let failed = |source| NetworkLimitError::Group {
            group: network.group.clone(),
            source,
        };
        let counted = &mut network.counted;
        counted
            .set_receive_rate(wanted.cap_bytes_per_s)
            .map_err(failed)?;
        let class = counted.egress_class();
        let rate = wanted.egress_rate();
        for shaper in &mut self.shapers {
            match rate {
                Some(rate) => shaper.change(class, rate)?,
                None => shaper.remove(class)?,
            }
        }
        let is_shaped = rate.is_some() && !self.shapers.is_empty();
        counted
            .set_priority(is_shaped.then(|| class.priority()))
            .map_err(failed)?;
        network.in_force = wanted;
        Ok(())
    }
}

impl NetworkGrowth {
    /// Adds this to what was counted otherwise.
    pub fn add_to(self, counted: &mut Counted) {
        counted.network_received_bytes += self.received_bytes;
        counted.network_sent_bytes += self.sent_bytes;
    }
}

impl ContainerNetwork {
    /// What the container received and sent since the reading before; from the counters of all
    /// where those were read.
    ///
    /// # Errors
    /// Those of reading the counters.
    pub fn read(&mut self, all: Option<&AllCounters>) -> io::Result<NetworkGrowth> {
        let counters = match all {
            Some(all) => all.of(&self.counted),
            None => self.counted.counters()?,
        };
        Ok(NetworkGrowth {
            received_bytes: self.received.advance(counters.received_bytes),
            sent_bytes: self.sent.advance(counters.sent_bytes),
        })
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

    fn egress_rate(self) -> Option<EgressRate> {
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
            container.history.push(now, reason);
            let audit = &mut self.actuator.audit;
            if let Err(error) = audit.network_changed(id, reason, &planned) {
                self.troubles.warn("audit", format!("audit file: {error}"));
            }
        }
    }
}

/// Ends the counting of a container.
pub(super) fn forget(container: &mut Container, all: &mut NodeNetwork, troubles: &mut Once) {
    if let Some(network) = container.network.take()
        && let Err(error) = all.forget(network)
    {
        troubles.warn("limits", error);
    }
}

fn open(parent: &Path) -> Result<Network, NetworkError> {
    let network = Network::open()?;
    if network.mechanism() == crate::network::Mechanism::Program {
        let removed = crate::network::remove_leftovers(parent)?;
        if removed > 0 {
            log::info!("{removed} BPF programs of a killed agent are detached");
        }
    }
    Ok(network)
}

/// The configured devices, or else the one of the default route.
fn devices(config: &config::Network) -> Vec<Device> {
    let configured = config.devices.iter().filter_map(|name| name.parse().ok());
    let configured: Vec<Device> = configured.collect();
    if !configured.is_empty() {
        return configured;
    }
    Device::of_default_route()
        .unwrap_or_else(|error| {
            log::warn!("the node's network is not measured: {error}");
            None
        })
        .into_iter()
        .collect()
}

/// One that cannot be shaped is said and left out.
fn shapers(devices: &[Device], link_bytes_per_s: Option<u64>) -> Vec<Shaper> {
    let shaper = |device: &Device| {
        let speed = || device.link_bytes_per_s().ok().flatten();
        let name = device.name();
        let Some(link) = link_bytes_per_s.or_else(speed) else {
            log::warn!(
                "network.devices: what goes out over {name} is not limited: its speed is not \
                 known, set capacity.network_bytes_per_s"
            );
            return None;
        };
        Shaper::prepare(device, link)
            .map_err(|error| {
                log::warn!("network.devices: what goes out over {name} is not limited: {error}");
            })
            .ok()
    };
    devices.iter().filter_map(shaper).collect()
}

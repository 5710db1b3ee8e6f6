//! The node's network: the backend that counts and limits the containers' groups, and the shaped
//! devices.

mod devices;

use std::{io, iter, time::Instant};

use elastane_protocol::Limits;

pub use self::devices::{choose, link_bytes_per_s};
use self::devices::{measured_devices, put_back, remember, shapers};
use super::{
    container::{ContainerNetwork, Containers, NodeContainer},
    host::Host,
};
use crate::{
    audit::{Audit, Reason},
    cgroups::Controller,
    config,
    container_id::ContainerId,
    journal::{Journal, NetworkMade},
    network::{AllCounters, Backend, ChosenBackend, EgressRate, NetworkDevice, Networks, Shaper},
    sensors::{Counted, Growth},
    troubles::Troubles,
};

/// The share of a contended link for a class with a cap but no weight.
const MIN_SHARE_BYTES_PER_S: u64 = 256 * 1024;

#[derive(Debug, Default)]
pub(super) struct NodeNetwork {
    /// None if the network is neither counted nor limited.
    backend: Option<Box<dyn Networks>>,
    shapers: Vec<Shaper>,
    devices: Vec<MeasuredDevice>,
    troubles: Troubles,
}

#[derive(Debug)]
struct MeasuredDevice {
    device: NetworkDevice,
    received: Growth,
    sent: Growth,
}

impl NodeNetwork {
    /// Opens the chosen backend, and removes the leftovers of a killed agent.
    pub fn open(
        config: &config::Network,
        chosen: Option<ChosenBackend>,
        can_make_groups: bool,
        link_bytes_per_s: Option<u64>,
        journal: &mut Journal,
        troubles: Troubles,
    ) -> Self {
        let stays = put_back(journal, iter::empty());
        let devices = measured_devices(config);
        let measured = devices.iter().cloned().map(|device| MeasuredDevice {
            device,
            received: Growth::default(),
            sent: Growth::default(),
        });
        let mut network = Self { devices: measured.collect(), troubles, ..Self::default() };
        let Some(chosen) = chosen.filter(|_| can_make_groups) else {
            return network;
        };
        if stays.has_nft_table && chosen.backend() == Backend::Nft {
            // If that hangs, it may still remove the next table at any time.
            log::warn!("the network of containers is neither measured nor limited");
            return network;
        }
        let has_nft_table = stays.has_nft_table || chosen.backend() == Backend::Nft;
        let shaped = config.devices.iter().cloned().chain(stays.devices).collect();
        remember(journal, NetworkMade { devices: shaped, has_nft_table });
        match chosen.open() {
            Ok(groups) => network.backend = Some(groups),
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

    /// Whether containers' traffic is counted and their incoming traffic can be limited.
    pub fn is_counted(&self) -> bool {
        self.backend.as_ref().is_some_and(|groups| groups.counts())
    }

    /// Whether containers' outgoing traffic can be limited.
    pub fn is_shaped(&self) -> bool {
        !self.shapers.is_empty()
    }

    /// The counters of all containers, or None if the network is not counted or not readable.
    pub fn counters(&self) -> Option<AllCounters> {
        let read = self.backend.as_ref()?.read();
        self.troubles.check("networks not read", read)
    }

    /// The traffic of the node's devices since the last reading.
    pub fn read(&mut self) -> io::Result<Counted> {
        let mut growth = Counted::default();
        for one in &mut self.devices {
            let counters = one.device.counters()?;
            growth.network_received_bytes += one.received.advance(counters.received_bytes);
            growth.network_sent_bytes += one.sent.advance(counters.sent_bytes);
        }
        Ok(growth)
    }

    /// Removes the agent's queueing disciplines and rules. Returns how many stay.
    pub fn restore(&mut self, journal: &mut Journal) -> usize {
        self.backend = None;
        let shapers = std::mem::take(&mut self.shapers);
        let stays = put_back(journal, shapers.iter().map(Shaper::device));
        let left = stays.devices.len() + usize::from(stays.has_nft_table);
        if left > 0 {
            self.troubles.warn("network", format!("{left} changes to the network stay"));
        }
        left
    }

    /// Counts every container in its present group.
    pub fn count(&mut self, containers: &mut Containers) {
        for (id, container) in containers {
            let place = container.places.get(&Controller::Network);
            let group = place.map(|place| &place.group);
            let before = container.network.as_ref().map(|network| &network.group);
            // As bytes: comparing paths by component costs ten times more, with each reading.
            if before.map(|group| group.as_os_str()) == group.map(|group| group.as_os_str()) {
                continue;
            }
            if let Some(former) = container.network.take() {
                self.forget(&former);
            }
            let Some((backend, group)) = self.backend.as_ref().zip(group) else {
                continue;
            };
            let attached = backend.attach(group);
            let attached = self.troubles.check_of("networks not counted", id, attached);
            container.network = attached.map(|one| ContainerNetwork::new(group.clone(), one));
        }
    }

    /// Ends the counting and the limits of a container's network.
    pub fn end(
        &mut self,
        id: &ContainerId,
        container: &mut NodeContainer,
        reason: Reason,
        audit: &mut Audit,
    ) {
        if let Some(network) = container.network.take() {
            if network.in_force != Limits::default() {
                audit.network_changed(id, reason, &Limits::default());
            }
            self.forget(&network);
        }
    }

    /// Removes a container's classes from the devices.
    fn forget(&mut self, network: &ContainerNetwork) {
        let removed = self.change_class(network, None);
        self.troubles.check("limits", removed);
    }

    /// Puts the planned limits in force for all containers.
    pub fn follow_plan(&mut self, host: &mut Host, now: Instant) {
        let Host { containers, plan, actuator, .. } = host;
        for (id, container) in containers {
            let Some(network) = &mut container.network else {
                continue;
            };
            let (limits, reason) = plan.wanted(id, now);
            let wanted = Limits {
                network_weight_bytes_per_s: limits.network_weight_bytes_per_s,
                network_cap_bytes_per_s: limits.network_cap_bytes_per_s,
                ..Limits::default()
            };
            if wanted == network.in_force {
                continue;
            }
            let changed = self.limit(network, &wanted);
            if self.troubles.check_of("limits", id, changed).is_some() {
                network.in_force = wanted;
                actuator.audit.network_changed(id, reason, &wanted);
            }
        }
    }

    /// Puts the network's part of limits in force for a container. After an error, a part may be in
    /// force.
    fn limit(&mut self, network: &mut ContainerNetwork, wanted: &Limits) -> Result<(), String> {
        let group = network.group.display().to_string();
        let failed = |error| format!("cannot change the limits of {group}: {error}");
        let cap_bytes_per_s = wanted.network_cap_bytes_per_s;
        if self.is_counted() {
            network.group_network.set_receive_rate(cap_bytes_per_s).map_err(failed)?;
        }
        let share_bytes_per_s = wanted.network_weight_bytes_per_s;
        let is_limited = share_bytes_per_s.is_some() || cap_bytes_per_s.is_some();
        let rate = is_limited.then_some(EgressRate {
            share_bytes_per_s: share_bytes_per_s.unwrap_or(MIN_SHARE_BYTES_PER_S),
            cap_bytes_per_s,
        });
        self.change_class(network, rate)?;
        let is_shaped = is_limited && self.is_shaped();
        let class = network.group_network.egress_class();
        let priority = is_shaped.then(|| class.priority());
        network.group_network.set_priority(priority).map_err(failed)
    }

    /// Sets the rates of a container's class on all devices, or removes the class.
    fn change_class(
        &mut self,
        network: &ContainerNetwork,
        rate: Option<EgressRate>,
    ) -> Result<(), String> {
        let class = network.group_network.egress_class();
        let all_bytes_per_s: u64 = self.shapers.iter().map(Shaper::link_bytes_per_s).sum();
        for shaper in &mut self.shapers {
            let part = shaper.link_bytes_per_s() as f64 / all_bytes_per_s as f64;
            let changed = match rate {
                Some(rate) => shaper.change(class, of_device(rate, part)),
                None => shaper.remove(class),
            };
            changed.map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// A share is split in proportion to the devices' speeds. The cap holds for each device, since all
/// traffic may leave by one.
fn of_device(rate: EgressRate, part: f64) -> EgressRate {
    EgressRate { share_bytes_per_s: (rate.share_bytes_per_s as f64 * part) as u64, ..rate }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_gets_its_part_of_the_share_and_the_whole_cap() {
        let rate = EgressRate { share_bytes_per_s: 90, cap_bytes_per_s: Some(120) };
        let third = EgressRate { share_bytes_per_s: 30, cap_bytes_per_s: Some(120) };
        assert_eq!(of_device(rate, 1.0 / 3.0), third);
    }
}

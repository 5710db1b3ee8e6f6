//! The node's network: the backend that counts and limits the containers' groups, and the shaped
//! devices.

use std::{collections::BTreeSet, io, path::Path};

use elastane_protocol::Limits;
use nix::unistd::geteuid;

use super::container_network::ContainerNetwork;
use crate::{
    cgroups::Hierarchies,
    config,
    journal::{Journal, NetworkMade},
    network::{self, AllCounters, Backend, Chosen, EgressRate, NetworkDevice, Networks, Shaper},
    sensors::{Counted, Growth},
};

/// The share of a contended link for a class with a cap but no weight.
const MIN_SHARE_BYTES_PER_S: u64 = 256 * 1024;

#[derive(Debug, Default)]
pub(super) struct NodeNetwork {
    /// None if the network is neither counted nor limited.
    backend: Option<Box<dyn Networks>>,
    shapers: Vec<Shaper>,
    devices: Vec<MeasuredDevice>,
}

#[derive(Debug)]
struct MeasuredDevice {
    device: NetworkDevice,
    received: Growth,
    sent: Growth,
}

impl NodeNetwork {
    /// Opens the chosen backend, and removes the leftovers of a killed agent. `parent` is the parent
    /// of the containers' groups, or None if it could not be made.
    pub fn open(
        config: &config::Network,
        chosen: Option<Chosen>,
        parent: Option<&Path>,
        link_bytes_per_s: Option<u64>,
        journal: &mut Journal,
    ) -> Self {
        put_back_left_behind(journal);
        let devices = measured_devices(config);
        let measured = devices.iter().cloned().map(|device| MeasuredDevice {
            device,
            received: Growth::default(),
            sent: Growth::default(),
        });
        let mut network = Self { devices: measured.collect(), ..Self::default() };
        let (Some(chosen), Some(_)) = (chosen, parent) else {
            return network;
        };
        let mut made = NetworkMade {
            devices: BTreeSet::new(),
            has_nft_table: chosen.backend() == Backend::Nft,
        };
        remember(journal, made.clone());
        match chosen.open() {
            Ok(groups) => network.backend = Some(groups),
            Err(error) => {
                log::warn!("the network of containers is neither measured nor limited: {error}");
                return network;
            }
        }
        if !config.devices.is_empty() {
            made.devices.extend(config.devices.iter().cloned());
            remember(journal, made);
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

    /// The counters of all containers, or None if the network is not counted.
    pub fn read_containers(&self) -> io::Result<Option<AllCounters>> {
        let read = self.backend.as_ref().map(|groups| groups.read());
        read.transpose()
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

    /// Removes the agent's queueing disciplines from the devices. Returns the failures.
    pub fn restore(&mut self, journal: &mut Journal) -> Vec<String> {
        self.backend = None;
        let shapers = std::mem::take(&mut self.shapers).into_iter();
        let failed = shapers.filter_map(|shaper| shaper.restore().err());
        let failed: Vec<String> = failed.map(|error| error.to_string()).collect();
        if failed.is_empty() {
            remember(journal, NetworkMade::default());
        }
        failed
    }

    /// The detected bandwidth of the node's devices, or 0 if that of one is unknown.
    pub fn link_bytes_per_s(&self) -> u64 {
        let speeds = self.devices.iter().map(|one| one.device.link_bytes_per_s());
        let speeds: Option<Vec<u64>> = speeds.map(|speed| speed.ok().flatten()).collect();
        speeds.unwrap_or_default().iter().sum()
    }

    /// Begins to count a group. None without a backend.
    pub fn attach(&self, group: &Path) -> Option<Result<ContainerNetwork, String>> {
        let attached = self.backend.as_ref()?.attach(group);
        let attached = attached.map(|network| ContainerNetwork::new(group.into(), network));
        Some(attached.map_err(|error| error.to_string()))
    }

    /// Removes a container's classes from the devices.
    pub fn forget(&mut self, network: ContainerNetwork) -> Result<(), String> {
        self.change_class(&network, None)
    }

    /// Puts the network's part of limits in force for a container. After an error, a part may be in
    /// force.
    pub fn limit(&mut self, network: &mut ContainerNetwork, wanted: &Limits) -> Result<(), String> {
        let group = network.group.display().to_string();
        let failed = |error| format!("cannot change the limits of {group}: {error}");
        let cap_bytes_per_s = wanted.network_cap_bytes_per_s;
        if self.is_counted() {
            let received = network.group_network.set_receive_rate(cap_bytes_per_s);
            received.map_err(failed)?;
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

/// Chooses the backend for this host, and logs the backends that do not work.
pub(super) fn choose(config: &config::Network, hierarchies: &Hierarchies) -> Option<Chosen> {
    if !config.measure || !geteuid().is_root() {
        return None;
    }
    let (chosen, passed_over) =
        Backend::choose(config.backend, hierarchies, &config.parsed_devices());
    match &chosen {
        None => {
            log::warn!("the network of containers is neither measured nor limited: {passed_over}")
        }
        Some(chosen) if !passed_over.is_empty() => {
            let backend = chosen.backend();
            log::warn!("containers' network is counted by {backend} instead of {passed_over}");
        }
        Some(_) => {}
    }
    chosen
}

/// Removes what the journal names, whether or not the configuration still does.
fn put_back_left_behind(journal: &mut Journal) {
    let made = journal.network().clone();
    let devices = made.devices.iter().filter_map(|name| name.parse().ok());
    for device in devices.collect::<Vec<NetworkDevice>>() {
        match network::restore(&device) {
            Ok(true) => log::info!("{}: removed a killed agent's root qdisc", device.name()),
            Ok(false) => {}
            Err(error) => log::warn!("a killed agent's root qdisc stays: {error}"),
        }
    }
    if made.has_nft_table {
        match network::remove_nft_table() {
            Ok(()) => log::info!("removed a killed agent's nft table"),
            Err(error) => log::warn!("a killed agent's nft table stays: {error}"),
        }
    }
    remember(journal, NetworkMade::default());
}

/// If the journal cannot be written, the network is limited all the same.
fn remember(journal: &mut Journal, made: NetworkMade) {
    if let Err(error) = journal.set_network(made) {
        log::warn!("changes to the network would not be restored after a crash: {error}");
    }
}

/// The configured devices, or else the default route's device.
fn measured_devices(config: &config::Network) -> Vec<NetworkDevice> {
    let mut devices = config.parsed_devices();
    if devices.is_empty() {
        match NetworkDevice::of_default_route() {
            Ok(device) => devices.extend(device),
            Err(error) => log::warn!("the node's network is not measured: {error}"),
        }
    }
    devices
}

/// Logs and skips a device that cannot be shaped. `node_bytes_per_s` is the configured speed of all
/// devices together.
fn shapers(devices: &[NetworkDevice], node_bytes_per_s: Option<u64>) -> Vec<Shaper> {
    let detected = devices.iter().map(|one| one.link_bytes_per_s().ok().flatten());
    let speeds = speeds(&detected.collect::<Vec<_>>(), node_bytes_per_s);
    let shaper = |(device, speed): (&NetworkDevice, Option<u64>)| {
        let unknown = || "its speed is unknown, set capacity.network_bytes_per_s".to_owned();
        let shaper = speed.ok_or_else(unknown).and_then(|link_bytes_per_s| {
            Shaper::prepare(device, link_bytes_per_s).map_err(|error| error.to_string())
        });
        let name = device.name();
        let failed = |error: &String| {
            log::warn!("network.devices: outgoing traffic of {name} is not limited: {error}");
        };
        shaper.inspect_err(failed).ok()
    };
    devices.iter().zip(speeds).filter_map(shaper).collect()
}

/// The speed of each device. A configured total is split in proportion to the detected speeds, or
/// evenly if one of them is unknown.
fn speeds(detected: &[Option<u64>], node_bytes_per_s: Option<u64>) -> Vec<Option<u64>> {
    let Some(node) = node_bytes_per_s else {
        return detected.to_vec();
    };
    let known: Option<Vec<u64>> = detected.iter().copied().collect();
    let parts = known.unwrap_or_else(|| vec![1; detected.len()]);
    let all: u128 = parts.iter().copied().map(u128::from).sum();
    let of_node = |part: u64| (u128::from(node) * u128::from(part) / all.max(1)) as u64;
    parts.into_iter().map(|part| Some(of_node(part))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configured_speed_is_that_of_all_devices_together() {
        assert_eq!(speeds(&[None], Some(90)), [Some(90)]);
        assert_eq!(speeds(&[Some(100), Some(200)], Some(90)), [Some(30), Some(60)]);
        assert_eq!(speeds(&[Some(100), None], Some(90)), [Some(45), Some(45)]);
        assert_eq!(speeds(&[Some(100), None], None), [Some(100), None]);
    }

    #[test]
    fn a_device_gets_its_part_of_the_share_and_the_whole_cap() {
        let rate = EgressRate { share_bytes_per_s: 90, cap_bytes_per_s: Some(120) };
        let third = EgressRate { share_bytes_per_s: 30, cap_bytes_per_s: Some(120) };
        assert_eq!(of_device(rate, 1.0 / 3.0), third);
    }
}

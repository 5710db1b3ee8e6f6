//! What the agent has for the networks of all containers: the backend that counts and limits them,
//! and the devices that are shaped.

use std::{collections::BTreeSet, io, path::Path};

use nix::unistd::geteuid;

use super::network::{ContainerNetwork, NetworkGrowth, NetworkLimitError, NetworkLimits};
use crate::{
    cgroups::Hierarchies,
    config,
    journal::{Journal, NetworkMade},
    network::{
        self, AllCounters, Backend, Chosen, Device, EgressRate, NetworkError, Networks, Shaper,
        ShaperError,
    },
    sensors::Growth,
};

/// What the agent has for all containers.
#[derive(Debug, Default)]
pub(super) struct NodeNetwork {
    /// Nothing where it is neither counted nor limited.
    groups: Option<Box<dyn Networks>>,
    shapers: Vec<Shaper>,
    devices: Vec<MeasuredDevice>,
}

#[derive(Debug)]
struct MeasuredDevice {
    device: Device,
    received: Growth,
    sent: Growth,
}

impl NodeNetwork {
    /// Opens what was chosen for this host, and takes away what a killed agent left. `parent` is the
    /// group around the containers' groups, nothing where none could be made.
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
        let mut network = Self {
            devices: measured.collect(),
            ..Self::default()
        };
        let (Some(chosen), Some(parent)) = (chosen, parent) else {
            return network;
        };
        let mut made = NetworkMade {
            devices: BTreeSet::new(),
            has_nft_table: chosen.backend() == Backend::Nft,
        };
        remember(journal, made.clone());
        match chosen.open(parent) {
            Ok(groups) => network.groups = Some(groups),
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

    /// Whether containers are counted, and what they receive can be limited.
    pub fn is_counted(&self) -> bool {
        self.groups.as_ref().is_some_and(|groups| groups.counts())
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
        self.groups.as_ref().map(|groups| groups.read()).transpose()
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
    pub fn restore(&mut self, journal: &mut Journal) -> Vec<ShaperError> {
        self.groups = None;
        let shapers = std::mem::take(&mut self.shapers).into_iter();
        let failed: Vec<ShaperError> = shapers
            .filter_map(|shaper| shaper.restore().err())
            .collect();
        if failed.is_empty() {
            remember(journal, NetworkMade::default());
        }
        failed
    }

    /// The detected bandwidth of the node's devices; 0 where one of them does not say.
    pub fn link_bytes_per_s(&self) -> u64 {
        let speeds = self.devices.iter().map(|one| one.device.link_bytes_per_s());
        let speeds: Option<Vec<u64>> = speeds.map(|speed| speed.ok().flatten()).collect();
        speeds.unwrap_or_default().iter().sum()
    }

    /// Begins to count a group; nothing where none is counted or limited.
    pub fn attach(&self, group: &Path) -> Option<Result<ContainerNetwork, NetworkError>> {
        let attached = self.groups.as_ref()?.attach(group);
        Some(attached.map(|of_group| ContainerNetwork::new(group.into(), of_group)))
    }

    /// Takes a container's classes off the devices.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn forget(&mut self, network: ContainerNetwork) -> Result<(), ShaperError> {
        let class = network.of_group.egress_class();
        for shaper in &mut self.shapers {
            shaper.remove(class)?;
        }
        Ok(())
    }

    /// Puts limits in force for a container.
    ///
    /// # Errors
    /// What the kernel refuses; a part may be in force.
    pub fn limit(
        &mut self,
        network: &mut ContainerNetwork,
        wanted: NetworkLimits,
    ) -> Result<(), NetworkLimitError> {
        let failed = |source| NetworkLimitError::Group {
            group: network.group.clone(),
            source,
        };
        let limits_received = self.is_counted();
        let of_group = &mut network.of_group;
        if limits_received {
            of_group
                .set_receive_rate(wanted.cap_bytes_per_s)
                .map_err(failed)?;
        }
        let class = of_group.egress_class();
        let rate = wanted.egress_rate();
        let all_bytes_per_s: u64 = self.shapers.iter().map(Shaper::link_bytes_per_s).sum();
        for shaper in &mut self.shapers {
            match rate {
                Some(rate) => {
                    let part = shaper.link_bytes_per_s() as f64 / all_bytes_per_s as f64;
                    shaper.change(class, of_device(rate, part))?;
                }
                None => shaper.remove(class)?,
            }
        }
        let is_shaped = rate.is_some() && !self.shapers.is_empty();
        of_group
            .set_priority(is_shaped.then(|| class.priority()))
            .map_err(failed)
    }
}

/// A share of the node is one of each device, by the part that the device is of all. What is sent may
/// leave by one device alone: the cap is each one's.
fn of_device(rate: EgressRate, part: f64) -> EgressRate {
    EgressRate {
        share_bytes_per_s: (rate.share_bytes_per_s as f64 * part) as u64,
        ..rate
    }
}

/// What to measure and limit containers' networks by on this host; what does not work is said once.
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
            log::warn!("the network of containers: {backend} is used instead of {passed_over}");
        }
        Some(_) => {}
    }
    chosen
}

/// Removes what the journal names, whether or not the configuration still does.
fn put_back_left_behind(journal: &mut Journal) {
    let made = journal.network().clone();
    let devices = made.devices.iter().filter_map(|name| name.parse().ok());
    for device in devices.collect::<Vec<Device>>() {
        match network::restore(&device) {
            Ok(true) => log::info!("{}: the root of a killed agent is removed", device.name()),
            Ok(false) => {}
            Err(error) => log::warn!("left behind by a killed agent: {error}"),
        }
    }
    if made.has_nft_table {
        match network::remove_nft_table() {
            Ok(()) => log::info!("the nft table of a killed agent is removed"),
            Err(error) => log::warn!("left behind by a killed agent: {error}"),
        }
    }
    remember(journal, NetworkMade::default());
}

/// A journal that cannot be written is no reason to do without.
fn remember(journal: &mut Journal, made: NetworkMade) {
    if let Err(error) = journal.set_network(made) {
        log::warn!("what is made of the network is not put back after a crash: {error}");
    }
}

/// The configured devices, or else the one of the default route.
fn measured_devices(config: &config::Network) -> Vec<Device> {
    let configured = config.parsed_devices();
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

/// One that cannot be shaped is said and left out. `node_bytes_per_s` is configured for all
/// together.
fn shapers(devices: &[Device], node_bytes_per_s: Option<u64>) -> Vec<Shaper> {
    let detected: Vec<Option<u64>> = devices
        .iter()
        .map(|device| device.link_bytes_per_s().ok().flatten())
        .collect();
    let shaper = |(device, speed): (&Device, Option<u64>)| {
        let name = device.name();
        let Some(link) = speed else {
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
    let speeds = speeds(&detected, node_bytes_per_s);
    devices.iter().zip(speeds).filter_map(shaper).collect()
}

/// The speed of each device: what is configured for all, in proportion to what they say of
/// themselves, or evenly where one does not say.
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
    fn what_is_configured_is_of_all_devices_together() {
        assert_eq!(speeds(&[None], Some(90)), [Some(90)]);
        assert_eq!(
            speeds(&[Some(100), Some(200)], Some(90)),
            [Some(30), Some(60)]
        );
        assert_eq!(speeds(&[Some(100), None], Some(90)), [Some(45), Some(45)]);
        assert_eq!(speeds(&[Some(100), None], None), [Some(100), None]);
    }

    #[test]
    fn a_device_has_its_part_of_a_share_and_all_of_a_cap() {
        let rate = EgressRate {
            share_bytes_per_s: 90,
            cap_bytes_per_s: Some(120),
        };
        let third = EgressRate {
            share_bytes_per_s: 30,
            cap_bytes_per_s: Some(120),
        };
        assert_eq!(of_device(rate, 1.0 / 3.0), third);
    }
}

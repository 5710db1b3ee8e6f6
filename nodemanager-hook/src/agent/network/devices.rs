//! What the node's network begins with, the backend and the devices, and what is put back in the end or after a kill.

use nix::unistd::geteuid;

use crate::{
    cgroups::Hierarchies,
    config,
    journal::{Journal, NetworkMade},
    network::{self, Backend, ChosenBackend, NetworkDevice, Shaper},
};

/// Chooses the backend for this host, and logs the backends that do not work.
pub fn choose(config: &config::Network, hierarchies: &Hierarchies) -> Option<ChosenBackend> {
    if !config.measure || !geteuid().is_root() {
        return None;
    }
    let (chosen, passed_over) = Backend::choose(config.backend, hierarchies, &config.devices);
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

/// Removes what the journal names, whether or not the configuration still does, and the roots of `shaped` devices, which the
/// journal does not name if it could not be written. Returns what stays, which the journal keeps.
pub(super) fn put_back<'a>(
    journal: &mut Journal,
    shaped: impl Iterator<Item = &'a NetworkDevice>,
) -> NetworkMade {
    let mut made = journal.network().clone();
    made.devices.extend(shaped.cloned());
    let mut stays = NetworkMade::default();
    for device in made.devices {
        match network::restore(&device) {
            Ok(true) => log::info!("{}: removed the agent's root qdisc", device.name()),
            Ok(false) => {}
            Err(error) => {
                log::warn!("the agent's root qdisc stays: {error}");
                stays.devices.insert(device);
            }
        }
    }
    if made.has_nft_table {
        match network::remove_nft_table() {
            Ok(()) => log::info!("removed the agent's nft table"),
            Err(error) => {
                log::warn!("the agent's nft table stays: {error}");
                stays.has_nft_table = true;
            }
        }
    }
    remember(journal, stays.clone());
    stays
}

/// If the journal cannot be written, the network is limited all the same.
pub(super) fn remember(journal: &mut Journal, made: NetworkMade) {
    if let Err(error) = journal.set_network(made) {
        log::warn!("changes to the network would not be restored after a crash: {error}");
    }
}

/// The configured devices, or else the default route's device.
pub(super) fn measured_devices(config: &config::Network) -> Vec<NetworkDevice> {
    let mut devices = config.devices.clone();
    if devices.is_empty() {
        match NetworkDevice::of_default_route() {
            Ok(device) => devices.extend(device),
            Err(error) => log::warn!("the node's network is not measured: {error}"),
        }
    }
    devices
}

/// The detected bandwidth of the measured devices together. None if that of one is unknown.
pub fn link_bytes_per_s(config: &config::Network) -> Option<u64> {
    let devices = measured_devices(config);
    let speeds: Vec<u64> = devices.iter().map(detected_bytes_per_s).collect::<Option<_>>()?;
    (!speeds.is_empty()).then(|| speeds.iter().sum())
}

fn detected_bytes_per_s(device: &NetworkDevice) -> Option<u64> {
    device.link_bytes_per_s().ok().flatten()
}

/// Logs and skips a device that cannot be shaped. `node_bytes_per_s` is the configured speed of all
/// devices together.
pub(super) fn shapers(devices: &[NetworkDevice], node_bytes_per_s: Option<u64>) -> Vec<Shaper> {
    let detected: Vec<Option<u64>> = devices.iter().map(detected_bytes_per_s).collect();
    let speeds = speeds(&detected, node_bytes_per_s);
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
}

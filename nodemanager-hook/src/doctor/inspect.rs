//! Reads the facts about this host.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::Path,
};

use nix::unistd::geteuid;

use super::{host::Host, moves};
use crate::{
    agent::link_bytes_per_s,
    cgroups::{Hierarchies, NetworkGroups, systemd_runs},
    config::{self, Config},
    network::{Backend, NetworkDevice, Shaper},
    sensors::{CpuWaits, Device, Disks, ProcFs, pressure},
};

pub fn inspect(config: &Config) -> io::Result<Host> {
    let proc = ProcFs::new(Path::new("/proc"));
    let mountinfo = fs::read_to_string(proc.path("self/mountinfo"))?;
    let disks = Disks::new(Path::new("/sys"));
    let behind =
        |directory: &Path| disks.behind(directory, &mountinfo).map_err(|error| error.to_string());
    let local_dirs = config.disk.local_dirs.iter();
    let local_dirs = local_dirs.map(|one| (one.display().to_string(), behind(one)));
    let local_dirs: Vec<(String, Result<Device, String>)> = local_dirs.collect();
    let detected_disk_speed = || {
        let found = local_dirs.iter().map(|(_, disk)| disk.clone().ok());
        let found: BTreeSet<Device> = found.collect::<Option<_>>()?;
        let found: Vec<Device> = found.into_iter().collect();
        disks.bytes_per_s(&found, &fs::read_to_string(proc.path("cpuinfo")).ok()?)
    };
    let (capacity, network) = (config.capacity, &config.network);
    let mut hierarchies = Hierarchies::of_this_host(&mountinfo);
    let (backend, network_lacks) = backend(network, &hierarchies);
    hierarchies.serve_network(backend.map(|(_, groups)| groups));
    let link_speed = capacity.network_bytes_per_s;
    let is_root = geteuid().is_root();
    let parent = &config.cgroup.parent;
    let moves_refused = match is_root {
        true => moves::refused(&hierarchies, parent, systemd_runs(), &proc),
        false => BTreeMap::new(),
    };
    Ok(Host {
        is_root,
        hierarchies,
        moves_refused,
        disk_bytes_per_s: capacity.disk_bytes_per_s.or_else(detected_disk_speed),
        network_bytes_per_s: link_speed.or_else(|| link_bytes_per_s(network)),
        local_dirs,
        network: backend,
        network_lacks,
        network_devices: network.devices.iter().map(check).collect(),
        jvm: config.jvm,
        has_pressure: pressure(&proc).is_some(),
        waits_lack: CpuWaits::open().err().map(|error| error.to_string()),
    })
}

/// The backend for containers' network, and why the better ones do not work.
fn backend(
    config: &config::Network,
    hierarchies: &Hierarchies,
) -> (Option<(Backend, NetworkGroups)>, Option<String>) {
    if !config.measure {
        return (None, Some("set network.measure = true".into()));
    }
    let (chosen, passed_over) = Backend::choose(config.backend, hierarchies, &config.devices);
    let lacks = (!passed_over.is_empty()).then_some(passed_over);
    let network = chosen.map(|chosen| (chosen.backend(), chosen.groups()));
    (network, lacks)
}

/// Whether a device can be shaped.
fn check(device: &NetworkDevice) -> (String, Result<(), String>) {
    (device.name().to_owned(), Shaper::check(device).map_err(|error| error.to_string()))
}

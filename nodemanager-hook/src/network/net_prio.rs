//! The network of groups by `net_prio`, for hosts with neither BPF programs nor `nft`. It only
//! classifies sent traffic.

use std::{io, path::Path, sync::Arc};

use super::{
    counters::NetworkCounters,
    device::Device,
    error::NetworkError,
    file_guard::FileGuard,
    networks::{GroupNetwork, Networks},
    slots::{AllCounters, Slot, Slots},
};
use crate::actuators::read_text;

/// One line per device: its name, and the priority of the group's packets that it sends.
const PRIORITIES: &str = "net_prio.ifpriomap";

/// The priorities of groups on the shaped devices.
#[derive(Debug)]
pub struct NetPrioNetworks {
    devices: Vec<Device>,
    slots: Arc<Slots>,
}

#[derive(Debug)]
struct NetPrioGroup {
    devices: Vec<(Device, FileGuard)>,
    slot: Slot,
}

impl NetPrioNetworks {
    /// Fails without a device: nothing could be classified.
    pub fn open(devices: Vec<Device>) -> Result<Self, NetworkError> {
        if devices.is_empty() {
            return Err(NetworkError::NoDevices);
        }
        Ok(Self {
            devices,
            slots: Arc::default(),
        })
    }
}

impl Networks for NetPrioNetworks {
    /// A process that joins the group later brings its open sockets along.
    fn attach(&self, group: &Path) -> Result<Box<dyn GroupNetwork>, NetworkError> {
        let mut slot = Slots::take(&self.slots).ok_or_else(|| NetworkError::full(group))?;
        let path = group.join(PRIORITIES);
        let map = read_text(&path)?;
        let mut devices = Vec::new();
        for device in &self.devices {
            let held = priority_of(&map, device).unwrap_or("0");
            FileGuard::check(&path, held)?;
            let unset = line(device, 0);
            let file = FileGuard::set(&path, &unset, &unset)?;
            devices.push((device.clone(), file));
        }
        slot.begin();
        Ok(Box::new(NetPrioGroup { devices, slot }))
    }

    fn read(&self) -> io::Result<AllCounters> {
        Ok(AllCounters::new(Vec::new(), 0))
    }

    fn counts(&self) -> bool {
        false
    }
}

impl GroupNetwork for NetPrioGroup {
    fn slot(&self) -> &Slot {
        &self.slot
    }

    fn counters(&self) -> io::Result<NetworkCounters> {
        Ok(NetworkCounters::default())
    }

    fn set_receive_rate(&mut self, bytes_per_s: Option<u64>) -> io::Result<()> {
        match bytes_per_s {
            None => Ok(()),
            Some(_) => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "net_prio cannot limit received traffic",
            )),
        }
    }

    fn set_priority(&mut self, priority: Option<u32>) -> io::Result<()> {
        for (device, file) in &self.devices {
            let text = line(device, priority.unwrap_or(0));
            file.write(&text).map_err(io::Error::other)?;
        }
        Ok(())
    }
}

fn line(device: &Device, priority: u32) -> String {
    format!("{} {priority}", device.name())
}

/// The priority in the line of a device.
fn priority_of<'a>(map: &'a str, device: &Device) -> Option<&'a str> {
    map.lines().find_map(|line| {
        let (name, priority) = line.split_once(' ')?;
        (name == device.name()).then_some(priority)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_priority_is_read_from_the_line_of_the_device() {
        let map = "lo 0\neth01 7\neth0 2115633168\n";
        let device: Device = "eth0".parse().unwrap();
        assert_eq!(priority_of(map, &device), Some("2115633168"));
        assert_eq!(priority_of(map, &"eth2".parse().unwrap()), None);
    }
}

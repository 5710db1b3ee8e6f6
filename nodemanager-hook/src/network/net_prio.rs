//! What groups send gets a class by `net_prio`, for hosts that can neither run BPF programs nor
//! `nft`. It counts nothing and limits nothing that is received.

use std::{io, path::Path, sync::Arc};

use super::{
    device::Device,
    error::NetworkError,
    networks::{GroupNetwork, NetworkCounters, Networks},
    slots::{AllCounters, Slot, Slots},
    taken_file::TakenFile,
};
use crate::actuators::read_text;

/// A line for each device: its name, and the priority of packets of the group that leave by it.
const PRIORITIES: &str = "net_prio.ifpriomap";

/// Priorities of groups on the devices that are shaped.
#[derive(Debug)]
pub struct NetPrioNetworks {
    devices: Vec<Device>,
    slots: Arc<Slots>,
}

#[derive(Debug)]
struct NetPrioGroup {
    files: Vec<DevicePriority>,
    slot: Slot,
}

#[derive(Debug)]
struct DevicePriority {
    device: Device,
    file: TakenFile,
}

impl NetPrioNetworks {
    /// # Errors
    /// Without a device there is nothing that it could do.
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
    /// A process that comes to a group later brings its open sockets along.
    fn attach(&self, group: &Path) -> Result<Box<dyn GroupNetwork>, NetworkError> {
        let mut slot = Slots::take(&self.slots).ok_or_else(|| NetworkError::full(group))?;
        let path = group.join(PRIORITIES);
        let map = read_text(&path)?;
        let mut files = Vec::new();
        for device in &self.devices {
            let held = priority_of(&map, device).unwrap_or("0");
            TakenFile::check(&path, held)?;
            let unset = line(device, 0);
            files.push(DevicePriority {
                device: device.clone(),
                file: TakenFile::set(&path, &unset, &unset)?,
            });
        }
        slot.begin();
        Ok(Box::new(NetPrioGroup { files, slot }))
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
                "net_prio limits nothing that is received",
            )),
        }
    }

    fn set_priority(&mut self, priority: Option<u32>) -> io::Result<()> {
        for one in &self.files {
            let text = line(&one.device, priority.unwrap_or(0));
            one.file.write(&text).map_err(io::Error::other)?;
        }
        Ok(())
    }
}

fn line(device: &Device, priority: u32) -> String {
    format!("{} {priority}", device.name())
}

/// The number in the line of a device.
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
    fn a_device_has_the_priority_of_its_own_line() {
        let map = "lo 0\neth01 7\neth0 2115633168\n";
        let device: Device = "eth0".parse().unwrap();
        assert_eq!(priority_of(map, &device), Some("2115633168"));
        assert_eq!(priority_of(map, &"eth2".parse().unwrap()), None);
    }
}

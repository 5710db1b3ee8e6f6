//! The network of groups by `net_prio`, for hosts with neither BPF programs nor `nft`. It only
//! classifies sent traffic.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    device::NetworkDevice,
    error::NetworkError,
    networks::{AllCounters, GroupNetwork, Networks},
    slots::{Slot, SlotNumbers},
    tags::{check_free, warn_unless_gone},
};
use crate::actuators::{KernelFileError, read_text, write_text};

/// The priorities of groups on the shaped devices.
#[derive(Debug)]
pub struct NetPrioNetworks {
    devices: Vec<NetworkDevice>,
    slots: Arc<SlotNumbers>,
}

#[derive(Debug)]
struct NetPrioGroup {
    /// One line per device: its name, and the priority of the group's packets that it sends.
    priorities: PathBuf,
    devices: Vec<NetworkDevice>,
    slot: Slot,
}

impl NetPrioNetworks {
    /// Fails without a device: nothing could be classified.
    pub fn open(devices: Vec<NetworkDevice>) -> Result<Self, NetworkError> {
        if devices.is_empty() {
            return Err(NetworkError::NoDevices);
        }
        Ok(Self { devices, slots: Arc::default() })
    }
}

impl Networks for NetPrioNetworks {
    /// A process that joins the group later brings its open sockets along.
    fn attach(&self, group: &Path) -> Result<Box<dyn GroupNetwork>, NetworkError> {
        let slot = SlotNumbers::take(&self.slots).ok_or_else(|| NetworkError::full(group))?;
        let priorities = group.join("net_prio.ifpriomap");
        let map = read_text(&priorities)?;
        for device in &self.devices {
            check_free(&priorities, priority_of(&map, device).unwrap_or("0"))?;
        }
        let attached = NetPrioGroup { priorities, devices: self.devices.clone(), slot };
        attached.write(0)?;
        Ok(Box::new(attached))
    }

    fn read(&self) -> io::Result<AllCounters> {
        Ok(AllCounters::default())
    }

    fn counts(&self) -> bool {
        false
    }
}

impl GroupNetwork for NetPrioGroup {
    fn slot(&self) -> &Slot {
        &self.slot
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
        self.write(priority.unwrap_or(0)).map_err(io::Error::other)
    }
}

impl NetPrioGroup {
    fn write(&self, priority: u32) -> Result<(), KernelFileError> {
        self.devices.iter().try_for_each(|device| {
            write_text(&self.priorities, &format!("{} {priority}", device.name()))
        })
    }
}

impl Drop for NetPrioGroup {
    fn drop(&mut self) {
        warn_unless_gone(self.write(0));
    }
}

/// The priority in the line of a device.
fn priority_of<'a>(map: &'a str, device: &NetworkDevice) -> Option<&'a str> {
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
        let device: NetworkDevice = "eth0".parse().unwrap();
        assert_eq!(priority_of(map, &device), Some("2115633168"));
        assert_eq!(priority_of(map, &"eth2".parse().unwrap()), None);
    }
}

//! The network of one container: its group, its counters and its limits in force.

use std::path::PathBuf;

use elastane_protocol::Limits;

use crate::{
    network::{AllCounters, GroupNetwork},
    sensors::{Counted, Growth},
};

/// One container's network. Dropping it ends the counting.
#[derive(Debug)]
pub struct ContainerNetwork {
    pub group: PathBuf,
    pub group_network: Box<dyn GroupNetwork>,
    received: Growth,
    sent: Growth,
    /// Only limits of the network.
    pub in_force: Limits,
}

impl ContainerNetwork {
    pub fn new(group: PathBuf, group_network: Box<dyn GroupNetwork>) -> Self {
        Self {
            group,
            group_network,
            received: Growth::from_zero(),
            sent: Growth::from_zero(),
            in_force: Limits::default(),
        }
    }

    /// The growth since the last reading.
    pub fn read(&mut self, all: &AllCounters) -> Counted {
        let counters = all.of(self.group_network.slot());
        Counted {
            network_received_bytes: self.received.advance(counters.received_bytes),
            network_sent_bytes: self.sent.advance(counters.sent_bytes),
            ..Counted::default()
        }
    }
}

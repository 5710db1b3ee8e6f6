//! The network of one container: its group, its counters and its limits in force.

use std::{io, path::PathBuf};

use elastane_protocol::Limits;

use crate::{
    network::{AllCounters, GroupNetwork},
    sensors::{Counted, Growth},
};

/// One container's network. Dropping it ends the counting.
#[derive(Debug)]
pub(super) struct ContainerNetwork {
    pub group: PathBuf,
    pub group_network: Box<dyn GroupNetwork>,
    received: Growth,
    sent: Growth,
    /// Only limits of the network.
    pub in_force: Limits,
}

/// The source of a container's counters.
#[derive(Debug, Clone, Copy)]
pub(super) enum CountersNow<'a> {
    /// The counters of all containers were read together.
    Of(&'a AllCounters),
    /// The container's counters are read alone.
    EachByItself,
    /// Reading the counters of all containers failed.
    Unreadable,
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
    pub fn read(&mut self, counters: CountersNow<'_>) -> io::Result<Counted> {
        let counters = match counters {
            CountersNow::Of(all) => all.of(self.group_network.slot()),
            CountersNow::EachByItself => self.group_network.counters()?,
            CountersNow::Unreadable => return Ok(Counted::default()),
        };
        Ok(Counted {
            network_received_bytes: self.received.advance(counters.received_bytes),
            network_sent_bytes: self.sent.advance(counters.sent_bytes),
            ..Counted::default()
        })
    }
}

//! The interface of the network backends, and the counters of groups.

use std::{fmt::Debug, io, path::Path};

use super::{error::NetworkError, shaper::EgressClass, slots::Slot};

/// The networks of the groups on this host. Dropping this removes its objects from the kernel.
pub trait Networks: Debug + Send {
    /// Begins to measure a group and its descendants. A socket belongs to the group that its
    /// process was in when it made the socket: earlier sockets of the process may not be counted.
    /// Fails for a group that another program has configured.
    fn attach(&self, group: &Path) -> Result<Box<dyn GroupNetwork>, NetworkError>;

    /// Reads the counters of all attached groups. [`io::ErrorKind::WouldBlock`]: they come late, and a later call returns them.
    fn read(&self) -> io::Result<AllCounters>;

    /// Whether the backend counts traffic and limits received traffic. If not, counters stay 0 and
    /// receive rates are refused; sent traffic is classified all the same.
    fn counts(&self) -> bool;
}

/// The network of one group. Dropping this ends measuring and limiting.
pub trait GroupNetwork: Debug + Send {
    fn slot(&self) -> &Slot;

    /// Limits the IP traffic that the group receives; `None` lifts the limit. Excess packets are
    /// dropped, so that TCP senders slow down. On an error the limit stays as it was.
    fn set_receive_rate(&mut self, bytes_per_s: Option<u64>) -> io::Result<()>;

    /// Sets the priority of the packets that the group sends, by which HTB finds their class.
    /// `None`: each socket's own priority. On an error the priority stays as it was.
    fn set_priority(&mut self, priority: Option<u32>) -> io::Result<()>;

    /// The class of the packets that this group sends; no other group has the same class.
    fn egress_class(&self) -> EgressClass {
        EgressClass::new(self.slot())
    }
}

/// What one group received and sent since it was attached, IP headers included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NetworkCounters {
    pub received_bytes: u64,
    /// Bytes that the group's sockets sent, retransmissions included.
    pub sent_bytes: u64,
    /// Packets that the receive limit dropped; `received_bytes` does not include them. The kernel
    /// may count several segments of a connection as one packet here.
    pub dropped_packets: u64,
}

/// The counters of all attached groups at one moment, by slot number.
#[derive(Debug, Default)]
pub struct AllCounters(pub(super) Vec<NetworkCounters>);

impl AllCounters {
    /// The counters of a group that was attached before the reading.
    pub fn of(&self, slot: &Slot) -> NetworkCounters {
        let counters = self.0.get(slot.number() as usize);
        counters.copied().unwrap_or_default()
    }
}

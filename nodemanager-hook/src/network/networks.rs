//! What the agent asks of the networks of groups, whatever serves it on a host.

use std::{fmt::Debug, io, path::Path};

use super::{
    error::NetworkError,
    shaper::EgressClass,
    slots::{AllCounters, Slot},
};

/// What one group received and sent since it was attached, IP headers included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NetworkCounters {
    /// Bytes that its sockets got.
    pub received_bytes: u64,
    /// Bytes that its sockets sent, sent again included.
    pub sent_bytes: u64,
    /// Packets for it that the receive limit dropped; they are not in `received_bytes`. As the kernel
    /// counts them here, several segments of a connection may be one packet.
    pub dropped_packets: u64,
}

/// The networks of groups on this host. What it made in the kernel goes when it is dropped.
pub trait Networks: Debug + Send {
    /// Begins to measure a group and all groups in it. A socket belongs to the group where its
    /// process was when it made it: what was open before the process came here may not be counted.
    ///
    /// # Errors
    /// A group that is gone or of another kind, or that somebody else has set up for the same.
    fn attach(&self, group: &Path) -> Result<Box<dyn GroupNetwork>, NetworkError>;

    /// Reads the counters of all groups.
    ///
    /// # Errors
    /// Those of asking the kernel.
    fn read(&self) -> io::Result<AllCounters>;

    /// Whether it counts, and limits what is received. Where not, counters stay 0 and a receive
    /// rate is refused; what is sent can have a class all the same.
    fn counts(&self) -> bool;
}

/// The network of one group. Dropping it ends measuring and limiting.
pub trait GroupNetwork: Debug + Send {
    /// The group's number.
    fn slot(&self) -> &Slot;

    /// The counters of this group alone.
    ///
    /// # Errors
    /// Those of asking the kernel.
    fn counters(&self) -> io::Result<NetworkCounters>;

    /// Limits what the group receives, over IP, to this many bytes per second; nothing: no limit.
    /// What is above is dropped, so that TCP senders slow down.
    ///
    /// # Errors
    /// What the kernel refuses; the limit stays as it was.
    fn set_receive_rate(&mut self, bytes_per_s: Option<u64>) -> io::Result<()>;

    /// Gives the packets that the group sends a priority, by which HTB finds their class; nothing:
    /// they keep what the socket says.
    ///
    /// # Errors
    /// What the kernel refuses; the priority stays as it was.
    fn set_priority(&mut self, priority: Option<u32>) -> io::Result<()>;

    /// A class for what this group sends, which no other group has.
    fn egress_class(&self) -> EgressClass {
        self.slot().egress_class()
    }
}

impl AllCounters {
    /// The counters of a group; zeros when it was attached after the reading.
    pub fn of(&self, group: &dyn GroupNetwork) -> NetworkCounters {
        self.of_slot(group.slot())
    }
}

//! The counters of groups.

use super::slots::Slot;

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

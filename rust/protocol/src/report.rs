//! What an agent measured, on its way up.

use serde::{Deserialize, Serialize};

/// What one agent measured since the last report that was acknowledged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Drawn at random when the agent starts, so that a sequence which begins anew is recognized.
    pub agent_run: u64,
    /// The newest sequence number in this report; a [`crate::Reply`] acknowledges up to it.
    pub sequence: u64,
    /// What this agent can limit.
    pub can_limit: CanLimit,
    /// The physical size of the node.
    pub capacity: Capacity,
    /// What all containers of the node used in the newest closed sample.
    pub containers_usage: Usage,
    /// What the whole node used in that sample; the part of others is what this is more.
    pub node_usage: Usage,
    /// How much the node's processes waited for want of a resource, where the kernel says so.
    pub pressure: Option<Pressure>,
    /// Containers that should give way because the node's memory runs short, the first one first.
    pub memory_victims: Vec<MemoryVictim>,
    /// The samples, oldest first within a container.
    pub containers: Vec<ContainerSamples>,
}

/// What an agent can limit: its rights, the kernel's mechanisms and its configuration allow it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanLimit {
    /// Weight and cap of CPU.
    pub cpu: bool,
    /// Memory.
    pub memory: bool,
    /// The cap of disk traffic.
    pub disk: bool,
    /// Weight and cap of what is sent.
    pub network_sent: bool,
    /// The cap of what is received.
    pub network_received: bool,
}

/// Shares of the last 10 s in which at least one process waited for a resource, 0 to 1 (PSI, `some
/// avg10`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Pressure {
    /// For CPU.
    pub cpu: f32,
    /// For memory.
    pub memory: f32,
    /// For disks.
    pub disk: f32,
}

/// A container that should give way, so that the others keep the memory they asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryVictim {
    /// YARN's container id.
    pub container: String,
    /// What it holds, in bytes.
    pub resident_bytes: u64,
    /// What the node is short of, in bytes, as long as nobody gives way.
    pub short_bytes: u64,
}

/// The samples of one container.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContainerSamples {
    /// YARN's container id, as `ContainerId.toString` prints it.
    pub container: String,
    /// The limits in force now, if the agent limits this container.
    pub limits: Option<crate::Limits>,
    /// Closed samples, oldest first.
    pub samples: Vec<Sample>,
}

/// What one container used in one closed interval, 3 s long as a rule.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Grows by one with every interval that this agent closes; the same for all its containers.
    pub sequence: u64,
    /// How long ago the interval ended when the report was made, in milliseconds.
    pub age_ms: u32,
    /// The length of the interval in milliseconds.
    pub length_ms: u32,
    /// The mean over the interval (memory: the largest reading).
    pub usage: Usage,
}

/// Measured use of the four resources. What is not measured is 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Cores busy.
    pub cpu_cores: f32,
    /// Share of the interval in which a cap held it back, 0 to 1; of several together, or a node,
    /// the largest.
    pub cpu_throttled: f32,
    /// Resident memory of the whole process tree, in bytes.
    pub memory_bytes: u64,
    /// Of that, memory that no file stands behind, in bytes.
    pub anonymous_bytes: u64,
    /// Pages of files, in bytes: what its group is charged for, or what it has mapped.
    pub file_bytes: u64,
    /// Used part of the heaps of its JVMs, in bytes.
    pub heap_used_bytes: u64,
    /// What the heaps of its JVMs have taken from the system, in bytes.
    pub heap_committed_bytes: u64,
    /// Received, in bytes per second.
    pub network_in_bytes_per_s: u64,
    /// Sent, in bytes per second.
    pub network_out_bytes_per_s: u64,
    /// Read from disks, in bytes per second.
    pub disk_read_bytes_per_s: u64,
    /// Written to disks, in bytes per second.
    pub disk_write_bytes_per_s: u64,
}

impl Usage {
    /// Received and sent, in bytes per second.
    #[must_use]
    pub fn network_bytes_per_s(&self) -> u64 {
        self.network_in_bytes_per_s
            .saturating_add(self.network_out_bytes_per_s)
    }

    /// Read and written, in bytes per second.
    #[must_use]
    pub fn disk_bytes_per_s(&self) -> u64 {
        self.disk_read_bytes_per_s
            .saturating_add(self.disk_write_bytes_per_s)
    }
}

/// The physical size of a node. A resource that is not known is 0 and takes no part in placement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// Cores.
    pub cpu_cores: f32,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Network bandwidth in bytes per second.
    pub network_bytes_per_s: u64,
    /// Bandwidth of the devices behind the local directories in bytes per second.
    pub disk_bytes_per_s: u64,
}

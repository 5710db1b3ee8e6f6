//! What an agent measured, on its way up.

use serde::{Deserialize, Serialize};

/// What one agent measured since the last report that was acknowledged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Drawn at random when the agent starts, so that a sequence which begins anew is recognized.
    pub agent_run: u64,
    /// The newest sequence number in this report; a [`crate::Reply`] acknowledges up to it.
    pub sequence: u64,
    /// Whether this agent can limit CPU (root and a writable cpu hierarchy).
    pub can_limit_cpu: bool,
    /// The physical size of the node.
    pub capacity: Capacity,
    /// What all containers of the node used in the newest closed sample.
    pub containers_usage: Usage,
    /// The samples, oldest first within a container.
    pub containers: Vec<ContainerSamples>,
}

/// The samples of one container.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContainerSamples {
    /// YARN's container id, as `ContainerId.toString` prints it.
    pub container: String,
    /// The CPU step in force now, if the agent limits this container.
    pub cpu_limit: Option<crate::CpuStep>,
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

/// Measured use of the four resources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Cores busy.
    pub cpu_cores: f32,
    /// Resident memory of the whole process tree, in bytes.
    pub memory_bytes: u64,
    /// Network in and out, in bytes per second; 0 where it is not measured.
    pub network_bytes_per_s: u64,
    /// Disk read and written, in bytes per second.
    pub disk_bytes_per_s: u64,
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

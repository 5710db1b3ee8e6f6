//! The report: from the agent to the core.

use serde::{Deserialize, Serialize};

/// The measurements of one agent since the last acknowledged report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// A random number drawn when the agent starts. It tells that a sequence begins anew.
    pub agent_run: u64,
    /// The newest sequence number in this report. A [`crate::Reply`] acknowledges up to it.
    pub sequence: u64,
    /// The resources that this agent can limit.
    pub can_limit: CanLimit,
    /// The physical size of the node.
    pub capacity: Capacity,
    /// The usage of all containers of the node in the newest closed sample.
    pub containers_usage: Usage,
    /// The usage of the whole node in that sample, including services outside YARN.
    pub node_usage: Usage,
    /// How much the node's processes waited for resources, if the kernel measures this.
    pub pressure: Option<Pressure>,
    /// Containers that should give way because the node is short of memory, in this order.
    pub memory_victims: Vec<MemoryVictim>,
    /// What became of the orders in [`crate::Reply::decommission`], until some minutes after the container ended.
    pub decommissioned: Vec<Decommissioned>,
    /// The samples, oldest first within a container.
    pub containers: Vec<ContainerSamples>,
}

/// The resources that an agent can limit by its privileges, the kernel's mechanisms and its
/// configuration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanLimit {
    /// Weight and cap of the CPU.
    pub cpu: bool,
    /// Memory.
    pub memory: bool,
    /// The cap of disk traffic.
    pub disk: bool,
    /// Weight and cap of outgoing traffic.
    pub network_sent: bool,
    /// The cap of incoming traffic.
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

/// A container that should give way, so that the others keep the memory that they requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryVictim {
    /// YARN's container id.
    pub container: String,
    /// The container's resident memory, in bytes.
    pub resident_bytes: u64,
    /// The node's shortage while no container gives way, in bytes.
    pub short_bytes: u64,
}

/// What became of the order to decommission a container's executor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decommissioned {
    /// YARN's container id.
    pub container: String,
    /// What became of the order.
    pub outcome: DecommissionOutcome,
}

/// What became of an order to decommission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DecommissionOutcome {
    /// The executor got the signal.
    Signalled,
    /// The executor does not handle the signal, which would end it: `spark.decommission.enabled` is not set, or it is young.
    NotHandled,
    /// No process of the container is a Spark executor.
    NoExecutor,
    /// The processes could not be examined or signalled.
    Failed,
}

/// The samples of one container.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContainerSamples {
    /// YARN's container id, as `ContainerId.toString` prints it.
    pub container: String,
    /// The limits in force, if the agent limits this container.
    pub limits: Option<crate::Limits>,
    /// Closed samples, oldest first.
    pub samples: Vec<Sample>,
    /// How far its application has come, where the application tells that in a file of the container's.
    pub stages: Option<StageProgress>,
}

/// How far an application of stages has come, as it told. Spark's plugin tells it, see `docs/spark-plugin.md`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StageProgress {
    /// The number of stages that have ended.
    pub stages_ended: u32,
    /// The time from the end of the latest one to the report, in milliseconds; from the application's begin where none has
    /// ended.
    pub since_ms: u32,
    /// The part of the running stages' tasks that have ended, 0 to 1.
    pub part_ended: f32,
    /// The part of the running stages' tasks that have begun, ended ones included, 0 to 1.
    pub part_begun: f32,
}

/// The usage of one container in one closed interval, usually 3 s long.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Increases by one with every interval that this agent closes, for all containers together.
    pub sequence: u64,
    /// The time from the interval's end to the report, in milliseconds.
    pub age_ms: u32,
    /// The length of the interval, in milliseconds.
    pub length_ms: u32,
    /// The mean over the interval; for memory, the largest reading.
    pub usage: Usage,
}

/// The measured usage of the four resources. A value that is not measured is 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Busy cores.
    pub cpu_cores: f32,
    /// The share of the interval in which a cap throttled the container, 0 to 1. For several
    /// containers, or a node, the largest share.
    pub cpu_throttled: f32,
    /// Threads that were ready to run and had no core, on average.
    pub cpu_waited_cores: f32,
    /// Resident memory of the whole process tree, in bytes.
    pub memory_bytes: u64,
    /// The anonymous part of resident memory, in bytes.
    pub anonymous_bytes: u64,
    /// File pages charged to the group, or else mapped by the processes, in bytes.
    pub file_bytes: u64,
    /// The used part of the JVMs' heaps, in bytes.
    pub heap_used_bytes: u64,
    /// The committed part of the JVMs' heaps, in bytes.
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
    pub fn network_bytes_per_s(&self) -> u64 {
        self.network_in_bytes_per_s.saturating_add(self.network_out_bytes_per_s)
    }

    /// Read and written, in bytes per second.
    pub fn disk_bytes_per_s(&self) -> u64 {
        self.disk_read_bytes_per_s.saturating_add(self.disk_write_bytes_per_s)
    }
}

/// The physical size of a node. An unknown resource is 0 and takes no part in placement.
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

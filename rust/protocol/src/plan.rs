//! The plan: from the core to the agent.

use serde::{Deserialize, Serialize};

/// The core's answer to a [`crate::Report`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Samples up to this sequence number have arrived and need not be sent again.
    pub acknowledged: u64,
    /// How long after receipt the plan is valid. Then the agent lifts every limit.
    pub valid_for_ms: u32,
    /// One entry for each container to limit. A container without an entry is not limited.
    pub plans: Vec<ContainerPlan>,
    /// Containers, by YARN's id, whose Spark executor is to take no more tasks, to move its blocks and to end by itself. The
    /// core repeats an order while the container has to give way, until a [`crate::Report`] says `Signalled`.
    pub decommission: Vec<String>,
}

impl Reply {
    /// The longest that [`Self::valid_for_ms`] may be. A plan holds its limits without a ResourceManager.
    pub const LONGEST_VALID_MS: u32 = 3_600_000;
}

/// The limits of one container over the coming time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContainerPlan {
    /// YARN's container id.
    pub container: String,
    /// In order of `offset_ms`. The first step begins at 0.
    pub steps: Vec<Step>,
}

/// Limits from `offset_ms` after receipt, on the agent's monotonic clock, until the next step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Milliseconds after receipt.
    pub offset_ms: u32,
    /// The limits until the next step.
    pub limits: Limits,
}

/// The limits of one container. A resource without a value is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// The share of a contended CPU, in cores (cpu.shares, cpu.weight).
    pub cpu_weight_cores: Option<f32>,
    /// The most that the container may use even of an idle CPU, in cores (cfs quota, cpu.max).
    pub cpu_cap_cores: Option<f32>,
    /// The limit of memory, in bytes; JVMs' heaps follow. Never enforced below the resident memory.
    pub memory_bytes: Option<u64>,
    /// The cap on reads, and on writes, for each device of the local directories, in bytes per second
    /// (blkio throttle, io.max).
    pub disk_cap_bytes_per_s: Option<u64>,
    /// The share of a contended link for outgoing traffic, in bytes per second (the rate of an HTB
    /// class).
    pub network_weight_bytes_per_s: Option<u64>,
    /// The cap on outgoing, and on incoming traffic, in bytes per second.
    pub network_cap_bytes_per_s: Option<u64>,
}

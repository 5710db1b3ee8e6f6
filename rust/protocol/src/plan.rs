//! What the core planned, on its way down.

use serde::{Deserialize, Serialize};

/// The core's answer to a [`crate::Report`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Samples up to this sequence number have arrived and need not be sent again.
    pub acknowledged: u64,
    /// For how long after receipt the plan may be followed; then every limit is lifted.
    pub valid_for_ms: u32,
    /// One entry for each container that is to be limited. A container without an entry is not.
    pub plans: Vec<ContainerPlan>,
}

/// The limits of one container over the coming time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContainerPlan {
    /// YARN's container id.
    pub container: String,
    /// In order of `offset_ms`; the first begins at 0.
    pub steps: Vec<Step>,
}

/// Limits from `offset_ms` after receipt, on the agent's monotonic clock, until the next step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Milliseconds after receipt.
    pub offset_ms: u32,
    /// What holds from then on.
    pub limits: Limits,
}

/// The limits of one container; what is none is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// The share that the container gets when the CPU is contended, as cores (cpu.shares, cpu.weight).
    pub cpu_weight_cores: Option<f32>,
    /// The most that it may use even when the CPU is idle, in cores (cfs quota, cpu.max).
    pub cpu_cap_cores: Option<f32>,
    /// What its memory is to stay within, in bytes; a JVM's heap follows. Never enforced below what
    /// is resident.
    pub memory_bytes: Option<u64>,
    /// The most that it may read, and the most that it may write, on the devices of the local
    /// directories, in bytes per second (blkio throttle, io.max).
    pub disk_cap_bytes_per_s: Option<u64>,
    /// The share of the link that it gets for sending when the link is contended, in bytes per
    /// second (the rate of an HTB class).
    pub network_weight_bytes_per_s: Option<u64>,
    /// The most that it may send, and the most that it may receive, in bytes per second.
    pub network_cap_bytes_per_s: Option<u64>,
}

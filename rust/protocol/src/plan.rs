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
    pub cpu: Vec<CpuStep>,
}

/// CPU from `offset_ms` after receipt, on the agent's monotonic clock, until the next step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CpuStep {
    /// Milliseconds after receipt.
    pub offset_ms: u32,
    /// The share that the container gets when the CPU is contended, as cores (cpu.shares, cpu.weight).
    pub weight_cores: f32,
    /// The most that it may use even when the CPU is idle, in cores (cfs quota, cpu.max).
    pub cap_cores: Option<f32>,
}

//! A container's newest sample and the limits in force.

use elastane_core::Resources;
use elastane_protocol::ContainerSamples;
use serde::Serialize;

use crate::amounts::used;

#[derive(Debug, Clone, Serialize)]
pub struct MeasuredContainer {
    pub used: Resources,
    /// The time that the sample covers, in milliseconds.
    pub sample_ms: u32,
    /// The share of time in which its CPU was throttled, 0 to 1.
    pub cpu_throttled: f32,
    /// Threads that were ready to run and had no core, on average.
    pub cpu_waited_cores: f32,
    pub anonymous_bytes: u64,
    /// Page cache.
    pub file_bytes: u64,
    /// The used part of the heaps of its JVMs.
    pub heap_used_bytes: u64,
    /// The committed size of the heaps of its JVMs.
    pub heap_committed_bytes: u64,
    // The limits in force.
    pub limit_weight_cores: Option<f32>,
    pub limit_cap_cores: Option<f32>,
    pub limit_memory_bytes: Option<u64>,
    pub limit_disk_bytes_per_s: Option<u64>,
    /// The weight of what is sent.
    pub limit_network_weight_bytes_per_s: Option<u64>,
    pub limit_network_bytes_per_s: Option<u64>,
    /// The stages of its application that have ended, where the application tells them.
    pub stages_ended: Option<u32>,
}

impl MeasuredContainer {
    /// None without a sample.
    pub(crate) fn of(samples: &ContainerSamples) -> Option<Self> {
        let last = samples.samples.last()?;
        let limits = samples.limits.unwrap_or_default();
        Some(Self {
            used: used(&last.usage),
            sample_ms: last.length_ms,
            cpu_throttled: last.usage.cpu_throttled,
            cpu_waited_cores: last.usage.cpu_waited_cores,
            anonymous_bytes: last.usage.anonymous_bytes,
            file_bytes: last.usage.file_bytes,
            heap_used_bytes: last.usage.heap_used_bytes,
            heap_committed_bytes: last.usage.heap_committed_bytes,
            limit_weight_cores: limits.cpu_weight_cores,
            limit_cap_cores: limits.cpu_cap_cores,
            limit_memory_bytes: limits.memory_bytes,
            limit_disk_bytes_per_s: limits.disk_cap_bytes_per_s,
            limit_network_weight_bytes_per_s: limits.network_weight_bytes_per_s,
            limit_network_bytes_per_s: limits.network_cap_bytes_per_s,
            stages_ended: samples.stages.map(|stages| stages.stages_ended),
        })
    }
}

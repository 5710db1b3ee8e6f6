//! What was measured of a container.

use elastane_core::{Resource, Resources};
use serde::{Deserialize, Serialize};

use crate::cpu_share::CpuShare;

/// The use of a container over some time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ContainerSample {
    /// Its end, since the container's start.
    pub end_since_start_ms: i64,
    /// The time that it covers.
    pub length_ms: u32,
    /// The mean over that time; of memory the largest reading.
    pub usage: Resources,
    /// The share of that time in which the same would have been done on free nodes, 0 to 1.
    left_on_free_nodes: f32,
}

impl ContainerSample {
    /// A sample in which nothing waited for others.
    pub fn new(end_since_start_ms: i64, length_ms: u32, usage: Resources) -> Self {
        Self { end_since_start_ms, length_ms, usage, left_on_free_nodes: 1.0 }
    }

    /// The same with what it lost to other containers, and what its application master lost at the time. A
    /// node of this `capacity` does not get more done when it is free; an amount of 0 is not known.
    #[must_use]
    pub fn beside_others(
        self,
        share: &CpuShare,
        master: Option<&CpuShare>,
        capacity: Resources,
    ) -> Self {
        let part = |flow| {
            let (used, most) = (self.usage.get(flow), capacity.get(flow));
            if most > 0.0 { used / most } else { 0.0 }
        };
        let at_capacity = Resource::FLOWS.into_iter().map(part).fold(0.0, f64::max);
        let left = share.left_on_free_nodes(master).max(at_capacity).min(1.0);
        Self { left_on_free_nodes: left as f32, ..self }
    }

    /// The length on free nodes of `length_ms` of this sample: at least 1, at most `length_ms`.
    pub(crate) fn on_free_nodes_ms(&self, length_ms: i64) -> i64 {
        let left = (length_ms as f64 * f64::from(self.left_on_free_nodes)).ceil() as i64;
        left.clamp(1, length_ms)
    }
}

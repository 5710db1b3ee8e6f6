//! What the ResourceManager makes of reports.

use std::collections::HashMap;

use elastane_core::plan::PlanSettings;
use elastane_core::reprovision::Used;
use elastane_core::{Progress, Resources};
use elastane_protocol::{CanLimit, Limits};

use super::ResourceManager;
use crate::simulator::followed::Sample;

/// What agents can limit.
const CAN_LIMIT: CanLimit = CanLimit {
    cpu: true,
    memory: false,
    disk: true,
    network_sent: true,
    network_received: true,
};

impl ResourceManager {
    /// A container was measured; returns whether what its node has left changed.
    pub(in crate::simulator) fn used(
        &mut self,
        container: &str,
        sample: &Sample,
        now_ms: i64,
    ) -> bool {
        let used = Used {
            usage: sample.usage,
            from_ms: sample.from_ms,
            to_ms: sample.to_ms,
            throttled: sample.throttled,
        };
        self.cluster.used(container, used, now_ms)
    }

    /// What is left of a container's demand over what was predicted at first.
    pub(in crate::simulator) fn corrected_by(&self, container: &str) -> Resources {
        self.cluster.corrected_by(container)
    }

    /// How far a container is; returns the same.
    pub(in crate::simulator) fn progressed(
        &mut self,
        container: &str,
        progress: Progress,
        now_ms: i64,
    ) -> bool {
        self.cluster.progressed(container, progress, now_ms)
    }

    /// Reprovisions what runs on a node; returns the same.
    pub(in crate::simulator) fn reprovision(&mut self, node: usize, now_ms: i64) -> bool {
        let changed = self.cluster.reprovision(self.nodes[node], now_ms);
        for done in self.cluster.take_reprovisioned() {
            self.corrections.add(&done);
        }
        changed
    }

    /// Something about what runs on a node changed.
    pub(in crate::simulator) fn changed(&mut self, node: usize) {
        self.earliest.forget(node);
    }

    /// The limits of a node's containers until its agent reports again: those of the slots until
    /// then, whichever is larger.
    pub(in crate::simulator) fn limits(
        &self,
        node: usize,
        settings: &PlanSettings,
        now_ms: i64,
    ) -> HashMap<String, Limits> {
        let until_next = PlanSettings {
            valid_for_ms: elastane_core::SLOT_MS,
            ..*settings
        };
        let plans = self
            .cluster
            .limit_plans(self.nodes[node], &until_next, CAN_LIMIT, now_ms);
        let limits = plans.into_iter().filter_map(|(container, steps)| {
            let largest = steps.into_iter().map(|step| step.limits).reduce(larger)?;
            Some((container.to_owned(), largest))
        });
        limits.collect()
    }
}

fn larger(one: Limits, other: Limits) -> Limits {
    let cores = |a: Option<f32>, b: Option<f32>| a.zip(b).map(|(a, b)| a.max(b));
    let bytes = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a.max(b));
    Limits {
        cpu_cap_cores: cores(one.cpu_cap_cores, other.cpu_cap_cores),
        disk_cap_bytes_per_s: bytes(one.disk_cap_bytes_per_s, other.disk_cap_bytes_per_s),
        network_cap_bytes_per_s: bytes(one.network_cap_bytes_per_s, other.network_cap_bytes_per_s),
        ..one
    }
}

//! An executor as its node's agent measures and limits it.

use elastane_core::{Resource, Resources};
use elastane_protocol::{ContainerSamples, Limits};

use super::resource_manager::measured;

/// An executor that is followed.
#[derive(Debug, Clone)]
pub(super) struct Followed {
    /// Limits of CPU, network and disk.
    limits: Resources,
    /// Start of the open sample.
    from_ms: i64,
    /// Use in the open sample, in the resource's unit times milliseconds.
    used: Resources,
    most_memory_bytes: f64,
    /// Time in the open sample during which the CPU limit throttled the executor.
    throttled_ms: f64,
}

/// Tolerance for rounding when use is compared with a limit.
const ROUNDING: f64 = 1e-6;

const UNLIMITED: Resources = Resources::from_array([f64::INFINITY; 4]);

impl Followed {
    pub(super) fn new(now_ms: i64) -> Self {
        Self {
            limits: UNLIMITED,
            from_ms: now_ms,
            used: Resources::ZERO,
            most_memory_bytes: 0.0,
            throttled_ms: 0.0,
        }
    }

    /// Adds the use over some time. A kernel throttles only an executor that has used up its CPU limit.
    pub(super) fn use_for(&mut self, usage: Resources, wanted: Resources, length_ms: f64) {
        self.used += usage * length_ms;
        let uses_up = usage.cpu_cores >= self.limits.cpu_cores * (1.0 - ROUNDING);
        if uses_up && usage.cpu_cores < wanted.cpu_cores {
            self.throttled_ms += (1.0 - usage.cpu_cores / wanted.cpu_cores) * length_ms;
        }
        self.most_memory_bytes = self.most_memory_bytes.max(usage.memory_bytes);
    }

    /// Closes the open sample; none where it has no length.
    pub(super) fn sample(&mut self, container: &str, now_ms: i64) -> Option<ContainerSamples> {
        let length_ms = u32::try_from(now_ms - self.from_ms).unwrap_or(0);
        if length_ms == 0 {
            return None;
        }
        let length = f64::from(length_ms);
        self.from_ms = now_ms;
        let usage = Resources {
            memory_bytes: std::mem::take(&mut self.most_memory_bytes),
            ..std::mem::take(&mut self.used) * (1.0 / length)
        };
        let throttled = (std::mem::take(&mut self.throttled_ms) / length).min(1.0);
        Some(measured(container, usage, length_ms, throttled))
    }

    /// Returns whether that changes anything.
    pub(super) fn limit(&mut self, limits: Option<&Limits>) -> bool {
        let bytes = |bytes: Option<u64>| bytes.map_or(f64::INFINITY, |bytes| bytes as f64);
        let limits = limits.map_or(UNLIMITED, |limits| Resources {
            cpu_cores: limits.cpu_cap_cores.map_or(f64::INFINITY, f64::from),
            memory_bytes: f64::INFINITY,
            network_bytes_per_s: bytes(limits.network_cap_bytes_per_s),
            disk_bytes_per_s: bytes(limits.disk_cap_bytes_per_s),
        });
        std::mem::replace(&mut self.limits, limits) != limits
    }

    /// The speed under the limits at this demand; 1 is undisturbed.
    pub(super) fn limited_rate(&self, demand: Resources) -> f64 {
        let rates = Resource::FLOWS.map(|resource| {
            let (limit, demand) = (self.limits.get(resource), demand.get(resource));
            if demand > limit { limit / demand } else { 1.0 }
        });
        rates.into_iter().fold(1.0, f64::min)
    }
}

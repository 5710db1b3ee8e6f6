//! What a node's agent sees of one executor, and what the ResourceManager makes of that.

use elastane_core::{Demand, Progress, Resource, Resources};
use elastane_predict::Tracker;
use elastane_protocol::Limits;

use super::settings::{Following, ProgressSource};

/// An executor that is followed.
#[derive(Debug, Clone)]
pub(super) struct Followed {
    tracker: Option<Tracker>,
    /// What CPU, network and disk are limited to.
    limits: Resources,
    /// When the sample began that is open.
    from_ms: i64,
    /// What was used in it, in the resource's unit times milliseconds.
    used: Resources,
    most_memory_bytes: f64,
    /// For how long its CPU limit held it back in it.
    throttled_ms: f64,
}

/// A sample that was closed.
pub(super) struct Sample {
    pub(super) usage: Resources,
    pub(super) from_ms: i64,
    pub(super) to_ms: i64,
    pub(super) throttled: f64,
}

/// A rate of what is wanted is no exact part of a limit.
const ROUNDING: f64 = 1e-6;

const UNLIMITED: Resources = Resources::from_array([f64::INFINITY; 4]);

impl Followed {
    pub(super) fn new(following: &Following, predicted: Option<&Demand>, now_ms: i64) -> Self {
        let by_usage = following.progress == ProgressSource::Usage;
        Self {
            tracker: predicted.filter(|_| by_usage).map(Tracker::of_demand),
            limits: UNLIMITED,
            from_ms: now_ms,
            used: Resources::ZERO,
            most_memory_bytes: 0.0,
            throttled_ms: 0.0,
        }
    }

    /// For a while it uses so much of what it wants. A kernel holds back whoever has used up its CPU
    /// limit, and no other.
    pub(super) fn use_for(&mut self, usage: Resources, wanted: Resources, length_ms: f64) {
        self.used += usage * length_ms;
        let uses_up = usage.cpu_cores >= self.limits.cpu_cores * (1.0 - ROUNDING);
        if uses_up && usage.cpu_cores < wanted.cpu_cores {
            self.throttled_ms += (1.0 - usage.cpu_cores / wanted.cpu_cores) * length_ms;
        }
        self.most_memory_bytes = self.most_memory_bytes.max(usage.memory_bytes);
    }

    /// Closes the sample that is open; none where it has no length. `factors` is what its demand was
    /// corrected by: it has done no more for what it uses more of.
    pub(super) fn sample(&mut self, factors: Resources, now_ms: i64) -> Option<Sample> {
        let length_ms = now_ms - self.from_ms;
        if length_ms <= 0 {
            return None;
        }
        let usage = Resources {
            memory_bytes: std::mem::take(&mut self.most_memory_bytes),
            ..std::mem::take(&mut self.used) * (1.0 / length_ms as f64)
        };
        let from_ms = std::mem::replace(&mut self.from_ms, now_ms);
        if let Some(tracker) = &mut self.tracker {
            let done = usage.zip(factors, |used, factor| used / factor);
            tracker.observe(done, u32::try_from(length_ms).unwrap_or(u32::MAX));
        }
        Some(Sample {
            usage,
            from_ms,
            to_ms: now_ms,
            throttled: (std::mem::take(&mut self.throttled_ms) / length_ms as f64).min(1.0),
        })
    }

    /// As estimated from what was used; none where it is not.
    pub(super) fn estimated(&self) -> Option<Progress> {
        let part = self.tracker.as_ref()?.progress();
        Progress::new(part.clamp(0.0, 1.0)).ok()
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

    /// The speed that its limits leave it while it wants so much, 1 being undisturbed.
    pub(super) fn limited_rate(&self, demand: Resources) -> f64 {
        let rates = Resource::FLOWS.map(|resource| {
            let (limit, demand) = (self.limits.get(resource), demand.get(resource));
            if demand > limit { limit / demand } else { 1.0 }
        });
        rates.into_iter().fold(1.0, f64::min)
    }
}

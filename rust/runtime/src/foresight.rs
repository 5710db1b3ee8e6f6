//! How the use of containers compares with what was predicted for them.

use elastane_core::cluster::{Cluster, Container};
use elastane_core::{Resource, Resources};
use elastane_protocol::Sample;

use crate::amounts::used;

/// Use above the prediction by this part counts as covered: agents report 32-bit floats.
const ROUNDING: f64 = 1e-6;
const MIB: f64 = 1_048_576.0;

/// Sums over measured time of containers that were planned by a profile.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Foresight {
    /// The measured time.
    pub predicted_ms: f64,
    /// The part of it in which CPU use was at most the predicted one with its safety margin.
    pub cpu_covered_ms: f64,
    /// The same of memory.
    pub memory_covered_ms: f64,
    /// Predicted CPU, in cores times milliseconds.
    pub predicted_core_ms: f64,
    /// Used CPU.
    pub used_core_ms: f64,
    /// Predicted memory, in MiB times milliseconds.
    pub predicted_mb_ms: f64,
    /// Used memory.
    pub used_mb_ms: f64,
}

impl Foresight {
    /// Adds a sample that ended at `end_ms`.
    pub(crate) fn add(
        &mut self,
        cluster: &Cluster,
        container: &Container,
        sample: &Sample,
        end_ms: i64,
    ) {
        // What others used is a demand for many executors together.
        if container.profile().is_none() {
            return;
        }
        let node = cluster.node(container.node);
        let Some(running) = node.and_then(|node| node.node.get(container.executor)) else {
            return;
        };
        let length_ms = f64::from(sample.length_ms);
        let middle_ms = end_ms - i64::from(sample.length_ms / 2);
        let predicted = running.demand.at(middle_ms - running.start_ms);
        let used = used(&sample.usage);
        let allowed = predicted * (1.0 + container.margin);
        let covered_ms = |resource| if covers(allowed, used, resource) { length_ms } else { 0.0 };
        self.predicted_ms += length_ms;
        self.cpu_covered_ms += covered_ms(Resource::Cpu);
        self.memory_covered_ms += covered_ms(Resource::Memory);
        self.predicted_core_ms += predicted.cpu_cores * length_ms;
        self.used_core_ms += used.cpu_cores * length_ms;
        self.predicted_mb_ms += predicted.memory_bytes / MIB * length_ms;
        self.used_mb_ms += used.memory_bytes / MIB * length_ms;
    }
}

fn covers(allowed: Resources, used: Resources, resource: Resource) -> bool {
    used.get(resource) <= allowed.get(resource) * (1.0 + ROUNDING)
}

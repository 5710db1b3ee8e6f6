//! How the containers of a node crowded each other, by a report.

use std::collections::HashMap;

use elastane_core::Resources;
use elastane_protocol::{Report, Sample};
use elastane_runs::{CpuMeasured, Crowding};

use crate::amounts::capacity;

/// The CPU of a node in each interval of a report.
pub(crate) struct NodeCpu {
    capacity: Resources,
    /// The threads of its containers that computed or waited, by the number of the interval.
    ready_threads: HashMap<u64, f64>,
}

impl NodeCpu {
    pub(crate) fn of(report: &Report) -> Self {
        let mut ready_threads: HashMap<u64, f64> = HashMap::new();
        for sample in report.containers.iter().flat_map(|container| &container.samples) {
            let ready = sample.usage.cpu_cores + sample.usage.cpu_waited_cores;
            *ready_threads.entry(sample.sequence).or_default() += f64::from(ready);
        }
        Self { capacity: capacity(report), ready_threads }
    }

    /// The node's physical size.
    pub(crate) fn capacity(&self) -> Resources {
        self.capacity
    }

    pub(crate) fn crowding_of(&self, sample: &Sample) -> Crowding {
        Crowding::new(&CpuMeasured {
            used_cores: f64::from(sample.usage.cpu_cores),
            waited_threads: f64::from(sample.usage.cpu_waited_cores),
            throttled: f64::from(sample.usage.cpu_throttled),
            ready_threads_of_node: self.ready_threads.get(&sample.sequence).copied().unwrap_or(0.0),
            node_cores: self.capacity.cpu_cores,
        })
    }
}

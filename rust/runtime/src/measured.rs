//! The newest measurements of a node, for `status`.

use elastane_core::Resources;
use elastane_protocol::{Pressure, Report};
use serde::Serialize;

use crate::amounts::{used, used_by_others};

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Measured {
    used: Resources,
    used_by_others: Resources,
    /// The largest share of time in which a container's CPU was throttled.
    cpu_throttled: f32,
    pressure: Option<Pressure>,
    /// The number of containers that the agent asks to give way.
    memory_victims: usize,
}

impl From<&Report> for Measured {
    fn from(report: &Report) -> Self {
        let throttled = report
            .containers
            .iter()
            .filter_map(|container| container.samples.last())
            .map(|sample| sample.usage.cpu_throttled);
        Self {
            used: used(&report.containers_usage),
            used_by_others: used_by_others(report),
            cpu_throttled: throttled.fold(0.0, f32::max),
            pressure: report.pressure,
            memory_victims: report.memory_victims.len(),
        }
    }
}

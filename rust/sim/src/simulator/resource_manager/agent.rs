//! The agents of the simulated machines: their reports, and the limits that they get for them.

use std::collections::HashMap;

use elastane_core::plan::with_largest_bounds;
use elastane_core::{Progress, Resources, SLOT_MS};
use elastane_protocol::{
    CanLimit, Capacity, ContainerSamples, Limits, Report, Sample, Step, Usage,
};

use super::ResourceManager;
use crate::simulator::SimulationError;

/// The abilities of an agent that limits.
const LIMITS_ALL_BUT_MEMORY: CanLimit =
    CanLimit { cpu: true, memory: false, disk: true, network_sent: true, network_received: true };

/// The use of a container over some time, as its agent measures it. `throttled` is the fraction of the
/// time in which its CPU limit held it back.
pub(in crate::simulator) fn measured(
    container: &str,
    usage: Resources,
    length_ms: u32,
    throttled: f64,
) -> ContainerSamples {
    ContainerSamples {
        container: container.to_owned(),
        limits: None,
        stages: None,
        samples: vec![Sample {
            // The number of a sample that has arrived before, so that no run is recorded.
            sequence: 0,
            age_ms: 0,
            length_ms,
            usage: Usage {
                cpu_cores: usage.cpu_cores as f32,
                cpu_throttled: throttled as f32,
                memory_bytes: usage.memory_bytes as u64,
                network_in_bytes_per_s: usage.network_bytes_per_s as u64,
                disk_read_bytes_per_s: usage.disk_bytes_per_s as u64,
                ..Usage::default()
            },
        }],
    }
}

pub(super) fn name(machine: usize) -> String {
    format!("node-{}:0", machine + 1)
}

impl ResourceManager {
    /// An agent reports. Returns each container's limits until the next report: the largest of the steps
    /// until then.
    ///
    /// # Errors
    /// A machine of a size that no sensor can have measured.
    pub(in crate::simulator) fn reported(
        &mut self,
        machine: usize,
        capacity: Resources,
        containers: Vec<ContainerSamples>,
        limits: bool,
        now_ms: i64,
    ) -> Result<HashMap<String, Limits>, SimulationError> {
        let report = report(capacity, containers, limits);
        let reported = self.service.report(&name(machine), &report, now_ms);
        let reported = reported
            .map_err(|error| SimulationError::Report { machine, reason: error.to_string() })?;
        self.reprovisioned.extend(reported.reprovisioned);
        let plans = reported.reply.plans.into_iter();
        let limits = plans.filter_map(|plan| Some((plan.container, largest(plan.steps)?)));
        Ok(limits.collect())
    }

    /// A container's framework tells its progress.
    pub(in crate::simulator) fn progressed(&mut self, container: &str, progress: Progress) {
        self.service.progressed(container, progress);
    }

    /// An executor started or ended on a node, or its demand may have changed.
    pub(in crate::simulator) fn changed(&mut self, machine: usize) {
        self.earliest[machine].fill(0);
    }
}

fn report(capacity: Resources, containers: Vec<ContainerSamples>, limits: bool) -> Report {
    Report {
        agent_run: 1,
        sequence: 0,
        can_limit: if limits { LIMITS_ALL_BUT_MEMORY } else { CanLimit::default() },
        capacity: Capacity {
            cpu_cores: capacity.cpu_cores as f32,
            memory_bytes: capacity.memory_bytes as u64,
            network_bytes_per_s: capacity.network_bytes_per_s as u64,
            disk_bytes_per_s: capacity.disk_bytes_per_s as u64,
        },
        containers_usage: Usage::default(),
        node_usage: Usage::default(),
        pressure: None,
        memory_victims: Vec::new(),
        decommissioned: Vec::new(),
        containers,
    }
}

fn largest(steps: Vec<Step>) -> Option<Limits> {
    let until_next = steps.into_iter().filter(|step| step.offset_ms < SLOT_MS);
    until_next.map(|step| step.limits).reduce(with_largest_bounds)
}

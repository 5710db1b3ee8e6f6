//! The case with nothing to gain: one application whose executors all run at once, in lock-step.

use elastane_core::DemandError;
use elastane_sim::workload::Workload;

use super::class::{self, Class, ExecutorSize};
use super::elasecutor::{HEARTBEAT_MS, machines};

const EXECUTOR_CORES: u32 = 4;

pub(super) fn generate(_seed: u64) -> Result<Workload, DemandError> {
    let machines = machines();
    let cores: f64 = machines.iter().map(|machine| machine.cpu_cores).sum();
    let executors = cores as u32 / EXECUTOR_CORES;
    let class = Class::KMeans;
    let size = ExecutorSize::elasecutor(EXECUTOR_CORES);
    let name = "K-means".to_owned();
    let shape = class.shape(class.statistics().slots);
    let application = class::application(name, size, executors, &shape, size.peak(class))?;
    Ok(Workload {
        name: "lockstep".to_owned(),
        machines,
        heartbeat_ms: HEARTBEAT_MS,
        applications: vec![application],
    })
}

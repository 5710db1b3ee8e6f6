//! The case with nothing to gain: one application whose executors all run at once, in lock-step.

use elastane_core::DemandError;
use elastane_sim::workload::{Errors, TRACE_MACHINE, Workload};

use super::class::{Class, ExecutorSize, application, scaled};
use super::elasecutor::{MACHINES, on_machines};

const EXECUTOR_CORES: u32 = 4;

pub(super) fn generate(_seed: u64) -> Result<Workload, DemandError> {
    let executors = MACHINES as u32 * TRACE_MACHINE.cpu_cores as u32 / EXECUTOR_CORES;
    let class = Class::KMeans;
    let size = ExecutorSize::elasecutor(EXECUTOR_CORES);
    let shape = class.shape(class.statistics().slots);
    let actual = scaled(&shape, size.peak(class))?;
    let application = application("K-means".into(), size, executors, actual, Errors::default());
    Ok(on_machines("lockstep", vec![application]))
}

//! A large cluster that is full for most of a day, to measure the simulator's speed.
//!
//! Per machine there is one application with ten executors. An executor takes half a machine or more
//! and runs for hours, so that ten fill a day.

use crate::random::{Draw, Purpose, Random};
use elastane_core::DemandError;
use elastane_sim::workload::{ApplicationSpec, TRACE_MACHINE, Workload};

use super::class::{Class, ExecutorSize, application, scaled};
use super::elasecutor::{HEARTBEAT_MS, RECURRING};

/// The default number of machines.
pub(super) const MACHINES: usize = 10_000;

const EXECUTORS: u32 = 10;
const CORES: [u32; 5] = [8, 10, 12, 14, 16];
const HOURS: [f64; 4] = [1.0, 1.5, 2.0, 3.5];

/// Ten executors that each take three quarters of a machine for 2 hours fill one machine for 15 hours.
/// So the cluster is full soon after the first arrivals, and stays full long after the last.
const ARRIVE_WITHIN_HOURS: f64 = 12.0;

const HOUR_MS: f64 = 3_600e3;

pub(super) fn generate(seed: u64, machines: usize) -> Result<Workload, DemandError> {
    let mut random = Random::new(seed, Purpose::Workload);
    let recurring = recurring()?;
    let applications = (0..machines).map(|number| {
        let recurring = &recurring[random.index(recurring.len())];
        ApplicationSpec {
            name: format!("{}-{}", recurring.name, number + 1),
            submitted_ms: random.between(0.0, ARRIVE_WITHIN_HOURS * HOUR_MS) as i64,
            ..recurring.clone()
        }
    });
    let workload = Workload {
        name: "large".to_owned(),
        applications: applications.collect(),
        masters: Vec::new(),
        machines: vec![TRACE_MACHINE; machines],
        heartbeat_ms: HEARTBEAT_MS,
        queues: Vec::new(),
    };
    Ok(workload.sorted())
}

/// The recurring applications; all runs of one share its series.
fn recurring() -> Result<Vec<ApplicationSpec>, DemandError> {
    let mut recurring = Vec::new();
    for class in Class::ALL {
        for hours in HOURS {
            let slots = (hours * HOUR_MS / f64::from(elastane_core::SLOT_MS)) as usize;
            let shape = class.shape(slots);
            for cores in CORES {
                let size = ExecutorSize::elasecutor(cores);
                let name = format!("{class:?}-{hours}h-{cores}c");
                let peak = size.peak(class).capped(TRACE_MACHINE);
                let actual = scaled(&shape, peak)?;
                recurring.push(application(name, size, EXECUTORS, actual, RECURRING));
            }
        }
    }
    Ok(recurring)
}

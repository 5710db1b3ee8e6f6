//! Ursa's mixed workload at the grain of executors: queries, machine learning and graphs on 20
//! machines, one application each 5 s.
//!
//! The paper publishes machines, arrivals and results, but no sizes. Queries are those of
//! [`super::tpch`], the others Elasecutor's classes. Ursa's own grain, tasks split by resource, is
//! another simulation.

use crate::random::{Draw, Purpose, Random};
use elastane_core::{DemandError, Resources};
use elastane_sim::workload::{GIB, GIGABIT_PER_S, MEGABYTE_PER_S, Workload};

use super::class::{Class, ExecutorSize, application, scaled};
use super::elasecutor::RECURRING;
use super::tpch::query_application;

const MACHINES: usize = 20;
const SUBMISSION_INTERVAL_MS: i64 = 5_000;
const QUERIES: u64 = 22;
const OTHERS: usize = 10;
const EXECUTOR_CORES: u32 = 4;
const EXECUTORS: u32 = 20;

pub(super) fn generate(seed: u64) -> Result<Workload, DemandError> {
    let mut random = Random::new(seed, Purpose::Workload);
    let machine = Resources {
        // Ursa had 30 of the 32 cores.
        cpu_cores: 30.0,
        memory_bytes: 128.0 * GIB,
        network_bytes_per_s: 10.0 * GIGABIT_PER_S,
        disk_bytes_per_s: 500.0 * MEGABYTE_PER_S,
    };
    let mut applications = Vec::new();
    for query in 1..=QUERIES {
        let name = format!("q{query}");
        applications.push(query_application(query, name, EXECUTOR_CORES, 1.0)?);
    }
    for number in 0..OTHERS {
        let class = [Class::LogisticRegression, Class::KMeans, Class::PageRank][number % 3];
        let size = ExecutorSize::elasecutor(EXECUTOR_CORES);
        let part_of_measured = random.between(0.1, 0.5);
        let slots = class.slots_for(class.statistics().input_gb * part_of_measured);
        let name = format!("{class:?}-{}", number + 1);
        let actual = scaled(&class.shape(slots), size.peak(class))?;
        applications.push(application(name, size, EXECUTORS, actual, RECURRING));
    }
    random.shuffle(&mut applications);
    for (number, application) in applications.iter_mut().enumerate() {
        application.submitted_ms = number as i64 * SUBMISSION_INTERVAL_MS;
    }
    Ok(Workload {
        name: "ursa-mix".to_owned(),
        machines: vec![machine; MACHINES],
        heartbeat_ms: 1_000,
        queues: Vec::new(),
        applications,
        masters: Vec::new(),
    })
}

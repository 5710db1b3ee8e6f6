//! Elasecutor's second mix: the 22 queries of TPC-H.
//!
//! The paper publishes their number and arrivals, but no series. The shape here follows Spark's
//! execution of such a query: it reads and filters tables, exchanges and joins a few times, and
//! aggregates.

use crate::random::{Draw, Purpose, Random};
use elastane_core::{Demand, DemandError, Resources, SLOT_MS};
use elastane_sim::workload::{ApplicationSpec, Workload};

use super::class::{ExecutorSize, application};
use super::elasecutor::{
    CORES_PER_APPLICATION, LARGEST_EXECUTOR_CORES, MEAN_ARRIVAL_S, RECURRING, on_machines, poisson,
};

const QUERIES: u64 = 22;
const RUNS_OF_EACH: u32 = 6;

pub(super) fn generate(seed: u64) -> Result<Workload, DemandError> {
    let mut random = Random::new(seed, Purpose::Workload);
    let mut applications = Vec::new();
    for query in 1..=QUERIES {
        for run in 0..RUNS_OF_EACH {
            let cores = 1 + run % LARGEST_EXECUTOR_CORES;
            let name = format!("q{query}-{}-{cores}c", run + 1);
            let input = 1.0 + f64::from(run % 3);
            applications.push(query_application(query, name, cores, input)?);
        }
    }
    random.shuffle(&mut applications);
    poisson(&mut applications, MEAN_ARRIVAL_S, &mut random);
    Ok(on_machines("elasecutor-tpch", applications))
}

/// One query on an input of `input` times the smallest size.
pub(super) fn query_application(
    query: u64,
    name: String,
    cores: u32,
    input: f64,
) -> Result<ApplicationSpec, DemandError> {
    let size = ExecutorSize::elasecutor(cores);
    let series = query_series(query, f64::from(cores), size.memory_bytes, input);
    let actual = Demand::series(SLOT_MS, &series)?;
    let executors = CORES_PER_APPLICATION / cores;
    Ok(application(name, size, executors, actual, RECURRING))
}

/// All runs of a query are alike, so its number is the seed.
fn query_series(query: u64, cores: f64, memory_bytes: f64, input: f64) -> Vec<Resources> {
    let mut random = Random::new(query, Purpose::Workload);
    let joins = 1 + random.index(5);
    let mut series = Vec::new();
    let mut stage =
        |length_slots: f64, cpu: f64, memory: f64, network_mb_s: f64, disk_mb_s: f64| {
            let amounts = Resources {
                cpu_cores: cpu * cores,
                memory_bytes: memory * memory_bytes,
                network_bytes_per_s: network_mb_s * 1e6 * cores,
                disk_bytes_per_s: disk_mb_s * 1e6 * cores,
            };
            let slots = (length_slots * input).round().max(1.0) as usize;
            series.extend(std::iter::repeat_n(amounts, slots));
        };
    let read_slots = random.between(5.0, 30.0);
    let read_mb_s = random.between(20.0, 60.0);
    stage(read_slots, random.between(0.4, 1.0), 0.3, 1.0, read_mb_s);
    for join in 0..joins {
        let memory = (0.4 + 0.1 * join as f64).min(0.8);
        let exchange_mb_s = random.between(20.0, 130.0);
        stage(random.between(1.0, 4.0), 0.3, memory, exchange_mb_s, 15.0);
        stage(random.between(4.0, 20.0), random.between(0.6, 1.0), memory, 0.5, 5.0);
    }
    stage(random.between(1.0, 5.0), 0.3, 0.5, 10.0, 10.0);
    series
}

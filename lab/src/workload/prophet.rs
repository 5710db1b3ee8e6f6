//! Prophet's mix (section VI): ten benchmarks, three inputs, executors of 1, 3 and 5 cores.

use elastane_core::{DemandError, Resources};
use elastane_sim::random::{Purpose, Random};
use elastane_sim::workload::{ApplicationSpec, Errors};
use elastane_sim::workload::{GIB, GIGABIT_PER_S, MEGABYTE_PER_S, Workload};

use super::class::{self, Class, ExecutorSize, scaled};

const MACHINES: usize = 16;
const ARRIVE_WITHIN_S: f64 = 1_200.0;
const EXECUTOR_CORES: [u32; 3] = [1, 3, 5];

/// The paper does not publish the number of executors of an application. These are the cores in
/// Elasecutor's Table I.
const CORES_PER_APPLICATION: u32 = 60;

/// Table I: large, medium, small, in GB. Prophet publishes no series, so each benchmark has a class of
/// Elasecutor's Table II.
const BENCHMARKS: [(&str, Class, [f64; 3]); 10] = [
    ("SVM", Class::LogisticRegression, [38.3, 19.2, 9.6]),
    ("KMeans", Class::KMeans, [21.9, 10.9, 5.5]),
    ("LR", Class::LogisticRegression, [37.1, 18.5, 9.3]),
    ("PageRank", Class::PageRank, [4.0, 1.9, 0.9331]),
    ("SVD++", Class::PageRank, [0.3656, 0.1633, 0.0781]),
    ("TriangleCount", Class::PageRank, [0.3647, 0.1672, 0.0865]),
    ("Terasort", Class::Terasort, [37.3, 18.6, 9.3]),
    ("WordCount", Class::Terasort, [44.0, 22.0, 11.0]),
    ("Sort", Class::Terasort, [44.0, 22.0, 11.0]),
    ("Grep", Class::Terasort, [44.0, 22.0, 11.0]),
];

/// The largest use of an executor that the paper profiled.
const LARGEST_DISK_BYTES_PER_S: f64 = 300.0 * MEGABYTE_PER_S;
const LARGEST_NETWORK_BYTES_PER_S: f64 = 160.0 * MEGABYTE_PER_S;

/// Predictions were mostly within 10 %, the starts of stages within 5 %.
const ERRORS: Errors = Errors { slot: Resources::from_array([0.05; 4]), length: 0.05 };

pub(super) fn generate(seed: u64) -> Result<Workload, DemandError> {
    let mut random = Random::new(seed, Purpose::Workload);
    let machine = Resources {
        cpu_cores: 24.0,
        memory_bytes: 32.0 * GIB,
        network_bytes_per_s: GIGABIT_PER_S,
        disk_bytes_per_s: 330.0 * MEGABYTE_PER_S,
    };
    let mut applications = Vec::new();
    for (name, class, inputs_gb) in BENCHMARKS {
        for (input_gb, size) in inputs_gb.into_iter().zip(["large", "medium", "small"]) {
            let shape = class.shape(class.slots_for(input_gb));
            for cores in EXECUTOR_CORES {
                let name = format!("{name}-{size}-{cores}c");
                applications.push(ApplicationSpec {
                    submitted_ms: (random.between(0.0, ARRIVE_WITHIN_S) * 1e3) as i64,
                    ..application(name, class, cores, &shape)?
                });
            }
        }
    }
    let workload = Workload {
        name: "prophet".to_owned(),
        machines: vec![machine; MACHINES],
        heartbeat_ms: 1_000,
        queues: Vec::new(),
        applications,
        masters: Vec::new(),
    };
    Ok(workload.sorted())
}

fn application(
    name: String,
    class: Class,
    cores: u32,
    shape: &[Resources],
) -> Result<ApplicationSpec, DemandError> {
    // The memory per core of the machines.
    let memory_bytes = 32.0 / 24.0 * GIB * f64::from(cores);
    let size = ExecutorSize { cores, memory_bytes };
    let peak = size.peak(class);
    let peak = Resources {
        network_bytes_per_s: peak.network_bytes_per_s.min(LARGEST_NETWORK_BYTES_PER_S),
        disk_bytes_per_s: peak.disk_bytes_per_s.min(LARGEST_DISK_BYTES_PER_S),
        ..peak
    };
    let executors = CORES_PER_APPLICATION / cores;
    let actual = scaled(shape, peak)?;
    Ok(class::application(name, size, executors, actual, ERRORS))
}

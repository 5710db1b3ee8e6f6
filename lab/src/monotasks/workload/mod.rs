//! The jobs of Ursa's evaluation, generated from a seed.
//!
//! Their number, arrivals and total CPU work (makespan · cores · SE · UE of Ursa-EJF) are published.
//! All other properties are drawn from the ranges here.

mod expectable;
mod iterative;
mod query;

use crate::random::{Draw, Purpose, Random};

use self::expectable::{TYPE_1, TYPE_2};
use super::job::{Job, Stage, Task};

/// Time between two submissions.
const INTERVAL_S: f64 = 5.0;

/// Input that a core processes per second.
const INPUT_BYTES_PER_CPU_S: f64 = 40e6;

/// m2i: maximum memory per byte of input; the actual memory is [`LEAST_MEMORY`] to 1 times it.
const MEMORY_TO_INPUT: f64 = 5.0;
const LEAST_MEMORY: f64 = 0.6;

/// A machine's network rate per core.
const NETWORK_BYTES_PER_CORE_S: f64 = 1.25e9 / 30.0;

/// A workload of Ursa's evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jobs {
    /// 200 queries like those of TPC-H.
    TpcH,
    /// 200 queries like those of TPC-DS: smaller ones of more stages.
    TpcDs,
    /// Queries, machine learning and graphs.
    Mixed,
    /// 40 jobs of type 1, at once.
    Expectable,
    /// 40 jobs of types 1 and 2 in turn, at once.
    ExpectableMixed,
}

impl Jobs {
    /// Every workload.
    pub const ALL: [Self; 5] =
        [Self::TpcH, Self::TpcDs, Self::Mixed, Self::Expectable, Self::ExpectableMixed];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TpcH => "tpc-h",
            Self::TpcDs => "tpc-ds",
            Self::Mixed => "mixed",
            Self::Expectable => "expectable",
            Self::ExpectableMixed => "expectable-mixed",
        }
    }

    /// The jobs in the order of submission; the same seed gives the same jobs.
    pub fn draw(self, seed: u64) -> Vec<Job> {
        let random = &mut Random::new(seed, Purpose::Workload);
        match self {
            Self::TpcH => query::queries(random, 200, &query::TPC_H, 1.55e6),
            Self::TpcDs => query::queries(random, 200, &query::TPC_DS, 0.85e6),
            Self::Mixed => mixed(random),
            Self::Expectable => expectable::jobs(random, &[TYPE_1]),
            Self::ExpectableMixed => expectable::jobs(random, &[TYPE_1, TYPE_2]),
        }
    }
}

/// Half of the CPU work is queries, a quarter machine learning, a quarter graphs.
fn mixed(random: &mut Random) -> Vec<Job> {
    const CPU_S: f64 = 240e3;
    let mut jobs = query::queries(random, 24, &query::TPC_H, CPU_S / 2.0);
    jobs.extend(iterative::jobs(random, 4, &iterative::LEARNING, CPU_S / 4.0));
    jobs.extend(iterative::jobs(random, 4, &iterative::GRAPH, CPU_S / 4.0));
    random.shuffle(&mut jobs);
    submit(&mut jobs);
    jobs
}

fn submit(jobs: &mut [Job]) {
    for (at, job) in jobs.iter_mut().enumerate() {
        job.submitted_s = at as f64 * INTERVAL_S;
    }
}

/// Relative CPU work of jobs: few are large, the largest about 20 times the smallest.
fn sizes(random: &mut Random, count: usize, cpu_s: f64) -> Vec<f64> {
    let sizes: Vec<f64> = (0..count).map(|_| 1.0 / (0.05 + random.unit())).collect();
    let sum: f64 = sizes.iter().sum();
    sizes.iter().map(|size| size / sum * cpu_s).collect()
}

/// Properties common to the tasks of a stage.
struct StageShape {
    cpu_s: f64,
    tasks: usize,
    /// Network rate per busy core, over [`NETWORK_BYTES_PER_CORE_S`].
    network: f64,
    writes: bool,
}

/// Tasks of skewed sizes whose CPU work adds up to the stage's.
fn stage(random: &mut Random, parents: Vec<usize>, shape: &StageShape) -> Stage {
    let tasks = shape.tasks.max(1);
    let sizes: Vec<f64> = (0..tasks).map(|_| 0.7 + random.exponential(0.3)).collect();
    let sum: f64 = sizes.iter().sum();
    let tasks = sizes
        .iter()
        .map(|size| {
            let cpu_s = shape.cpu_s * size / sum;
            let input_bytes = cpu_s * INPUT_BYTES_PER_CPU_S;
            let network_bytes = shape.network * cpu_s * NETWORK_BYTES_PER_CORE_S;
            let disk_bytes = if shape.writes { input_bytes / 10.0 } else { 0.0 };
            Task {
                work: [network_bytes, cpu_s, disk_bytes],
                input_bytes,
                memory_bytes: input_bytes * MEMORY_TO_INPUT * random.between(LEAST_MEMORY, 1.0),
            }
        })
        .collect();
    Stage { parents, tasks }
}

/// Users request a fifth more memory than the stage with the largest input takes.
fn job(name: String, spark_cpu: f64, stages: Vec<Stage>) -> Job {
    let most_input_bytes = stages
        .iter()
        .map(|stage| stage.tasks.iter().map(|task| task.input_bytes).sum::<f64>())
        .fold(0.0, f64::max);
    Job {
        name,
        submitted_s: 0.0,
        memory_bytes: 1.2 * MEMORY_TO_INPUT * most_input_bytes,
        memory_to_input: MEMORY_TO_INPUT,
        spark_cpu,
        stages,
    }
}

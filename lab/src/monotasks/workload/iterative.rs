//! Machine learning and graphs: the jobs load their input once, then iterate.

use crate::random::{Draw, Random};

use super::{StageShape, job, sizes, stage};
use crate::monotasks::job::Job;

/// Properties common to the jobs of a kind.
pub(super) struct Iterations {
    name: &'static str,
    least: usize,
    most: usize,
    task_cpu_s: f64,
    network: (f64, f64),
}

/// Exchanges the model and its gradients: little data.
pub(super) const LEARNING: Iterations =
    Iterations { name: "learning", least: 8, most: 15, task_cpu_s: 3.0, network: (0.1, 0.4) };

/// Exchanges messages along all edges.
pub(super) const GRAPH: Iterations =
    Iterations { name: "graph", least: 6, most: 12, task_cpu_s: 3.0, network: (0.8, 1.5) };

/// The fraction of the work that loads the input.
const LOAD: f64 = 0.15;

/// The mixed workload takes 366,000 core-seconds with Spark (SE · UE · makespan) and 240,000 with Ursa.
/// Queries take the same with both (table 2), so iterative jobs must take twice as much.
const SPARK_CPU: f64 = 2.0;

pub(super) fn jobs(random: &mut Random, count: usize, kind: &Iterations, cpu_s: f64) -> Vec<Job> {
    sizes(random, count, cpu_s)
        .iter()
        .enumerate()
        .map(|(at, cpu_s)| iterations(random, at, kind, *cpu_s))
        .collect()
}

fn iterations(random: &mut Random, at: usize, kind: &Iterations, cpu_s: f64) -> Job {
    let count = kind.least + random.index(kind.most - kind.least + 1);
    let network = random.between(kind.network.0, kind.network.1);
    let shape = |share: f64, network: f64| StageShape {
        cpu_s: cpu_s * share,
        tasks: (cpu_s * share / kind.task_cpu_s).ceil() as usize,
        network,
        writes: false,
    };
    let load = shape(LOAD, 0.3);
    let iteration = shape((1.0 - LOAD) / count as f64, network);
    let mut stages = vec![stage(random, Vec::new(), &load)];
    for at in 0..count {
        stages.push(stage(random, vec![at], &iteration));
    }
    job(format!("{}-{at}", kind.name), SPARK_CPU, stages)
}

//! Generated applications: much work at first, less in each iteration.

use crate::random::{Draw, Purpose, Random};
use elastane_sim::summary::mean;

use super::executor::{iteration_s, spread};
use super::job::{IsparkJob, Iteration, PARTITIONS};
use super::parameters::IsparkParameters;

/// The paper's workloads with their number of iterations.
const WORKLOADS: [(&str, usize); 4] = [("LDA", 20), ("SVM", 20), ("PageRank", 12), ("KMeans", 15)];

/// Utilization of an executor while it loads and in the first iteration.
const USE_AT_FIRST: f64 = 0.9;
/// Utilization at the end: between the minimum and the maximum of Figure 4.
const CPU_IN_THE_END: [f64; 2] = [0.1, 0.3];
const MEMORY_IN_THE_END: [f64; 2] = [0.2, 0.45];
/// Waiting time of an iteration of 8 executors: reading, exchange, the driver.
const WAIT_S: [f64; 2] = [6.0, 10.0];

/// The applications of a seed, in the order of submission.
pub fn jobs(parameters: &IsparkParameters, seed: u64) -> Vec<IsparkJob> {
    let mut random = Random::new(seed, Purpose::Workload);
    let mut jobs = Vec::new();
    for run in 0..parameters.runs_of_each {
        for (name, iterations) in WORKLOADS {
            let name = format!("{name}-{}", run + 1);
            jobs.push(job(parameters, name, iterations, &mut random));
        }
    }
    random.shuffle(&mut jobs);
    let times_s: Vec<f64> =
        jobs.iter().map(|job| job.undisturbed_s(parameters.executors)).collect();
    let at_once = parameters.room as f64 / parameters.executors as f64;
    let gap_s = mean(&times_s) / at_once / parameters.load;
    let mut at_s = 0.0;
    for job in &mut jobs {
        job.submitted_s = at_s;
        at_s += random.exponential(gap_s);
    }
    jobs
}

fn job(
    parameters: &IsparkParameters,
    name: String,
    iterations: usize,
    random: &mut Random,
) -> IsparkJob {
    let between = |random: &mut Random, [least, most]: [f64; 2]| random.between(least, most);
    let cpu = between(random, CPU_IN_THE_END);
    let memory = between(random, MEMORY_IN_THE_END);
    let wait_s = between(random, WAIT_S);
    let each = PARTITIONS as f64 / parameters.executors as f64;
    let falls_within = parameters.falls_within * iterations as f64;
    let iterations = (0..iterations).map(|number| {
        let falling =
            |end: f64| end + (USE_AT_FIRST - end) * (-(number as f64) / falls_within).exp();
        let used = falling(cpu);
        // Utilization is computing time over the length of the iteration.
        let compute_s = wait_s * used / (1.0 - used);
        Iteration {
            compute_s: compute_s / each,
            wait_s: wait_s * (1.0 - parameters.serial_part) / each,
            serial_s: wait_s * parameters.serial_part,
            memory_bytes: falling(memory) * parameters.executor_memory_bytes / each,
            expected_s: 0.0,
        }
    });
    let iterations = iterations.collect();
    let weights = (0..PARTITIONS).map(|_| random.factor(parameters.skew));
    let mut job = IsparkJob { name, submitted_s: 0.0, weights: weights.collect(), iterations };
    // The length in an earlier run.
    let executors = spread(parameters.executors);
    for at in 0..job.iterations.len() {
        let factor = random.factor(parameters.expectation_error);
        job.iterations[at].expected_s = iteration_s(&job, at, &executors) * factor;
    }
    job
}

/// A lower bound of the makespan: all computing over all cores, or the end of the last application if
/// it ran alone with all executors that it can use, whichever is longer.
pub fn lower_bound_s(parameters: &IsparkParameters, jobs: &[IsparkJob]) -> f64 {
    let first_s = jobs.first().map_or(0.0, |job| job.submitted_s);
    let compute_s: f64 = jobs
        .iter()
        .map(|job| {
            let partitions: f64 = job.weights.iter().sum();
            let iterations = job.iterations.iter();
            iterations.map(|one| one.compute_s * partitions).sum::<f64>()
        })
        .sum();
    let ends_s = jobs
        .iter()
        .map(|job| job.submitted_s + job.undisturbed_s(parameters.most_executors) - first_s);
    ends_s.fold(compute_s / parameters.room as f64, f64::max)
}

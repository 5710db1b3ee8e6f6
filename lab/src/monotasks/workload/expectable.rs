//! Jobs whose best completion times are known.

use elastane_sim::random::Random;

use super::{MEMORY_TO_INPUT, NETWORK_BYTES_PER_CORE_S, job};
use crate::monotasks::job::{Job, Stage, Task};

/// The type of a job; `data` is relative to type 1.
#[derive(Clone, Copy)]
pub(super) struct JobType {
    name: &'static str,
    data: f64,
}

pub(super) const TYPE_1: JobType = JobType { name: "type-1", data: 1.0 };
pub(super) const TYPE_2: JobType = JobType { name: "type-2", data: 0.5 };

const JOBS: usize = 40;
const STAGES: usize = 5;
const TASKS: usize = 600;

/// A job takes 40 s with all the data and 22 s with half of it, over 5 stages: 7.2 s of a stage are
/// proportional to the data and 0.8 s are constant. Two jobs in turn take 40 s together, so half of the
/// time of a stage is CPU: 3.6 s of the proportional part and 0.4 s of the constant part. The rest of
/// the constant part is the latency of a stage and of a round.
const DATA_NETWORK_S: f64 = 3.6;
const DATA_CPU_S: f64 = 3.6;
const CONSTANT_CPU_S: f64 = 0.4;
const INPUT_BYTES: f64 = 150e6;

/// Deviation of the tasks of a stage; a larger one makes the times of single jobs exceed the published
/// ones.
const DEVIATION: f64 = 0.01;

/// The paper submits the jobs at once; here the interval keeps their order.
const BETWEEN_SUBMISSIONS_S: f64 = 0.001;

/// Jobs of these types in turn.
pub(super) fn jobs(random: &mut Random, types: &[JobType]) -> Vec<Job> {
    (0..JOBS)
        .map(|at| {
            let job_type = types[at % types.len()];
            let stages = (0..STAGES).map(|stage| one_stage(random, stage, job_type)).collect();
            let mut job = job(format!("{}-{at}", job_type.name), 1.0, stages);
            job.submitted_s = at as f64 * BETWEEN_SUBMISSIONS_S;
            job
        })
        .collect()
}

fn one_stage(random: &mut Random, at: usize, job_type: JobType) -> Stage {
    let tasks = (0..TASKS)
        .map(|_| {
            let data = job_type.data * random.factor(DEVIATION);
            Task {
                work: [
                    data * DATA_NETWORK_S * NETWORK_BYTES_PER_CORE_S,
                    data * DATA_CPU_S + CONSTANT_CPU_S,
                    0.0,
                ],
                input_bytes: data * INPUT_BYTES,
                memory_bytes: data * INPUT_BYTES * MEMORY_TO_INPUT * 0.8,
            }
        })
        .collect();
    Stage { parents: at.checked_sub(1).into_iter().collect(), tasks }
}

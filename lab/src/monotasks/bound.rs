//! A lower bound of the makespan under any scheduler.

use super::job::{Job, Kind, Work, plus};
use super::parameters::Parameters;

/// The lower bound of the makespan, in seconds: the larger of two bounds.
///
/// - For each resource and submission: the time until that submission, plus the work of all jobs
///   submitted from then on over the capacity.
/// - The critical path of a job: each stage takes its latency, plus its longest task alone on a machine
///   or the whole stage on all machines, whichever is longer.
pub fn lower_bound_s(jobs: &[Job], parameters: &Parameters) -> f64 {
    let first_s = jobs.iter().map(|job| job.submitted_s).fold(f64::INFINITY, f64::min);
    let chain_s = jobs
        .iter()
        .map(|job| job.submitted_s - first_s + chain_s(job, parameters))
        .fold(0.0, f64::max);
    chain_s.max(by_resource_s(jobs, parameters, first_s))
}

fn by_resource_s(jobs: &[Job], parameters: &Parameters, first_s: f64) -> f64 {
    let mut by_submission: Vec<&Job> = jobs.iter().collect();
    by_submission.sort_by(|left, right| left.submitted_s.total_cmp(&right.submitted_s));
    let mut later = [0.0; 3];
    let mut bound_s = 0.0_f64;
    for job in by_submission.iter().rev() {
        for task in job.stages.iter().flat_map(|stage| &stage.tasks) {
            later = plus(later, task.work);
        }
        bound_s = bound_s.max(job.submitted_s - first_s + on_all_machines_s(later, parameters));
    }
    bound_s
}

fn chain_s(job: &Job, parameters: &Parameters) -> f64 {
    let mut ends_s: Vec<f64> = Vec::with_capacity(job.stages.len());
    for stage in &job.stages {
        let ready_s = stage
            .parents
            .iter()
            .filter_map(|parent| ends_s.get(*parent))
            .fold(0.0, |latest: f64, end_s| latest.max(*end_s));
        let mut all = [0.0; 3];
        let mut longest_s = 0.0_f64;
        for task in &stage.tasks {
            all = plus(all, task.work);
            longest_s = longest_s.max(alone_s(task.work, parameters));
        }
        let stage_s = longest_s.max(on_all_machines_s(all, parameters));
        ends_s.push(ready_s + parameters.stage_latency_s + stage_s);
    }
    ends_s.iter().copied().fold(0.0, f64::max)
}

fn alone_s(work: Work, parameters: &Parameters) -> f64 {
    let machines = parameters.machines;
    work[Kind::Network as usize] / machines.network_bytes_per_s
        + work[Kind::Cpu as usize]
        + work[Kind::Disk as usize] / machines.disk_bytes_per_s
}

fn on_all_machines_s(work: Work, parameters: &Parameters) -> f64 {
    let machines = parameters.machines;
    work.iter()
        .zip(machines.rates())
        .map(|(work, rate)| work / (rate * machines.count as f64))
        .fold(0.0, f64::max)
}

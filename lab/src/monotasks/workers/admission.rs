//! Admission of jobs by requested memory.

use std::collections::VecDeque;

use crate::monotasks::job::Job;

/// Admits jobs in the order of arrival while the sum of their requested memory is within the limit. A
/// job that requests more than the limit runs alone.
#[derive(Debug)]
pub(super) struct Admission {
    free_bytes: f64,
    admitted: Vec<u32>,
    /// Waiting jobs with their ready stages.
    waiting: VecDeque<(u32, Vec<u32>)>,
}

impl Admission {
    pub(super) fn new(memory_bytes: f64) -> Self {
        Self { free_bytes: memory_bytes, admitted: Vec::new(), waiting: VecDeque::new() }
    }

    /// A stage of a job is ready. Returns the newly admitted stages.
    pub(super) fn came(&mut self, jobs: &[Job], job: u32, stage: u32) -> Vec<u32> {
        if self.admitted.contains(&job) {
            return vec![stage];
        }
        match self.waiting.iter_mut().find(|(waiting, _)| *waiting == job) {
            Some((_, stages)) => stages.push(stage),
            None => self.waiting.push_back((job, vec![stage])),
        }
        self.admit(jobs)
    }

    /// A job ended. Returns the newly admitted stages.
    pub(super) fn ended(&mut self, jobs: &[Job], job: u32) -> Vec<u32> {
        self.admitted.retain(|admitted| *admitted != job);
        self.free_bytes += jobs[job as usize].memory_bytes;
        self.admit(jobs)
    }

    fn admit(&mut self, jobs: &[Job]) -> Vec<u32> {
        let mut admitted = Vec::new();
        while let Some((job, _)) = self.waiting.front() {
            let asked_bytes = jobs[*job as usize].memory_bytes;
            if asked_bytes > self.free_bytes && !self.admitted.is_empty() {
                break;
            }
            if let Some((job, stages)) = self.waiting.pop_front() {
                self.free_bytes -= asked_bytes;
                self.admitted.push(job);
                admitted.extend(stages);
            }
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(asked_bytes: &[f64]) -> Vec<Job> {
        let job = |asked: &f64| Job {
            name: String::new(),
            submitted_s: 0.0,
            memory_bytes: *asked,
            memory_to_input: 1.0,
            spark_cpu: 1.0,
            stages: Vec::new(),
        };
        asked_bytes.iter().map(job).collect()
    }

    #[test]
    fn jobs_wait_in_their_order_for_the_memory_that_they_asked_for() {
        let jobs = jobs(&[6.0, 6.0, 1.0]);
        let mut admission = Admission::new(10.0);
        assert_eq!(admission.came(&jobs, 0, 0), [0]);
        assert!(admission.came(&jobs, 1, 10).is_empty());
        assert!(admission.came(&jobs, 2, 20).is_empty(), "not past the one before");
        assert_eq!(admission.came(&jobs, 0, 1), [1], "an admitted job's next stage");
        assert_eq!(admission.ended(&jobs, 0), [10, 20]);
    }

    #[test]
    fn a_job_that_asks_for_more_than_there_is_runs_alone() {
        let jobs = jobs(&[1.0, 99.0]);
        let mut admission = Admission::new(10.0);
        assert_eq!(admission.came(&jobs, 0, 0), [0]);
        assert!(admission.came(&jobs, 1, 1).is_empty());
        assert_eq!(admission.ended(&jobs, 0), [1]);
    }
}

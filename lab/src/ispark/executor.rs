//! An executor of one core.

use elastane_core::Resources;

use super::job::{IsparkJob, Iteration, PARTITIONS};

/// The partitions of an executor, in one stream per executor that was packed into it, and one of its
/// own. A stream processes its partitions in sequence.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct IsparkExecutor {
    pub(super) streams: Vec<Vec<usize>>,
}

/// Distributes all partitions over this many unpacked executors.
pub(super) fn spread(executors: usize) -> Vec<IsparkExecutor> {
    let of = |executor: usize| IsparkExecutor {
        streams: vec![(executor..PARTITIONS).step_by(executors).collect()],
    };
    (0..executors).map(of).collect()
}

/// The length of an iteration: the slowest executor plus the waiting time of all.
pub(super) fn iteration_s(job: &IsparkJob, number: usize, executors: &[IsparkExecutor]) -> f64 {
    let iteration = &job.iterations[number];
    let times_s = executors.iter().map(|one| one.iteration_s(job, iteration));
    iteration.serial_s + times_s.fold(0.0, f64::max)
}

impl IsparkExecutor {
    fn weight(&self, job: &IsparkJob) -> f64 {
        let partitions = self.streams.iter().flatten();
        partitions.map(|partition| job.weights[*partition]).sum()
    }

    pub(super) fn memory_bytes(&self, job: &IsparkJob, iteration: &Iteration) -> f64 {
        iteration.memory_bytes * self.weight(job)
    }

    /// The length of an iteration on this executor, without waits of all executors.
    ///
    /// A stream computes and waits in turn, and queues for the core while others compute. This is a
    /// closed queueing network of one server. Mean value analysis gives its exact cycle time for k
    /// equal streams: `R_k = compute · (1 + Q_{k−1})` and `Q_k = k · R_k ÷ (wait + R_k)`. Two streams
    /// that each use 30 % of the core take 9 % longer.
    pub(super) fn iteration_s(&self, job: &IsparkJob, iteration: &Iteration) -> f64 {
        let each = self.weight(job) / self.streams.len().max(1) as f64;
        let (compute_s, wait_s) = (iteration.compute_s * each, iteration.wait_s * each);
        let mut response_s = compute_s;
        let mut queued = 0.0;
        for streams in 1..=self.streams.len() {
            response_s = compute_s * (1.0 + queued);
            queued = streams as f64 * response_s / (wait_s + response_s);
        }
        wait_s + response_s
    }

    /// Mean utilization during an iteration that takes the application `elapsed_s`.
    pub(super) fn usage(
        &self,
        job: &IsparkJob,
        iteration: &Iteration,
        elapsed_s: f64,
        memory_bytes: f64,
    ) -> Resources {
        Resources {
            cpu_cores: iteration.compute_s * self.weight(job) / elapsed_s,
            memory_bytes: self.memory_bytes(job, iteration) / memory_bytes,
            ..Resources::ZERO
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> IsparkJob {
        IsparkJob {
            name: String::new(),
            submitted_s: 0.0,
            iterations: Vec::new(),
            weights: vec![1.0; 3],
        }
    }

    fn packed(streams: usize) -> IsparkExecutor {
        IsparkExecutor { streams: (0..streams).map(|partition| vec![partition]).collect() }
    }

    fn iteration(compute_s: f64, wait_s: f64) -> Iteration {
        Iteration { compute_s, wait_s, serial_s: 0.0, memory_bytes: 0.0, expected_s: 1.0 }
    }

    #[test]
    fn streams_that_share_a_core_wait_for_each_other() {
        let took = |streams| packed(streams).iteration_s(&job(), &iteration(0.3, 0.7));
        assert_eq!(took(1), 1.0);
        assert!((took(2) - 1.09).abs() < 1e-12, "{}", took(2));
        // The third meets 2 × 0.39 ÷ 1.09 at the core.
        let third = 0.7 + 0.3 * (1.0 + 2.0 * 0.39 / 1.09);
        assert!((took(3) - third).abs() < 1e-12, "{}", took(3));
    }

    #[test]
    fn streams_that_only_compute_take_turns() {
        let took = packed(2).iteration_s(&job(), &iteration(1.0, 0.0));
        assert!((took - 2.0).abs() < 1e-12, "{took}");
    }
}

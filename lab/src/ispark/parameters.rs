//! All parameters of the model.

/// The setup of the paper, and parameters that the paper does not publish.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct IsparkParameters {
    /// Executors that fit the cluster: four on each of 8 workers, the maximum of dynamic allocation.
    pub room: usize,
    /// Executors of an application without dynamic allocation.
    pub executors: usize,
    /// Maximum executors of an application with dynamic allocation.
    pub most_executors: usize,
    /// Memory of an executor of one core, in bytes.
    pub executor_memory_bytes: f64,
    /// γ: the mean dominant factor below which executors are packed. The paper chose γ by experiment and
    /// names no value.
    pub trigger: f64,
    /// θ: the fraction of its size up to which an executor is filled.
    pub threshold: f64,
    /// h: an iteration is slow if it exceeds h times its expected time.
    pub slowdown: f64,
    /// The number of applications of each of the four workloads.
    pub runs_of_each: usize,
    /// The fraction of its iterations after which two thirds of the decline of an application's
    /// utilization are over.
    pub falls_within: f64,
    /// The rate of arriving work over the cluster's throughput with static executors.
    pub load: f64,
    /// The fraction of an iteration's waiting time that cannot overlap with computing: the driver, and
    /// the wait for the slowest task.
    pub serial_part: f64,
    /// The time to start an executor, in seconds.
    pub start_s: f64,
    /// The rate at which cached data moves to another executor: a link of 1 Gbit/s.
    pub handover_bytes_per_s: f64,
    /// The standard deviation of a partition's work, as a fraction.
    pub skew: f64,
    /// The standard deviation of the expected time of an iteration, as a fraction.
    pub expectation_error: f64,
}

impl Default for IsparkParameters {
    fn default() -> Self {
        Self {
            room: 32,
            executors: 8,
            most_executors: 32,
            executor_memory_bytes: 2.0 * 1024.0 * 1024.0 * 1024.0,
            trigger: 0.5,
            threshold: 1.0,
            slowdown: 1.1,
            runs_of_each: 8,
            falls_within: 0.1,
            load: 1.0,
            serial_part: 0.25,
            start_s: 3.0,
            handover_bytes_per_s: 125e6,
            skew: 0.1,
            expectation_error: 0.03,
        }
    }
}

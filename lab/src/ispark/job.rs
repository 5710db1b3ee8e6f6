//! An iterative application and its work.

/// Partitions of an application, and so the maximum executors that dynamic allocation can use.
pub(super) const PARTITIONS: usize = 32;

/// An iterative application.
#[derive(Debug, Clone, PartialEq)]
pub struct IsparkJob {
    /// The workload and the number of its run.
    pub name: String,
    /// Seconds since the first submission.
    pub submitted_s: f64,
    /// In order.
    pub iterations: Vec<Iteration>,
    /// The work of each partition over the mean.
    pub weights: Vec<f64>,
}

/// The work of an iteration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Iteration {
    /// Core-seconds of a partition.
    pub compute_s: f64,
    /// Waiting time of a partition: reading and exchange.
    pub wait_s: f64,
    /// Waiting time of all executors.
    pub serial_s: f64,
    /// The cached data of a partition.
    pub memory_bytes: f64,
    /// The expected time of the iteration with all executors.
    pub expected_s: f64,
}

impl IsparkJob {
    /// The length with this many unpacked executors.
    pub(super) fn undisturbed_s(&self, executors: usize) -> f64 {
        let each = PARTITIONS.div_ceil(executors.max(1)) as f64;
        let iterations = self.iterations.iter();
        iterations.map(|one| each * (one.compute_s + one.wait_s) + one.serial_s).sum()
    }
}

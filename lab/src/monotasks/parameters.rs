//! The parameters of the model; all tables use the same values.

use super::job::Work;

/// The machines of Ursa's evaluation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machines {
    /// The number of machines, all alike.
    pub count: usize,
    /// Usable cores per machine.
    pub cores: usize,
    /// Memory per machine.
    pub memory_bytes: f64,
    /// Receive rate per machine.
    pub network_bytes_per_s: f64,
    /// Write rate of all disks of a machine.
    pub disk_bytes_per_s: f64,
}

impl Machines {
    /// Work per second of each [`super::Kind`].
    pub(super) fn rates(&self) -> Work {
        [self.network_bytes_per_s, self.cores as f64, self.disk_bytes_per_s]
    }
}

/// Loss of throughput by contention: `n` monotasks on a resource that serves `free` of them without
/// loss get `1 / (1 + loss · (n − free) / free)` of its rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interference {
    /// Loss with more CPU monotasks than cores.
    pub cpu: f64,
    /// Loss with more fetches than [`Workers::network_monotasks`].
    pub network: f64,
    /// Loss with more writes than [`Workers::disk_monotasks`].
    pub disk: f64,
}

/// Ursa's workers and their scheduler.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Workers {
    /// Time between two rounds of placement.
    pub round_s: f64,
    /// EPT: the maximum outstanding work of a worker, as time.
    pub expected_processing_s: f64,
    /// Maximum concurrent network monotasks of a worker.
    pub network_monotasks: usize,
    /// Maximum concurrent disk monotasks of a worker.
    pub disk_monotasks: usize,
    /// Added to the score of a stage whose tasks can all be placed.
    pub stage_bonus: f64,
    /// W: the weight of the job's rank in the score.
    pub order_weight: f64,
    /// Whether the score of a stage includes F of the tasks that can be placed.
    pub score_by_f: bool,
    /// Maximum sum of the requested memory of running jobs, over the memory of all machines. Infinite:
    /// all jobs run at once.
    pub admitted_memory: f64,
}

/// YARN's containers and what runs in them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Containers {
    /// Time between two heartbeats of a node.
    pub heartbeat_s: f64,
    /// Maximum cores allocated per heartbeat.
    pub cores_a_heartbeat: usize,
    /// Cores of an executor of Spark or Ursa.
    pub executor_cores: usize,
    /// Requested memory per core.
    pub memory_per_core_bytes: f64,
    /// Time from the allocation of a container to its first task.
    pub start_s: f64,
    /// Maximum cores that a job requests.
    pub most_cores_a_job: usize,
    /// Dynamic allocation: idle time after which an executor is released.
    pub idle_timeout_s: f64,
    /// CPU time with Tez over CPU time with Ursa; for Spark see [`super::Job::spark_cpu`].
    pub tez_cpu: f64,
}

/// All parameters of the model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// The cluster.
    pub machines: Machines,
    /// The contention model.
    pub interference: Interference,
    /// Systems that run on Ursa's workers.
    pub workers: Workers,
    /// Systems that run in YARN's containers.
    pub containers: Containers,
    /// Time from the end of a stage's last parent, or the submission of its job, until its tasks are
    /// known.
    pub stage_latency_s: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            machines: Machines {
                count: 20,
                cores: 30,
                memory_bytes: 128e9,
                network_bytes_per_s: 1.25e9,
                disk_bytes_per_s: 0.6e9,
            },
            interference: Interference { cpu: 0.05, network: 0.02, disk: 0.05 },
            workers: Workers {
                round_s: 0.2,
                expected_processing_s: 5.0,
                network_monotasks: 4,
                disk_monotasks: 2,
                stage_bonus: 100.0,
                order_weight: 1.0,
                score_by_f: false,
                admitted_memory: f64::INFINITY,
            },
            containers: Containers {
                heartbeat_s: 1.0,
                cores_a_heartbeat: 5,
                executor_cores: 5,
                memory_per_core_bytes: 1.6e9,
                start_s: 3.0,
                most_cores_a_job: 300,
                idle_timeout_s: 10.0,
                tez_cpu: 2.0,
            },
            stage_latency_s: 0.3,
        }
    }
}

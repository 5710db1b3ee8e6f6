//! Every parameter of the model, once, for all tables.

/// The machines, as Ursa's evaluation has them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machines {
    /// How many.
    pub count: usize,
    /// Usable cores of one.
    pub cores: usize,
    /// Memory of one.
    pub memory_bytes: f64,
    /// What one can receive.
    pub network_bytes_per_s: f64,
    /// What the disks of one write together.
    pub disk_bytes_per_s: f64,
}

/// What monotasks cost each other beyond their share of a resource: `n` of them on something that
/// `free` can use at no loss get `1 / (1 + loss · (n − free) / free)` of its rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interference {
    /// Of more CPU monotasks than cores.
    pub cpu: f64,
    /// Of more fetches than [`Workers::network_monotasks`].
    pub network: f64,
    /// Of more writes than [`Workers::disk_monotasks`].
    pub disk: f64,
}

/// Ursa's workers and their scheduler.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Workers {
    /// Time between two rounds of placement.
    pub round_s: f64,
    /// EPT: how much work a worker may have ahead of it.
    pub expected_processing_s: f64,
    /// Network monotasks that one worker runs at a time.
    pub network_monotasks: usize,
    /// Disk monotasks that one worker runs at a time.
    pub disk_monotasks: usize,
    /// What a stage that can be placed whole has on top of its job's rank.
    pub stage_bonus: f64,
    /// W: what the rank of a job counts.
    pub order_weight: f64,
    /// Whether F of the tasks that can be placed now counts in a stage's score, too.
    pub score_by_f: bool,
    /// What jobs that run may have asked for in all, over the memory there is. Without an end, all
    /// jobs run at once.
    pub admitted_memory: f64,
}

/// YARN's containers and what runs in them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Containers {
    /// Time between two heartbeats of a node.
    pub heartbeat_s: f64,
    /// Cores that a node hands out on one heartbeat.
    pub cores_a_heartbeat: usize,
    /// Cores of an executor with several tasks.
    pub executor_cores: usize,
    /// Memory that is asked for with each core.
    pub memory_per_core_bytes: f64,
    /// From the container to its first task.
    pub start_s: f64,
    /// Most cores that one job asks for.
    pub most_cores_a_job: usize,
    /// Dynamic allocation: how long an executor may idle.
    pub idle_timeout_s: f64,
    /// The CPU that Tez takes over that of Ursa; for Spark see [`super::Job::spark_cpu`].
    pub tez_cpu: f64,
}

/// All of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// The machines.
    pub machines: Machines,
    /// Contention.
    pub interference: Interference,
    /// Ursa's workers.
    pub workers: Workers,
    /// YARN's containers.
    pub containers: Containers,
    /// From the end of a stage's last parent, or its job's submission, until its tasks are known.
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
            interference: Interference {
                cpu: 0.05,
                network: 0.02,
                disk: 0.05,
            },
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

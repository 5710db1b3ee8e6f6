//! Jobs are graphs of stages; a stage has tasks, and a task has up to three monotasks.

/// The resource that a monotask uses, in the order in which a task uses them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Fetches the task's input.
    Network,
    /// Computes, on one core.
    Cpu,
    /// Writes the task's output.
    Disk,
}

impl Kind {
    /// In the order of a task.
    pub const ALL: [Kind; 3] = [Kind::Network, Kind::Cpu, Kind::Disk];
}

/// Bytes fetched, core-seconds and bytes written; indexed by [`Kind`].
pub type Work = [f64; 3];

pub(super) fn plus(left: Work, right: Work) -> Work {
    std::array::from_fn(|at| left[at] + right[at])
}

pub(super) fn minus(left: Work, right: Work) -> Work {
    std::array::from_fn(|at| left[at] - right[at])
}

/// One monotask of each kind whose work is not 0, in sequence on one machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Task {
    /// The work of the task's monotasks.
    pub work: Work,
    /// The size of the input, local or fetched.
    pub input_bytes: f64,
    /// The memory in use from placement to end.
    pub memory_bytes: f64,
}

/// Tasks that can run once every parent has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// Indices of earlier stages of the job.
    pub parents: Vec<usize>,
    /// At least one.
    pub tasks: Vec<Task>,
}

/// A graph of stages.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The kind of job and its number.
    pub name: String,
    /// Seconds since the start.
    pub submitted_s: f64,
    /// M: the memory that the user requested.
    pub memory_bytes: f64,
    /// m2i: maximum memory per byte of input in earlier runs.
    pub memory_to_input: f64,
    /// CPU time with Spark over CPU time with Ursa.
    pub spark_cpu: f64,
    /// At least one.
    pub stages: Vec<Stage>,
}

//! Jobs are graphs of stages; a stage has tasks, and a task has up to three monotasks.

use thiserror::Error;

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
    /// All kinds, in the order of a task.
    pub const ALL: [Kind; 3] = [Kind::Network, Kind::Cpu, Kind::Disk];
}

/// Bytes fetched, core-seconds and bytes written; indexed by [`Kind`].
pub type Work = [f64; 3];

/// One monotask of each kind whose work is not 0, in sequence on one machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Task {
    /// The work of its monotasks.
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

/// A job.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The name in messages.
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

/// A workload is invalid, or its run cannot end.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MonotaskError {
    /// A number of a job is negative or not finite.
    #[error("job {job}: {what} is {value}, and must be a number of at least 0")]
    NotAnAmount {
        /// The job's name.
        job: String,
        /// The field.
        what: &'static str,
        /// The value of the field.
        value: f64,
    },
    /// A job or a stage is empty.
    #[error("job {job}: {what} is empty")]
    Empty {
        /// The job's name.
        job: String,
        /// The empty list.
        what: String,
    },
    /// A stage depends on itself or on a later one.
    #[error("job {job}, stage {stage}: parent {parent} is not an earlier stage")]
    Parent {
        /// The job's name.
        job: String,
        /// The stage's index.
        stage: usize,
        /// The parent's index.
        parent: usize,
    },
    /// Some tasks fit no machine.
    #[error("{jobs} jobs never ended: a task of job {job} fits no machine")]
    Stuck {
        /// The number of jobs that did not end.
        jobs: usize,
        /// The first one's name.
        job: String,
    },
}

impl Job {
    /// # Errors
    /// The first invalid number, empty list or parent.
    pub fn check(&self) -> Result<(), MonotaskError> {
        let amount = |what, value: f64| {
            if value.is_finite() && value >= 0.0 {
                Ok(())
            } else {
                let job = self.name.clone();
                Err(MonotaskError::NotAnAmount { job, what, value })
            }
        };
        amount("submitted_s", self.submitted_s)?;
        amount("memory_bytes", self.memory_bytes)?;
        amount("memory_to_input", self.memory_to_input)?;
        amount("spark_cpu", self.spark_cpu)?;
        if self.stages.is_empty() {
            return Err(self.empty("the list of stages".to_owned()));
        }
        for (at, stage) in self.stages.iter().enumerate() {
            if let Some(&parent) = stage.parents.iter().find(|parent| **parent >= at) {
                return Err(MonotaskError::Parent {
                    job: self.name.clone(),
                    stage: at,
                    parent,
                });
            }
            if stage.tasks.is_empty() {
                return Err(self.empty(format!("stage {at}")));
            }
            for task in &stage.tasks {
                amount("a task's input_bytes", task.input_bytes)?;
                amount("a task's memory_bytes", task.memory_bytes)?;
                for work in task.work {
                    amount("a task's work", work)?;
                }
            }
        }
        Ok(())
    }

    fn empty(&self, what: String) -> MonotaskError {
        MonotaskError::Empty {
            job: self.name.clone(),
            what,
        }
    }
}

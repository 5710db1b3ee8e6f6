//! Jobs: stages that depend on each other, of tasks that are made of monotasks.

use thiserror::Error;

/// What a monotask uses, in the order in which a task goes through them.
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

/// How much of each kind: bytes fetched, core-seconds, bytes written; indexed by [`Kind`].
pub type Work = [f64; 3];

/// A task: one monotask of each kind whose work is not 0, one after the other on one machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Task {
    /// The work of its monotasks.
    pub work: Work,
    /// The size of its input, fetched or not.
    pub input_bytes: f64,
    /// The memory that it really takes, from its placement to its end.
    pub memory_bytes: f64,
}

/// Tasks that may all run as soon as every parent is done.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// Places of earlier stages of the job.
    pub parents: Vec<usize>,
    /// At least one.
    pub tasks: Vec<Task>,
}

/// A job.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Its name in messages.
    pub name: String,
    /// Since the start.
    pub submitted_s: f64,
    /// M: the memory that its user asked for.
    pub memory_bytes: f64,
    /// m2i: the memory that a byte of input takes at most, as earlier runs showed.
    pub memory_to_input: f64,
    /// The CPU that Spark takes for it, over that of Ursa.
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
        /// Which of its numbers.
        what: &'static str,
        /// That number.
        value: f64,
    },
    /// A job or a stage is empty.
    #[error("job {job}: {what} is empty")]
    Empty {
        /// The job's name.
        job: String,
        /// What has nothing in it.
        what: String,
    },
    /// A stage depends on itself or on a later one.
    #[error("job {job}, stage {stage}: parent {parent} is not an earlier stage")]
    Parent {
        /// The job's name.
        job: String,
        /// The stage's place.
        stage: usize,
        /// The parent's place.
        parent: usize,
    },
    /// Some tasks never found a machine.
    #[error("{jobs} jobs never ended: a task of job {job} fits no machine")]
    Stuck {
        /// How many.
        jobs: usize,
        /// The first one's name.
        job: String,
    },
}

impl Job {
    /// # Errors
    /// What is wrong with it, by name and place.
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

//! The systems that are compared.

/// Which job goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobOrder {
    /// EJF: the one that was submitted first.
    EarliestFirst,
    /// SRJF: the one with the smallest share of what is left.
    SmallestRemainingFirst,
}

/// How a task finds its worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// By F, up to EPT of work ahead.
    Ursa {
        /// Whether stages that can be placed whole go first.
        by_stage: bool,
        /// Whether D and Inc of the network count.
        by_network: bool,
    },
    /// A core and memory for the life of a task, jobs in their order, node by node.
    Capacity,
    /// As capacity, by the largest dot product of available and peak.
    Tetris {
        /// Whether the network's peak is reserved too (Tetris), or not (Tetris2).
        with_network: bool,
    },
}

/// Ursa's workers run the monotasks; only what goes where differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerSettings {
    /// How a task finds its worker.
    pub placement: Placement,
    /// Which job goes first.
    pub order: JobOrder,
    /// JO: whether placement follows the order of jobs.
    pub orders_jobs: bool,
    /// MO: whether the queues follow it.
    pub orders_monotasks: bool,
}

impl WorkerSettings {
    /// Ursa as it is meant.
    #[must_use]
    pub const fn ursa(order: JobOrder) -> Self {
        Self {
            placement: Placement::Ursa {
                by_stage: true,
                by_network: true,
            },
            order,
            orders_jobs: true,
            orders_monotasks: true,
        }
    }

    /// Another placement on Ursa's workers, with EJF.
    #[must_use]
    pub const fn placing(placement: Placement) -> Self {
        Self {
            placement,
            ..Self::ursa(JobOrder::EarliestFirst)
        }
    }
}

/// What runs in YARN's containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Monotasks with their queues, in containers for the life of the job.
    Ursa,
    /// A task holds a core of its executor all its life; executors come and go with the tasks.
    Spark,
    /// A task holds a container of one core, which is used again until it idles too long.
    Tez,
}

/// Containers of YARN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContainerSettings {
    /// What runs in them.
    pub engine: Engine,
    /// Cores that YARN hands out for each core that there is.
    pub oversubscription: usize,
}

/// A system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum System {
    /// Queues of monotasks on each machine.
    Workers(WorkerSettings),
    /// Containers of YARN.
    Containers(ContainerSettings),
}

impl System {
    /// Ursa with EJF or SRJF.
    #[must_use]
    pub const fn ursa(order: JobOrder) -> Self {
        Self::Workers(WorkerSettings::ursa(order))
    }

    /// Another placement on Ursa's workers.
    #[must_use]
    pub const fn placing(placement: Placement) -> Self {
        Self::Workers(WorkerSettings::placing(placement))
    }

    /// YARN.
    #[must_use]
    pub const fn yarn(engine: Engine, oversubscription: usize) -> Self {
        Self::Containers(ContainerSettings {
            engine,
            oversubscription,
        })
    }
}

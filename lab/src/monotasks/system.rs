//! The compared systems.

/// Which job goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobOrder {
    /// EJF, earliest job first: by submission.
    EarliestFirst,
    /// SRJF, smallest remaining job first: by the share of all remaining work.
    SmallestRemainingFirst,
}

/// How tasks are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// By F, up to EPT of outstanding work per worker.
    Ursa {
        /// Whether stages whose tasks can all be placed go first.
        by_stage: bool,
        /// Whether D and Inc of the network count.
        by_network: bool,
    },
    /// A core and memory for the life of a task; jobs in order, node by node.
    Capacity,
    /// As `Capacity`, ordered by the dot product of available capacity and peak demand.
    Tetris {
        /// Whether the peak of the network is reserved (Tetris) or not (Tetris2).
        with_network: bool,
    },
}

/// A part of Ursa that a comparison removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removed {
    /// No bonus for a stage that can be placed whole.
    StageAwareness,
    /// D and Inc of the network do not count.
    NetworkDemand,
    /// JO: stages are placed as they become ready.
    OrderOfJobs,
    /// MO: queues run monotasks as they come.
    OrderOfMonotasks,
}

/// Settings of systems that run on Ursa's workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerSettings {
    /// The rule of a round.
    pub placement: Placement,
    /// The order of jobs; `orders_jobs` and `orders_monotasks` say where it applies.
    pub order: JobOrder,
    /// JO: whether placement follows `order`.
    pub orders_jobs: bool,
    /// MO: whether the queues of workers follow `order`.
    pub orders_monotasks: bool,
}

impl WorkerSettings {
    /// Ursa with all of its parts.
    pub const fn ursa(order: JobOrder) -> Self {
        Self {
            placement: Placement::Ursa { by_stage: true, by_network: true },
            order,
            orders_jobs: true,
            orders_monotasks: true,
        }
    }
}

/// The framework that runs in YARN's containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Monotasks with queues, in containers for the life of the job.
    Ursa,
    /// A task holds a core of its executor all its life; dynamic allocation adds and releases
    /// executors.
    Spark,
    /// A task holds a container of one core, which is reused until it has idled for the timeout.
    Tez,
}

/// Settings of systems that run in YARN's containers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContainerSettings {
    /// The framework.
    pub engine: Engine,
    /// Allocatable cores per physical core.
    pub oversubscription: usize,
}

/// A compared system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum System {
    /// Ursa's workers: queues of monotasks on each machine.
    Workers(WorkerSettings),
    /// YARN's containers, and a framework in them.
    Containers(ContainerSettings),
}

impl System {
    /// Ursa with all of its parts.
    pub const fn ursa(order: JobOrder) -> Self {
        Self::Workers(WorkerSettings::ursa(order))
    }

    /// Ursa without one of its parts.
    pub fn ursa_without(removed: Removed, order: JobOrder) -> Self {
        let mut ursa = WorkerSettings::ursa(order);
        match removed {
            Removed::StageAwareness | Removed::NetworkDemand => {
                ursa.placement = Placement::Ursa {
                    by_stage: removed != Removed::StageAwareness,
                    by_network: removed != Removed::NetworkDemand,
                };
            }
            Removed::OrderOfJobs => ursa.orders_jobs = false,
            Removed::OrderOfMonotasks => ursa.orders_monotasks = false,
        }
        Self::Workers(ursa)
    }

    /// Another placement on Ursa's workers, with EJF.
    pub const fn placing(placement: Placement) -> Self {
        Self::Workers(WorkerSettings { placement, ..WorkerSettings::ursa(JobOrder::EarliestFirst) })
    }

    /// A framework on YARN that hands out each core `oversubscription` times.
    pub const fn yarn(engine: Engine, oversubscription: usize) -> Self {
        Self::Containers(ContainerSettings { engine, oversubscription })
    }
}

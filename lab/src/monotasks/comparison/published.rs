//! The figures that Ursa published (EuroSys 2020), and the simulated system beside each.

use super::Metric::{
    self, CompletionGrowth, CpuAllocated, CpuUsed, JobCompletion, Makespan, MakespanGrowth,
    MeanCompletion, MemoryAllocated, MemoryUsed,
};
use crate::monotasks::system::Removed::{
    self, NetworkDemand, OrderOfJobs, OrderOfMonotasks, StageAwareness,
};
use crate::monotasks::system::{Engine, JobOrder, Placement, System};
use crate::monotasks::workload::Jobs;

/// A table of the paper.
pub(super) struct Planned {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) jobs: Jobs,
    pub(super) metrics: &'static [Metric],
    pub(super) rows: Vec<PlannedRow>,
}

pub(super) struct PlannedRow {
    pub(super) name: &'static str,
    pub(super) system: System,
    /// In the order of the table's metrics; empty if nothing was published.
    pub(super) published: Vec<f64>,
    /// The row that the metrics of growth compare with.
    pub(super) base: Option<usize>,
}

const EJF: JobOrder = JobOrder::EarliestFirst;
const SRJF: JobOrder = JobOrder::SmallestRemainingFirst;

fn row(name: &'static str, system: System, published: &[f64]) -> PlannedRow {
    PlannedRow { name, system, published: published.to_vec(), base: None }
}

fn ursa(name: &'static str, order: JobOrder, published: &[f64]) -> PlannedRow {
    row(name, System::ursa(order), published)
}

fn without(name: &'static str, removed: Removed, order: JobOrder, published: &[f64]) -> PlannedRow {
    row(name, System::ursa_without(removed, order), published)
}

fn placing(name: &'static str, placement: Placement, published: &[f64]) -> PlannedRow {
    row(name, System::placing(placement), published)
}

fn yarn(name: &'static str, engine: Engine, times: usize, published: &[f64]) -> PlannedRow {
    row(name, System::yarn(engine, times), published)
}

fn spark(published: &[f64]) -> PlannedRow {
    yarn("YARN+Spark", Engine::Spark, 1, published)
}

fn tez(published: &[f64]) -> PlannedRow {
    yarn("YARN+Tez", Engine::Tez, 1, published)
}

impl PlannedRow {
    fn against(mut self, base: usize) -> Self {
        self.base = Some(base);
        self
    }
}

const TIMES: &[Metric] = &[Makespan, MeanCompletion];

const ALL_METRICS: &[Metric] =
    &[Makespan, MeanCompletion, CpuUsed, CpuAllocated, MemoryUsed, MemoryAllocated];

/// All tables.
pub(super) fn tables() -> Vec<Planned> {
    let tetris = |with_network| Placement::Tetris { with_network };
    vec![
        Planned {
            name: "table-2",
            title: "Table 2: TPC-H",
            jobs: Jobs::TpcH,
            metrics: ALL_METRICS,
            rows: vec![
                ursa("EJF", EJF, &[2803.0, 600.0, 99.64, 92.47, 78.83, 39.8]),
                ursa("SRJF", SRJF, &[2859.0, 489.96, 99.65, 89.73, 78.02, 48.85]),
                spark(&[3849.0, 1407.4, 69.35, 93.32, 34.69, 44.13]),
                tez(&[9228.0, 4287.0, 58.97, 98.19, 28.81, 70.71]),
            ],
        },
        Planned {
            name: "table-3",
            title: "Table 3: TPC-DS",
            jobs: Jobs::TpcDs,
            metrics: ALL_METRICS,
            rows: vec![
                ursa("EJF", EJF, &[1613.0, 453.2, 99.57, 88.31, 81.64, 25.01]),
                ursa("SRJF", SRJF, &[1630.0, 242.27, 99.75, 86.99, 85.83, 32.93]),
                spark(&[2927.0, 894.36, 48.56, 90.48, 19.39, 37.65]),
            ],
        },
        Planned {
            name: "table-4",
            title: "Table 4: mixed workload",
            jobs: Jobs::Mixed,
            metrics: &[Makespan, MeanCompletion, CpuUsed, CpuAllocated],
            rows: vec![
                ursa("Ursa-EJF", EJF, &[464.0, 208.21, 99.57, 86.6]),
                ursa("Ursa-SRJF", SRJF, &[473.5, 170.64, 98.89, 86.08]),
                yarn("YARN+Ursa", Engine::Ursa, 1, &[842.92, 443.8, 44.15, 89.97]),
                spark(&[1072.66, 435.0, 67.92, 83.84]),
                placing("Capacity", Placement::Capacity, &[511.0, 226.16, 99.77, 78.66]),
                placing("Tetris", tetris(true), &[562.33, 254.52, 98.62, 70.02]),
                placing("Tetris2", tetris(false), &[506.0, 240.83, 99.71, 79.75]),
            ],
        },
        Planned {
            name: "table-5",
            title: "Table 5: CPU oversubscription",
            jobs: Jobs::Mixed,
            metrics: TIMES,
            rows: vec![
                yarn("YARN+Ursa x1", Engine::Ursa, 1, &[842.92, 443.8]),
                yarn("YARN+Ursa x2", Engine::Ursa, 2, &[637.96, 345.99]),
                yarn("YARN+Ursa x4", Engine::Ursa, 4, &[596.66, 325.32]),
                yarn("YARN+Spark x1", Engine::Spark, 1, &[1072.66, 435.0]),
                yarn("YARN+Spark x2", Engine::Spark, 2, &[872.67, 341.77]),
                yarn("YARN+Spark x4", Engine::Spark, 4, &[892.83, 365.3]),
            ],
        },
        Planned {
            name: "table-6",
            title: "Table 6: order of jobs (JO) and of monotasks (MO)",
            jobs: Jobs::ExpectableMixed,
            metrics: TIMES,
            rows: vec![
                ursa("JO+MO EJF", EJF, &[613.0, 338.67]),
                without("JO EJF", OrderOfMonotasks, EJF, &[630.33, 373.08]),
                without("MO EJF", OrderOfJobs, EJF, &[615.33, 351.73]),
                ursa("JO+MO SRJF", SRJF, &[635.67, 328.31]),
                without("JO SRJF", OrderOfMonotasks, SRJF, &[623.0, 376.67]),
                without("MO SRJF", OrderOfJobs, SRJF, &[629.33, 346.49]),
            ],
        },
        Planned {
            name: "network-demand",
            title: "Network demand ignored",
            jobs: Jobs::ExpectableMixed,
            metrics: TIMES,
            rows: vec![
                ursa("considered", EJF, &[613.0, 338.67]),
                without("ignored", NetworkDemand, EJF, &[650.0, 383.25]),
            ],
        },
        Planned {
            name: "stage-awareness",
            title: "Stage awareness removed: what grows",
            jobs: Jobs::Mixed,
            metrics: &[MakespanGrowth, CompletionGrowth],
            rows: vec![
                ursa("EJF", EJF, &[]),
                without("EJF without", StageAwareness, EJF, &[5.66, 10.84]).against(0),
                ursa("SRJF", SRJF, &[]),
                without("SRJF without", StageAwareness, SRJF, &[10.28, 15.73]).against(2),
            ],
        },
        Planned {
            name: "expectable",
            title: "Expectable workload: completion of single jobs",
            jobs: Jobs::Expectable,
            metrics: &[
                JobCompletion(1),
                JobCompletion(2),
                JobCompletion(3),
                JobCompletion(4),
                JobCompletion(39),
                JobCompletion(40),
            ],
            rows: vec![ursa("EJF", EJF, &[40.0, 48.0, 80.0, 88.0, 800.0, 808.0])],
        },
    ]
}

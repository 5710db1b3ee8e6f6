//! Published and simulated figures.

use super::allocation::Allocation;
use super::outcome::IsparkOutcome;
use super::parameters::IsparkParameters;
use super::run::{NeverEnds, simulate};
use super::workload::{jobs, lower_bound_s};
use crate::reproduce::{Compared, Measured, cut};

/// The outcomes of all allocations on the same applications.
#[derive(Debug, Clone, PartialEq)]
pub struct IsparkComparison {
    /// The seeds of the generated applications.
    pub seeds: Vec<u64>,
    /// One per seed.
    pub lower_bound_s: Vec<f64>,
    /// The outcomes per seed, in the order of [`Allocation::ALL`].
    pub outcomes: Vec<(Allocation, Vec<IsparkOutcome>)>,
}

/// A figure of an allocation, in percent; with a parameter, compared with another allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsparkFigure {
    /// Of [`IsparkOutcome::executor_utilization`].
    ExecutorUtilizationGain(Allocation),
    /// See [`IsparkOutcome::cluster_utilization`].
    ClusterUtilization,
    /// Of the mean completion time.
    CompletionCut(Allocation),
    /// Of the cluster's CPU.
    CpuUtilizationGain(Allocation),
}

/// Runs every allocation on the applications of each seed.
pub fn compare(
    parameters: &IsparkParameters,
    seeds: &[u64],
) -> Result<IsparkComparison, NeverEnds> {
    let workloads: Vec<_> = seeds.iter().map(|seed| jobs(parameters, *seed)).collect();
    let outcomes = Allocation::ALL.map(|allocation| {
        let outcomes = workloads.iter().map(|jobs| simulate(parameters, allocation, jobs));
        Ok((allocation, outcomes.collect::<Result<_, NeverEnds>>()?))
    });
    let bounds = workloads.iter().map(|jobs| lower_bound_s(parameters, jobs));
    Ok(IsparkComparison {
        seeds: seeds.to_vec(),
        lower_bound_s: bounds.collect(),
        outcomes: outcomes.into_iter().collect::<Result<_, NeverEnds>>()?,
    })
}

impl IsparkComparison {
    /// One value per seed.
    pub fn measured(&self, of: Allocation, figure: IsparkFigure) -> Measured {
        let gain = |of: f64, than: f64| -cut(of, than);
        let values = match figure {
            IsparkFigure::ExecutorUtilizationGain(than) => {
                self.pairs(of, than, |one| one.executor_utilization, gain)
            }
            IsparkFigure::ClusterUtilization => {
                let outcomes = self.of(of);
                outcomes.map(|one| 100.0 * one.cluster_utilization()).collect()
            }
            IsparkFigure::CompletionCut(than) => {
                self.pairs(of, than, IsparkOutcome::mean_completion_s, cut)
            }
            IsparkFigure::CpuUtilizationGain(than) => {
                self.pairs(of, than, |one| one.utilization.cpu_cores, gain)
            }
        };
        Measured { values }
    }

    /// The published figures. The paper's plain Spark is compared with both static and dynamic
    /// allocation.
    pub fn compared(&self) -> Vec<Compared> {
        let ispark = Allocation::Packed;
        let mut compared = Vec::new();
        let mut claim = |of: Allocation, figure: IsparkFigure, published: f64, because| {
            compared.push(Compared {
                source: "abstract",
                figure: figure.words(of),
                published,
                measured: self.measured(of, figure),
                because,
            });
        };
        for (than, because) in [(Allocation::Static, STATIC), (Allocation::Dynamic, DYNAMIC)] {
            claim(ispark, IsparkFigure::ExecutorUtilizationGain(than), 35.2, because);
            claim(than, IsparkFigure::ClusterUtilization, 32.1, because);
            claim(ispark, IsparkFigure::CompletionCut(than), 20.8, because);
            claim(ispark, IsparkFigure::CpuUtilizationGain(than), 29.0, because);
        }
        claim(ispark, IsparkFigure::ClusterUtilization, 51.3, STATIC);
        compared
    }

    fn of(&self, allocation: Allocation) -> impl Iterator<Item = &IsparkOutcome> {
        let outcomes = self.outcomes.iter().filter(move |(of, _)| *of == allocation);
        outcomes.flat_map(|(_, outcomes)| outcomes)
    }

    fn pairs(
        &self,
        of: Allocation,
        than: Allocation,
        value: fn(&IsparkOutcome) -> f64,
        compared: fn(f64, f64) -> f64,
    ) -> Vec<f64> {
        let pairs = self.of(of).zip(self.of(than));
        pairs.map(|(of, than)| compared(value(of), value(than))).collect()
    }
}

/// Why figures against static allocation differ.
const STATIC: &str = "released executors shorten the waits of other applications, and few wait here: the \
                      gain grows with the rate of arrivals, which the paper does not publish";
/// Why figures against dynamic allocation differ.
const DYNAMIC: &str = "dynamic allocation gives one application up to 32 executors, which all wait for its \
                       driver and its slowest task; without this serial part of an iteration the \
                       completion times do not differ";

impl IsparkFigure {
    /// A description with the unit, for the allocation `of`.
    pub fn words(self, of: Allocation) -> String {
        let of = of.name();
        match self {
            IsparkFigure::ExecutorUtilizationGain(than) => {
                format!("executors used by {of} above {}, %", than.name())
            }
            IsparkFigure::ClusterUtilization => format!("cluster used by {of}, %"),
            IsparkFigure::CompletionCut(than) => {
                format!("mean completion of {of} below {}, %", than.name())
            }
            IsparkFigure::CpuUtilizationGain(than) => {
                format!("cpu used by {of} above {}, %", than.name())
            }
        }
    }
}

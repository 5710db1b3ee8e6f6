//! Published and simulated figures.

use std::fmt::{self, Display, Formatter};

use elastane_sim::summary::{deviation, mean};

use super::allocation::Allocation;
use super::outcome::Outcome;
use super::parameters::Parameters;
use super::run::{NeverEnds, simulate};
use super::workload::{jobs, lower_bound_s};
use crate::reproduce::{Compared, Measured, cut};

/// The outcomes of all allocations on the same applications.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The seeds.
    pub seeds: Vec<u64>,
    /// One per seed.
    pub lower_bound_s: Vec<f64>,
    /// The outcomes per seed, in the order of [`Allocation::ALL`].
    pub outcomes: Vec<(Allocation, Vec<Outcome>)>,
}

/// A figure of an allocation; with a parameter, compared with another allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Gain of the utilization of executors, in percent of the other's.
    ExecutorUtilizationGain(Allocation),
    /// Utilization of the cluster, in percent.
    ClusterUtilization,
    /// Reduction of the mean completion time, in percent.
    CompletionCut(Allocation),
    /// Gain of the cluster's CPU utilization, in percent of the other's.
    CpuUtilizationGain(Allocation),
}

/// Runs all allocations.
///
/// # Errors
/// An application needs more executors than the cluster has room for.
pub fn compare(parameters: &Parameters, seeds: &[u64]) -> Result<Comparison, NeverEnds> {
    let workloads: Vec<_> = seeds.iter().map(|seed| jobs(parameters, *seed)).collect();
    let outcomes = Allocation::ALL.map(|allocation| {
        let outcomes = workloads
            .iter()
            .map(|jobs| simulate(parameters, allocation, jobs));
        Ok((allocation, outcomes.collect::<Result<_, NeverEnds>>()?))
    });
    let bounds = workloads.iter().map(|jobs| lower_bound_s(parameters, jobs));
    Ok(Comparison {
        seeds: seeds.to_vec(),
        lower_bound_s: bounds.collect(),
        outcomes: outcomes.into_iter().collect::<Result<_, NeverEnds>>()?,
    })
}

impl Comparison {
    /// One value per seed.
    #[must_use]
    pub fn measured(&self, of: Allocation, figure: Figure) -> Measured {
        let gain = |of: f64, than: f64| -cut(of, than);
        let values = match figure {
            Figure::ExecutorUtilizationGain(than) => {
                self.pairs(of, than, |one| one.executor_utilization, gain)
            }
            Figure::ClusterUtilization => {
                let outcomes = self.of(of);
                outcomes
                    .map(|one| 100.0 * one.cluster_utilization())
                    .collect()
            }
            Figure::CompletionCut(than) => self.pairs(of, than, Outcome::mean_completion_s, cut),
            Figure::CpuUtilizationGain(than) => {
                self.pairs(of, than, |one| one.utilization.cpu_cores, gain)
            }
        };
        Measured { values }
    }

    /// The published figures. The paper's plain Spark is compared with both static and dynamic
    /// allocation.
    #[must_use]
    pub fn compared(&self) -> Vec<Compared> {
        let ispark = Allocation::Packed;
        let mut compared = Vec::new();
        let mut claim = |of: Allocation, figure: Figure, published: f64, because| {
            compared.push(Compared {
                source: "abstract",
                figure: figure.words(of),
                published,
                measured: self.measured(of, figure),
                because,
            });
        };
        for than in [Allocation::Static, Allocation::Dynamic] {
            let because = if than == Allocation::Static {
                STATIC
            } else {
                DYNAMIC
            };
            claim(ispark, Figure::ExecutorUtilizationGain(than), 35.2, because);
            claim(than, Figure::ClusterUtilization, 32.1, because);
            claim(ispark, Figure::CompletionCut(than), 20.8, because);
            claim(ispark, Figure::CpuUtilizationGain(than), 29.0, because);
        }
        claim(ispark, Figure::ClusterUtilization, 51.3, STATIC);
        compared
    }

    fn of(&self, allocation: Allocation) -> impl Iterator<Item = &Outcome> {
        let outcomes = self
            .outcomes
            .iter()
            .filter(move |(of, _)| *of == allocation);
        outcomes.flat_map(|(_, outcomes)| outcomes)
    }

    fn pairs(
        &self,
        of: Allocation,
        than: Allocation,
        value: fn(&Outcome) -> f64,
        compared: fn(f64, f64) -> f64,
    ) -> Vec<f64> {
        let pairs = self.of(of).zip(self.of(than));
        pairs
            .map(|(of, than)| compared(value(of), value(than)))
            .collect()
    }
}

/// Why figures against static allocation differ.
const STATIC: &str = "executors that come free shorten the wait of others, and few wait: the more \
                      come, the more is won. How many came in the paper is not published";
/// Why figures against dynamic allocation differ.
const DYNAMIC: &str = "dynamic allocation gives one application up to 32 executors, which all wait \
                       for its driver and its slowest task; without that part of an iteration \
                       nothing is left of the difference in completion";

impl Figure {
    /// Its description.
    #[must_use]
    pub fn words(self, of: Allocation) -> String {
        let of = of.name();
        match self {
            Figure::ExecutorUtilizationGain(than) => {
                format!("executors used by {of} above {}, %", than.name())
            }
            Figure::ClusterUtilization => format!("cluster used by {of}, %"),
            Figure::CompletionCut(than) => {
                format!("mean completion of {of} below {}, %", than.name())
            }
            Figure::CpuUtilizationGain(than) => {
                format!("cpu used by {of} above {}, %", than.name())
            }
        }
    }
}

impl Display for Comparison {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (seeds, bound_s) = (self.seeds.len(), mean(&self.lower_bound_s));
        writeln!(
            out,
            "iterative: lower bound {bound_s:.0} s, means over {seeds} seeds\n"
        )?;
        writeln!(
            out,
            "{:<10} {:>10} {:>8} {:>9} {:>9} {:>8} {:>7} {:>6} {:>9} {:>12} {:>10}",
            "allocation",
            "makespan s",
            "± s",
            "mean s",
            "median s",
            "cluster",
            "cpu",
            "memory",
            "executors",
            "handed over",
            "given back"
        )?;
        for (allocation, outcomes) in &self.outcomes {
            let each = |value: fn(&Outcome) -> f64| outcomes.iter().map(value).collect::<Vec<_>>();
            let makespans_s = each(|one| one.makespan_s);
            writeln!(
                out,
                "{:<10} {:>10.0} {:>8.0} {:>9.0} {:>9.0} {:>8.1} {:>7.1} {:>6.1} {:>9.1} {:>12.0} {:>10.0}",
                allocation.name(),
                mean(&makespans_s),
                deviation(&makespans_s),
                mean(&each(Outcome::mean_completion_s)),
                mean(&each(Outcome::median_completion_s)),
                100.0 * mean(&each(Outcome::cluster_utilization)),
                100.0 * mean(&each(|one| one.utilization.cpu_cores)),
                100.0 * mean(&each(|one| one.utilization.memory_bytes)),
                100.0 * mean(&each(|one| one.executor_utilization)),
                mean(&each(|one| one.counts.handed_over as f64)),
                mean(&each(|one| one.counts.given_back as f64)),
            )?;
        }
        Ok(())
    }
}

//! One published figure, and the same figure of a simulation.

use elastane_core::Resource;
use elastane_sim::experiment::Comparison;
use elastane_sim::simulator::Outcome;
use elastane_sim::summary::{mean, quantile};

use super::compared::{Compared, Measured};

/// One published figure.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// Where it is in the paper.
    pub source: &'static str,
    /// Which figure it is.
    pub measure: Measure,
    /// What it is there.
    pub published: f64,
    /// Why ours differs, where it does.
    pub because: &'static str,
}

/// A figure of a comparison, one a seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// The makespan, in seconds.
    Makespan {
        /// Whose.
        of: &'static str,
    },
    /// By how much the makespan is shorter, in percent.
    MakespanCut {
        /// Whose.
        of: &'static str,
        /// Than whose.
        than: &'static str,
    },
    /// By how much the makespan is shorter than the shortest of several, in percent.
    MakespanCutOfBest {
        /// Whose.
        of: &'static str,
        /// Than those of all of these.
        than: &'static [&'static str],
    },
    /// By how much the lower bound is below the shortest makespan of several, in percent: no policy
    /// can cut more.
    BoundBelowBest {
        /// Of all of these.
        of: &'static [&'static str],
    },
    /// By how much the median completion time is shorter, in percent.
    MedianCompletionCut {
        /// Whose.
        of: &'static str,
        /// Than whose.
        than: &'static str,
    },
    /// By how much the median execution time, from the first start to the end, is shorter, in
    /// percent.
    MedianExecutionCut {
        /// Whose.
        of: &'static str,
        /// Than whose.
        than: &'static str,
    },
    /// By how much a quantile of the completion times is shorter, in percent.
    CompletionCutAt {
        /// Whose.
        of: &'static str,
        /// Than whose.
        than: &'static str,
        /// Which quantile: 0.9 is the 90th percentile.
        part: f64,
    },
    /// By how much a quantile of the execution times is shorter, in percent.
    ExecutionCutAt {
        /// Whose.
        of: &'static str,
        /// Than whose.
        than: &'static str,
        /// Which quantile: 0.9 is the 90th percentile.
        part: f64,
    },
    /// By how much applications' completion times are shorter in the geometric mean, application by
    /// application, in percent. It hangs on no single application, as a quantile does.
    EachCompletionCut {
        /// Whose.
        of: &'static str,
        /// Than whose.
        than: &'static str,
    },
    /// By how much the time is shorter for which executors ran, all together, in percent.
    ExecutorsCut {
        /// Whose.
        of: &'static str,
        /// Than whose.
        than: &'static str,
    },
    /// By how much the mean utilization is higher, in percent of the other's.
    UtilizationGain {
        /// Whose.
        of: &'static str,
        /// Than whose.
        than: &'static str,
        /// Of what.
        resource: Resource,
    },
    /// The part of the machines' time in which more than a level is wanted, in percent.
    TimeAbove {
        /// Whose.
        of: &'static str,
        /// Of what.
        resource: Resource,
        /// The place in [`elastane_sim::simulator::LEVELS`].
        level: usize,
    },
}

impl Claim {
    /// With what a comparison gave; none where a policy was not run.
    #[must_use]
    pub fn compared(&self, comparison: &Comparison) -> Option<Compared> {
        Some(Compared {
            source: self.source,
            figure: self.measure.words(),
            published: self.published,
            measured: self.measure.of(comparison)?,
            because: self.because,
        })
    }
}

impl Measure {
    /// What it is, in words.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Measure::Makespan { of } => format!("makespan of {of}, s"),
            Measure::MakespanCut { of, than } => format!("makespan of {of} below {than}, %"),
            Measure::MakespanCutOfBest { of, than } => {
                format!("makespan of {of} below the best of {}, %", than.join(", "))
            }
            Measure::BoundBelowBest { of } => {
                format!("lower bound below the best of {}, %", of.join(", "))
            }
            Measure::MedianCompletionCut { of, than } => {
                format!("median completion of {of} below {than}, %")
            }
            Measure::MedianExecutionCut { of, than } => {
                format!("median execution of {of} below {than}, %")
            }
            Measure::CompletionCutAt { of, than, part } => {
                format!("completion of {of} below {than}, {}, %", percentile(part))
            }
            Measure::ExecutionCutAt { of, than, part } => {
                format!("execution of {of} below {than}, {}, %", percentile(part))
            }
            Measure::EachCompletionCut { of, than } => {
                format!("completion of {of} below {than}, geometric mean, %")
            }
            Measure::ExecutorsCut { of, than } => {
                format!("executors' time of {of} below {than}, %")
            }
            Measure::UtilizationGain { of, than, resource } => {
                format!("{} used by {of} above {than}, %", resource.name())
            }
            Measure::TimeAbove {
                of,
                resource,
                level,
            } => {
                let level = 100.0 * elastane_sim::simulator::LEVELS[level];
                format!("time of {of} above {level:.0} % of {}, %", resource.name())
            }
        }
    }

    /// Whose figures it needs.
    #[cfg(test)]
    pub(super) fn names(self) -> Vec<&'static str> {
        match self {
            Measure::Makespan { of } | Measure::TimeAbove { of, .. } => vec![of],
            Measure::MakespanCut { of, than }
            | Measure::MedianCompletionCut { of, than }
            | Measure::MedianExecutionCut { of, than }
            | Measure::CompletionCutAt { of, than, .. }
            | Measure::ExecutionCutAt { of, than, .. }
            | Measure::EachCompletionCut { of, than }
            | Measure::ExecutorsCut { of, than }
            | Measure::UtilizationGain { of, than, .. } => vec![of, than],
            Measure::MakespanCutOfBest { of, than } => [&[of], than].concat(),
            Measure::BoundBelowBest { of } => of.to_vec(),
        }
    }

    /// Its value for every seed; none where a policy was not run.
    #[must_use]
    pub fn of(self, comparison: &Comparison) -> Option<Measured> {
        let values = (0..comparison.seeds.len()).map(|seed| self.at(comparison, seed));
        let values = values.collect::<Option<Vec<f64>>>()?;
        (!values.is_empty()).then_some(Measured { values })
    }

    fn at(self, comparison: &Comparison, seed: usize) -> Option<f64> {
        let outcome = |name: &str| -> Option<&Outcome> {
            let policy = comparison.policies.iter().find(|it| it.policy == name)?;
            policy.outcomes.get(seed)
        };
        let best = |names: &[&str]| -> Option<f64> {
            let makespans_s = names.iter().map(|name| Some(outcome(name)?.makespan_s));
            let makespans_s = makespans_s.collect::<Option<Vec<f64>>>()?;
            makespans_s.into_iter().min_by(f64::total_cmp)
        };
        Some(match self {
            Measure::Makespan { of } => outcome(of)?.makespan_s,
            Measure::MakespanCut { of, than } => {
                cut(outcome(of)?.makespan_s, outcome(than)?.makespan_s)
            }
            Measure::MakespanCutOfBest { of, than } => cut(outcome(of)?.makespan_s, best(than)?),
            Measure::BoundBelowBest { of } => {
                cut(comparison.bounds.get(seed)?.seconds(), best(of)?)
            }
            Measure::MedianCompletionCut { of, than } => cut(
                outcome(of)?.median_completion_s(),
                outcome(than)?.median_completion_s(),
            ),
            Measure::MedianExecutionCut { of, than } => cut(
                quantile(&executions_s(outcome(of)?), 0.5),
                quantile(&executions_s(outcome(than)?), 0.5),
            ),
            Measure::CompletionCutAt { of, than, part } => cut(
                quantile(&outcome(of)?.completions_s(), part),
                quantile(&outcome(than)?.completions_s(), part),
            ),
            Measure::ExecutionCutAt { of, than, part } => cut(
                quantile(&executions_s(outcome(of)?), part),
                quantile(&executions_s(outcome(than)?), part),
            ),
            Measure::EachCompletionCut { of, than } => {
                let pairs = outcome(of)?.applications.iter();
                let ratios = pairs.zip(&outcome(than)?.applications);
                let logarithms: Vec<f64> = ratios
                    .map(|(of, than)| (of.completion_s() / than.completion_s()).ln())
                    .collect();
                100.0 * (1.0 - mean(&logarithms).exp())
            }
            Measure::ExecutorsCut { of, than } => {
                cut(outcome(of)?.executors_s, outcome(than)?.executors_s)
            }
            Measure::UtilizationGain { of, than, resource } => {
                let used = |outcome: &Outcome| outcome.utilization.get(resource);
                -cut(used(outcome(of)?), used(outcome(than)?))
            }
            Measure::TimeAbove {
                of,
                resource,
                level,
            } => 100.0 * outcome(of)?.time_above(resource)[level],
        })
    }
}

/// A published makespan against another.
pub(super) const fn makespan_cut(
    source: &'static str,
    of: &'static str,
    than: &'static str,
    published: f64,
    because: &'static str,
) -> Claim {
    Claim {
        source,
        measure: Measure::MakespanCut { of, than },
        published,
        because,
    }
}

/// By how many percent `of` is less than `than`.
pub(crate) fn cut(of: f64, than: f64) -> f64 {
    100.0 * (1.0 - of / than)
}

/// Of each application from its first start to its end, the shortest first.
fn executions_s(outcome: &Outcome) -> Vec<f64> {
    let executions = outcome.applications.iter();
    let mut executions: Vec<f64> = executions.map(|one| one.ended_s - one.started_s).collect();
    executions.sort_by(f64::total_cmp);
    executions
}

fn percentile(part: f64) -> String {
    format!("{:.0}th percentile", 100.0 * part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use elastane_core::Resources;
    use elastane_sim::experiment::PolicyOutcomes;
    use elastane_sim::simulator::{ApplicationOutcome, Corrections, Counts, Packing, Timeline};

    fn outcomes(policy: &str, completions_s: [f64; 2], executors_s: f64) -> PolicyOutcomes {
        let applications = completions_s.map(|completion_s| ApplicationOutcome {
            name: "a".to_owned(),
            submitted_s: 10.0,
            started_s: 10.0,
            ended_s: 10.0 + completion_s,
        });
        let outcome = Outcome {
            policy: "minfrag",
            applications: applications.to_vec(),
            makespan_s: 0.0,
            utilization: Resources::ZERO,
            time_above: Default::default(),
            work_done: Resources::ZERO,
            executors_s,
            timeline: Timeline::default(),
            packing: Packing::default(),
            counts: Counts::default(),
            corrections: Corrections::default(),
        };
        PolicyOutcomes {
            policy: policy.to_owned(),
            outcomes: vec![outcome],
        }
    }

    fn compared(measure: Measure, completions_s: [f64; 2]) -> Vec<f64> {
        let comparison = Comparison {
            workload: "w".to_owned(),
            seeds: vec![1],
            bounds: Vec::new(),
            policies: vec![
                outcomes("of", completions_s, 30.0),
                outcomes("than", [100.0, 400.0], 40.0),
            ],
        };
        measure.of(&comparison).map_or(Vec::new(), |it| it.values)
    }

    #[test]
    fn each_application_counts_as_much_however_long_it_takes() {
        let measure = Measure::EachCompletionCut {
            of: "of",
            than: "than",
        };
        for (completions_s, expected) in [([50.0, 200.0], 50.0), ([50.0, 800.0], 0.0)] {
            let [cut] = compared(measure, completions_s)[..] else {
                panic!("one seed");
            };
            assert!((cut - expected).abs() < 1e-9, "{cut}");
        }
    }

    #[test]
    fn what_executors_ran_less_is_a_part_of_what_they_ran() {
        let measure = Measure::ExecutorsCut {
            of: "of",
            than: "than",
        };
        assert_eq!(compared(measure, [100.0, 400.0]), [25.0]);
    }
}

//! One published figure, and the same figure of a simulation.

use elastane_core::Resource;
use elastane_sim::experiment::Comparison;
use elastane_sim::simulator::{LEVELS, SimulatedRun};
use elastane_sim::summary::{mean, quantile};

use super::compared::{Compared, Measured};

/// The name of a policy or of a variant of one.
type Policy = &'static str;

/// One published figure.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// The place in the paper.
    pub source: &'static str,
    /// The figure.
    pub measure: Measure,
    /// The value in the paper.
    pub published: f64,
    /// Why the simulated value differs; empty if it agrees.
    pub because: &'static str,
}

/// A figure of a comparison, in percent unless noted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// In seconds.
    Makespan(Policy),
    /// How much shorter a time of the first policy is than that of the second.
    Cut(Time, Policy, Policy),
    /// How much shorter a policy's makespan is than the shortest of several others.
    MakespanCutOfBest(Policy, &'static [Policy]),
    /// How far the lower bound is below the shortest of several makespans: no policy can cut more.
    BoundBelowBest(&'static [Policy]),
    /// How much shorter completion times of the first policy are than those of the second: the
    /// geometric mean over the applications, which no single application decides.
    EachCompletionCut(Policy, Policy),
    /// How much higher the mean utilization of the first policy is.
    UtilizationGain(Resource, Policy, Policy),
    /// The machine time in which a policy's executors demand more than [`LEVELS`]`[level]` of a resource.
    TimeAbove(Policy, Resource, usize),
}

/// A time of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Time {
    /// From the first submission to the last end.
    Makespan,
    /// A completion time is from the submission of an application to its end.
    MedianCompletion,
    /// An execution time is from the first start of an application to its end.
    MedianExecution,
    /// A quantile; 0.9 is the 90th percentile.
    CompletionAt(f64),
    /// As `CompletionAt`, of execution times.
    ExecutionAt(f64),
    /// The sum of the lives of all executors.
    Executors,
}

impl Claim {
    /// The claim with the simulated figure; None if a policy was not run.
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

impl Time {
    fn of(self, outcome: &SimulatedRun) -> f64 {
        match self {
            Time::Makespan => outcome.makespan_s,
            Time::MedianCompletion => outcome.median_completion_s(),
            Time::MedianExecution => Time::ExecutionAt(0.5).of(outcome),
            Time::CompletionAt(part) => quantile(&outcome.completions_s(), part),
            Time::ExecutionAt(part) => quantile(&executions_s(outcome), part),
            Time::Executors => outcome.executors_s,
        }
    }
}

impl Measure {
    /// A description with the unit.
    pub fn words(self) -> String {
        match self {
            Measure::Makespan(of) => format!("makespan of {of}, s"),
            Measure::Cut(time, of, than) => {
                let (time, quantile) = match time {
                    Time::Makespan => ("makespan", None),
                    Time::MedianCompletion => ("median completion", None),
                    Time::MedianExecution => ("median execution", None),
                    Time::CompletionAt(part) => ("completion", Some(part)),
                    Time::ExecutionAt(part) => ("execution", Some(part)),
                    Time::Executors => ("executors' time", None),
                };
                let quantile = quantile
                    .map_or_else(String::new, |part| format!(", {:.0}th percentile", 100.0 * part));
                format!("{time} of {of} below {than}{quantile}, %")
            }
            Measure::MakespanCutOfBest(of, than) => {
                format!("makespan of {of} below the best of {}, %", than.join(", "))
            }
            Measure::BoundBelowBest(of) => {
                format!("lower bound below the best of {}, %", of.join(", "))
            }
            Measure::EachCompletionCut(of, than) => {
                format!("completion of {of} below {than}, geometric mean, %")
            }
            Measure::UtilizationGain(resource, of, than) => {
                format!("{} used by {of} above {than}, %", resource.name())
            }
            Measure::TimeAbove(of, resource, level) => {
                let level = 100.0 * LEVELS[level];
                format!("time of {of} above {level:.0} % of {}, %", resource.name())
            }
        }
    }

    /// The policies that must have run.
    #[cfg(test)]
    pub(super) fn names(self) -> Vec<Policy> {
        match self {
            Measure::Makespan(of) | Measure::TimeAbove(of, ..) => vec![of],
            Measure::Cut(_, of, than)
            | Measure::EachCompletionCut(of, than)
            | Measure::UtilizationGain(_, of, than) => vec![of, than],
            Measure::MakespanCutOfBest(of, than) => [&[of], than].concat(),
            Measure::BoundBelowBest(of) => of.to_vec(),
        }
    }

    /// The value for each seed; None if a policy was not run.
    pub fn of(self, comparison: &Comparison) -> Option<Measured> {
        let values = (0..comparison.seeds.len()).map(|seed| self.at(comparison, seed));
        let values = values.collect::<Option<Vec<f64>>>()?;
        (!values.is_empty()).then_some(Measured { values })
    }

    fn at(self, comparison: &Comparison, seed: usize) -> Option<f64> {
        let outcome = |name: &str| -> Option<&SimulatedRun> {
            let policy = comparison.policies.iter().find(|it| it.policy == name)?;
            policy.outcomes.get(seed)
        };
        let best = |names: &[&str]| -> Option<f64> {
            let makespans_s = names.iter().map(|name| Some(outcome(name)?.makespan_s));
            let makespans_s = makespans_s.collect::<Option<Vec<f64>>>()?;
            makespans_s.into_iter().min_by(f64::total_cmp)
        };
        Some(match self {
            Measure::Makespan(of) => outcome(of)?.makespan_s,
            Measure::Cut(time, of, than) => cut(time.of(outcome(of)?), time.of(outcome(than)?)),
            Measure::MakespanCutOfBest(of, than) => cut(outcome(of)?.makespan_s, best(than)?),
            Measure::BoundBelowBest(of) => cut(comparison.bounds.get(seed)?.seconds(), best(of)?),
            Measure::EachCompletionCut(of, than) => {
                let pairs = outcome(of)?.applications.iter();
                let ratios = pairs.zip(&outcome(than)?.applications);
                let logarithms: Vec<f64> = ratios
                    .map(|(of, than)| (of.completion_s() / than.completion_s()).ln())
                    .collect();
                100.0 * (1.0 - mean(&logarithms).exp())
            }
            Measure::UtilizationGain(resource, of, than) => {
                let used = |outcome: &SimulatedRun| outcome.utilization.get(resource);
                -cut(used(outcome(of)?), used(outcome(than)?))
            }
            Measure::TimeAbove(of, resource, level) => {
                100.0 * outcome(of)?.time_above[resource as usize][level]
            }
        })
    }
}

pub(super) const fn makespan_cut(
    source: &'static str,
    of: Policy,
    than: Policy,
    published: f64,
    because: &'static str,
) -> Claim {
    Claim { source, measure: Measure::Cut(Time::Makespan, of, than), published, because }
}

/// How many percent less `of` is than `than`.
pub(crate) fn cut(of: f64, than: f64) -> f64 {
    100.0 * (1.0 - of / than)
}

/// The execution times, ascending.
fn executions_s(outcome: &SimulatedRun) -> Vec<f64> {
    let executions = outcome.applications.iter();
    let mut executions: Vec<f64> = executions.map(|one| one.ended_s - one.started_s).collect();
    executions.sort_by(f64::total_cmp);
    executions
}

#[cfg(test)]
mod tests {
    use super::*;
    use elastane_core::Resources;
    use elastane_sim::experiment::PolicyOutcomes;
    use elastane_sim::simulator::{ApplicationOutcome, Counts, Packing, UseOverTime};

    fn outcomes(policy: &str, completions_s: [f64; 2], executors_s: f64) -> PolicyOutcomes {
        let applications = completions_s.map(|completion_s| ApplicationOutcome {
            name: "a".to_owned(),
            submitted_s: 10.0,
            deadline_s: None,
            started_s: 10.0,
            starts_s: Vec::new(),
            ended_s: 10.0 + completion_s,
            occupied_s: completion_s,
        });
        let outcome = SimulatedRun {
            policy: "minfrag",
            applications: applications.to_vec(),
            makespan_s: 0.0,
            utilization: Resources::ZERO,
            time_above: Default::default(),
            work_done: Resources::ZERO,
            executors_s,
            occupied_s: executors_s,
            timeline: UseOverTime::default(),
            packing: Packing::default(),
            counts: Counts::default(),
            reprovisioned: Vec::new(),
            forecasts: Vec::new(),
        };
        PolicyOutcomes { policy: policy.to_owned(), outcomes: vec![outcome] }
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
    fn short_and_long_applications_count_equally() {
        let measure = Measure::EachCompletionCut("of", "than");
        for (completions_s, expected) in [([50.0, 200.0], 50.0), ([50.0, 800.0], 0.0)] {
            let [cut] = compared(measure, completions_s)[..] else {
                panic!("one seed");
            };
            assert!((cut - expected).abs() < 1e-9, "{cut}");
        }
    }

    #[test]
    fn a_cut_is_relative_to_the_other_policy() {
        let measure = Measure::Cut(Time::Executors, "of", "than");
        assert_eq!(compared(measure, [100.0, 400.0]), [25.0]);
    }
}

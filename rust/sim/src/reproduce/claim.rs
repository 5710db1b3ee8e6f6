//! One published figure, and the same figure of a simulation.

use elastane_core::Resource;

use crate::experiment::Comparison;
use crate::simulator::Outcome;
use crate::summary::{deviation, mean, quantile};

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
    /// By how much the makespan is shorter than the shortest of Static, Dynamic and Tetris, in
    /// percent.
    MakespanCutOfBest {
        /// Whose.
        of: &'static str,
        /// Than those of all of these.
        than: &'static [&'static str],
    },
    /// By how much the median completion time is shorter, in percent.
    MedianCompletionCut {
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
        /// The place in [`crate::simulator::LEVELS`].
        level: usize,
    },
}

/// What a simulation gave for a claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// One a seed.
    pub values: Vec<f64>,
}

/// How a simulated figure stands to a published one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// Within a third.
    Agrees,
    /// Less by more than a third.
    Less,
    /// More by more than a third.
    More,
    /// One is above 0, the other below.
    OtherSign,
}

/// Published figures of a few percent are not told apart from nothing.
const SMALL: f64 = 3.0;

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
            Measure::MedianCompletionCut { of, than } => {
                format!("median completion of {of} below {than}, %")
            }
            Measure::UtilizationGain { of, than, resource } => {
                format!("{} used by {of} above {than}, %", resource.name())
            }
            Measure::TimeAbove {
                of,
                resource,
                level,
            } => {
                let level = 100.0 * crate::simulator::LEVELS[level];
                format!("time of {of} above {level:.0} % of {}, %", resource.name())
            }
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
        Some(match self {
            Measure::Makespan { of } => outcome(of)?.makespan_s,
            Measure::MakespanCut { of, than } => {
                cut(outcome(of)?.makespan_s, outcome(than)?.makespan_s)
            }
            Measure::MakespanCutOfBest { of, than } => {
                let others = than.iter().map(|than| Some(outcome(than)?.makespan_s));
                let others = others.collect::<Option<Vec<f64>>>()?;
                let best = others.into_iter().fold(f64::INFINITY, f64::min);
                cut(outcome(of)?.makespan_s, best)
            }
            Measure::MedianCompletionCut { of, than } => cut(
                outcome(of)?.median_completion_s(),
                outcome(than)?.median_completion_s(),
            ),
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

/// By how many percent `of` is less than `than`.
fn cut(of: f64, than: f64) -> f64 {
    100.0 * (1.0 - of / than)
}

impl Measured {
    /// Over the seeds.
    #[must_use]
    pub fn mean(&self) -> f64 {
        mean(&self.values)
    }

    /// Over the seeds.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        deviation(&self.values)
    }

    /// Over the seeds.
    #[must_use]
    pub fn median(&self) -> f64 {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        quantile(&sorted, 0.5)
    }

    /// How the mean stands to a published figure.
    #[must_use]
    pub fn agreement(&self, published: f64) -> Agreement {
        let ours = self.mean();
        if ours.abs().max(published.abs()) <= SMALL {
            Agreement::Agrees
        } else if ours.signum() != published.signum() && published.abs() > SMALL {
            Agreement::OtherSign
        } else if ours < published * 2.0 / 3.0 {
            Agreement::Less
        } else if ours > published * 4.0 / 3.0 {
            Agreement::More
        } else {
            Agreement::Agrees
        }
    }
}

impl Agreement {
    /// For a person.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Agreement::Agrees => "",
            Agreement::Less => "less by more than a third",
            Agreement::More => "more by more than a third",
            Agreement::OtherSign => "the other sign",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_within_a_third_agrees() {
        let ours = |value| Measured {
            values: vec![value],
        };
        assert_eq!(ours(30.0).agreement(36.0), Agreement::Agrees);
        assert_eq!(ours(20.0).agreement(36.0), Agreement::Less);
        assert_eq!(ours(50.0).agreement(36.0), Agreement::More);
        assert_eq!(ours(-5.0).agreement(36.0), Agreement::OtherSign);
        assert_eq!(ours(1.0).agreement(0.0), Agreement::Agrees);
    }
}

//! The papers' comparisons: published and simulated figures.

mod claim;
mod compared;
mod corrections;
mod elasecutor;
mod prophet;
pub mod reprovision;
mod sensitivity;
mod setup;

pub use claim::{Claim, Measure, Time};
pub use compared::{Agreement, Compared, Measured};
pub use corrections::Corrections;
pub use sensitivity::{STUDIES, Study};
pub use setup::{Change, Setup, papers_settings};

pub(crate) use claim::cut;
pub(crate) use compared::median;

use elastane_sim::experiment::Comparison;

/// A paper and its experiments.
#[derive(Debug, Clone, Copy)]
pub struct Paper {
    /// The name on the command line.
    pub name: &'static str,
    /// The paper, with journal or conference and year.
    pub title: &'static str,
    /// The paper's main experiment first.
    pub experiments: &'static [PublishedExperiment],
}

/// Policies on a workload.
#[derive(Debug, Clone, Copy)]
pub struct Lineup {
    /// A name of [`crate::workload::names`].
    pub workload: &'static str,
    /// Policies that run with the settings of the experiment.
    pub policies: &'static [&'static str],
    /// Policies that run with other settings.
    pub variants: &'static [Variant],
}

/// A policy that runs with other settings.
#[derive(Debug, Clone, Copy)]
pub struct Variant {
    /// The name in reports.
    pub name: &'static str,
    /// The policy's own name.
    pub policy: &'static str,
    /// The other settings.
    pub change: Change,
}

/// A lineup and its published figures.
#[derive(Debug, Clone, Copy)]
pub struct PublishedExperiment {
    /// What runs.
    pub lineup: Lineup,
    /// The published figures.
    pub claims: &'static [Claim],
}

/// The papers that the simulator of executors reproduces.
pub const PAPERS: [Paper; 2] = [elasecutor::PAPER, prophet::PAPER];

impl PublishedExperiment {
    /// The published figures beside those of `comparison`.
    pub fn compared(&self, comparison: &Comparison) -> Vec<Compared> {
        let claims = self.claims.iter();
        claims.filter_map(|claim| claim.compared(comparison)).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use super::*;

    fn run(lineup: &Lineup) -> Vec<&'static str> {
        let variants = lineup.variants.iter().map(|variant| variant.name);
        lineup.policies.iter().copied().chain(variants).collect()
    }

    #[test]
    fn the_policies_of_every_figure_run() {
        for paper in PAPERS.into_iter().chain([reprovision::PAPER]) {
            for experiment in paper.experiments {
                let run = run(&experiment.lineup);
                for claim in experiment.claims {
                    let names = claim.measure.names();
                    assert!(names.iter().all(|name| run.contains(name)), "{names:?}");
                    let agrees = claim.published == 0.0;
                    assert!(agrees || !claim.because.is_empty(), "{}", claim.measure.words());
                }
            }
        }
        for study in STUDIES {
            let run = run(&study.lineup);
            for measure in study.measures {
                let names = measure.names();
                assert!(names.iter().all(|name| run.contains(name)), "{names:?}");
            }
        }
    }

    #[test]
    fn every_variation_but_the_first_changes_something() {
        for study in STUDIES {
            let before = Setup {
                workload: crate::workload::generate(study.lineup.workload, 1).unwrap(),
                settings: papers_settings(),
            };
            let variations = study.variations.iter().copied().flatten();
            for (number, variation) in variations.enumerate() {
                let mut changed = before.clone();
                variation.change.apply(&mut changed).unwrap();
                let same = changed == before;
                assert_eq!(same, number == 0, "{} {}", variation.parameter, variation.value);
            }
        }
    }
}

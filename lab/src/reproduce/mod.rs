//! The papers' comparisons: published and simulated figures.

mod claim;
mod compared;
mod elasecutor;
pub mod house;
mod prophet;
pub mod reprovision;
mod sensitivity;
mod setup;

pub use claim::{Claim, Measure, Time};
pub use compared::{Agreement, Compared, Measured};
pub use sensitivity::{STUDIES, Study};
pub use setup::{Change, Setup};

pub(crate) use claim::cut;

use elastane_sim::experiment::Comparison;

/// A paper's experiments.
#[derive(Debug, Clone, Copy)]
pub struct Paper {
    /// The name on the command line.
    pub name: &'static str,
    /// The full title.
    pub title: &'static str,
    /// The experiments; the first is the paper's main one.
    pub experiments: &'static [PublishedExperiment],
}

/// A workload and its published figures.
#[derive(Debug, Clone, Copy)]
pub struct PublishedExperiment {
    /// The workload's name.
    pub workload: &'static str,
    /// The policies' names.
    pub policies: &'static [&'static str],
    /// Policies that run with other settings.
    pub variants: &'static [Variant],
    /// The published figures.
    pub claims: &'static [Claim],
}

/// A policy that runs with other settings.
#[derive(Debug, Clone, Copy)]
pub struct Variant {
    /// The name in reports.
    pub name: &'static str,
    /// The policy's own name.
    pub policy: &'static str,
    /// The settings that differ.
    pub change: Change,
}

/// The papers that the simulator of executors reproduces.
pub const PAPERS: [Paper; 2] = [elasecutor::PAPER, prophet::PAPER];

impl PublishedExperiment {
    /// The published figures beside those of `comparison`.
    #[must_use]
    pub fn compared(&self, comparison: &Comparison) -> Vec<Compared> {
        let claims = self.claims.iter();
        claims
            .filter_map(|claim| claim.compared(comparison))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use super::*;

    fn run<'a>(policies: &[&'a str], variants: &[Variant]) -> Vec<&'a str> {
        let variants = variants.iter().map(|variant| variant.name);
        policies.iter().copied().chain(variants).collect()
    }

    #[test]
    fn every_figure_is_of_policies_that_are_run() {
        for paper in PAPERS.into_iter().chain([reprovision::PAPER]) {
            for experiment in paper.experiments {
                let run = run(experiment.policies, experiment.variants);
                for claim in experiment.claims {
                    let names = claim.measure.names();
                    assert!(names.iter().all(|name| run.contains(name)), "{names:?}");
                    let agrees = claim.published == 0.0;
                    assert!(
                        agrees || !claim.because.is_empty(),
                        "{}",
                        claim.measure.words()
                    );
                }
            }
        }
        for study in STUDIES {
            let run = run(study.policies, study.variants);
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
                workload: crate::workload::generate(study.workload, 1).unwrap(),
                settings: elastane_sim::simulator::Settings::papers(),
            };
            let variations = study.variations.iter().copied().flatten();
            for (number, variation) in variations.enumerate() {
                let mut changed = before.clone();
                (variation.change)(&mut changed).unwrap();
                let same = changed == before;
                assert_eq!(
                    same,
                    number == 0,
                    "{} {}",
                    variation.parameter,
                    variation.value
                );
            }
        }
    }
}

//! The papers' comparisons: what was published, and what a simulation gives for it.

mod claim;
mod compared;
mod elasecutor;
pub mod house;
mod prophet;
pub mod reprovision;
mod sensitivity;
mod setup;

pub use claim::{Claim, Measure};
pub use compared::{Agreement, Compared, Measured};
pub use sensitivity::{STUDIES, Study};
pub use setup::{Change, Setup};

pub(crate) use claim::cut;

use crate::experiment::Comparison;

/// A paper's experiments.
#[derive(Debug, Clone, Copy)]
pub struct Paper {
    /// Its name on the command line.
    pub name: &'static str,
    /// In full.
    pub title: &'static str,
    /// The first is the paper's main one.
    pub experiments: &'static [PublishedExperiment],
}

/// One workload and what was published about it.
#[derive(Debug, Clone, Copy)]
pub struct PublishedExperiment {
    /// The workload's name.
    pub workload: &'static str,
    /// The policies' names.
    pub policies: &'static [&'static str],
    /// Policies that are run in another way.
    pub variants: &'static [Variant],
    /// What was published.
    pub claims: &'static [Claim],
}

/// A policy that is run in another way.
#[derive(Debug, Clone, Copy)]
pub struct Variant {
    /// Its name in reports.
    pub name: &'static str,
    /// The policy's own name.
    pub policy: &'static str,
    /// What is different.
    pub change: Change,
}

/// All papers of which the simulator has the grain.
pub const PAPERS: [Paper; 2] = [elasecutor::PAPER, prophet::PAPER];

impl PublishedExperiment {
    /// What was published, beside what a comparison gave.
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
            let mut before = Setup {
                workload: crate::workload::generate(study.workload, 1).unwrap(),
                settings: crate::simulator::Settings::default(),
            };
            before.nobody_starves();
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

//! The papers' comparisons: what was published, and what a simulation gives for it.

mod claim;
mod published;

pub use claim::{Agreement, Claim, Measure, Measured};
pub use published::{ELASECUTOR, PROPHET};

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
    /// What was published.
    pub claims: &'static [Claim],
}

/// All papers.
pub const PAPERS: [Paper; 2] = [ELASECUTOR, PROPHET];

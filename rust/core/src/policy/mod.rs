//! Policies: which of the executors that fit a node is placed first.

mod minfrag;

pub use minfrag::MinFrag;

use crate::available::Available;
use crate::demand::Demand;

/// A policy scores one executor on one node. It is asked only for executors that fit.
pub trait Policy: Send + Sync {
    /// The name that configuration and reports use.
    fn name(&self) -> &'static str;

    /// How good it would be to place `demand` now.
    fn score(&self, available: &Available, demand: &Demand) -> Score;
}

/// A policy's answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// The smallest wins.
    pub value: f64,
    /// Up to when the policy looked, in milliseconds from now.
    pub horizon_ms: i64,
    /// What remains of each resource up to the horizon, over its capacity, in the order of
    /// [`crate::Resource::ALL`]; 0 for one that the node does not know.
    pub remaining_share: [f64; 4],
}

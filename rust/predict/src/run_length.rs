//! The length of a run: before it begins, and while it goes on.

use elastane_runs::ContainerKind;

use crate::recurring::LogNormal;

/// Quantiles of a length that earlier runs predict.
const EARLIEST: f64 = 0.1;
const LATEST: f64 = 0.9;

/// The length of an application's next run: how long its longest container of one kind lives, from its start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunLength {
    /// The kind of the container.
    pub kind: ContainerKind,
    /// The number of earlier runs that the length is estimated from.
    pub runs: usize,
    /// The distribution of the length in milliseconds.
    pub length_ms: LogNormal,
}

/// The length of a run that goes on, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LengthRange {
    /// The 10 % quantile.
    pub earliest_ms: f64,
    /// The median.
    pub median_ms: f64,
    /// The 90 % quantile.
    pub latest_ms: f64,
}

impl RunLength {
    /// The length, given that the container has lived for `elapsed_ms`; see [`LogNormal::quantile_beyond`]. None if
    /// fewer than one run in a hundred is longer than that.
    pub fn beyond(&self, elapsed_ms: f64) -> Option<LengthRange> {
        let quantile = |part| self.length_ms.quantile_beyond(elapsed_ms, part);
        Some(LengthRange {
            earliest_ms: quantile(EARLIEST)?,
            median_ms: quantile(0.5)?,
            latest_ms: quantile(LATEST)?,
        })
    }
}

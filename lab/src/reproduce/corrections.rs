//! Corrections of running containers, and their cost.

use elastane_core::reprovision::{Correction, NotMeasured, Reprovisioned, WINDOW_MS};
use elastane_core::{Resource, Resources};

/// Corrections of running containers, and their cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Corrections {
    /// Windows in which a slow executor had all that was left of its node.
    pub windows: u64,
    /// Windows after which the use was known.
    pub measured: u64,
    /// Windows after which the prediction of a resource was raised.
    pub raised: u64,
    /// Windows in which the executor used less than predicted, so that its demand stayed.
    pub held_up: u64,
    /// How often a slow executor's node had too little left.
    pub too_little_left: u64,
    /// How often an unused demand was lowered, or restored.
    pub unused: u64,
    /// Lent resources: core-seconds, byte-seconds, bytes, bytes.
    pub lent: Resources,
    /// Use of lent resources beyond the prediction, in measured windows.
    pub lent_and_used: Resources,
}

impl Corrections {
    /// Counts the corrections of one run.
    pub fn of(all: &[Reprovisioned]) -> Self {
        let seconds = WINDOW_MS as f64 / 1e3;
        let mut corrections = Self::default();
        for one in all {
            match one.what {
                Correction::Opened { lent, .. } => {
                    corrections.windows += 1;
                    corrections.lent += lent * seconds;
                }
                Correction::Measured { used, predicted, factors } => {
                    corrections.measured += 1;
                    let more = |resource| factors.get(resource) > 1.0;
                    corrections.raised += u64::from(Resource::ALL.into_iter().any(more));
                    let beyond = used.zip(predicted, |used, predicted| (used - predicted).max(0.0));
                    corrections.lent_and_used += beyond * seconds;
                }
                Correction::Returned { because } => {
                    corrections.held_up += u64::from(because == NotMeasured::HeldUp);
                }
                Correction::Reschedule { .. } => corrections.too_little_left += 1,
                Correction::Unused { .. } => corrections.unused += 1,
            }
        }
        corrections
    }
}

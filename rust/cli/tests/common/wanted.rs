//! What is wanted of the prediction of a recurring run at its submission.

use serde_json::Value;

/// The least part of a run's time that is covered.
pub const COVERAGE: f64 = 0.95;

/// The most waste, over that of the constant peak.
pub const OF_PEAK: [(&str, f64); 4] = [
    ("cpu", 0.85),
    ("memory", 0.85),
    ("network", 0.45),
    ("disk", 0.45),
];

/// What `elastane evaluate --json` has of the envelope of one resource at submission: its coverage, and its
/// waste over the constant peak's.
pub fn reached(figures: &Value, resource: &str) -> Option<(f64, f64)> {
    let at_submission = &figures["at_submission"];
    let waste = |method: &str| at_submission[method][resource]["waste"].as_f64();
    let coverage = at_submission["envelope"][resource]["coverage"].as_f64()?;
    Some((coverage, waste("envelope")? / waste("constant peak")?))
}

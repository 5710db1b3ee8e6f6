//! Predicted totals over used totals.

use elastane_core::Resources;
use serde_json::{Value, json};

/// How far from 1 predicted over used may lie.
const WITHIN: [f64; 2] = [0.15, 0.2];

/// Predicted over used of each run, the mean of the resources that it used.
#[derive(Default)]
pub(super) struct Totals(Vec<f64>);

impl Totals {
    pub(super) fn add(&mut self, total: f64) {
        self.0.push(total);
    }

    pub(super) fn runs(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn words(&self) -> String {
        let [near, far] = WITHIN.map(|part| self.within(part) * 100.0);
        format!("{near:.1} % within 15 % of the total, {far:.1} % within 20 %")
    }

    /// [`Totals::words`] after a colon; empty without runs.
    pub(super) fn after_colon(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        format!(": {}", self.words())
    }

    pub(super) fn to_json(&self) -> Value {
        let [near, far] = WITHIN.map(|part| self.within(part));
        json!({
            "predicted": self.0.len(),
            "within_15_percent": near,
            "within_20_percent": far,
            "predicted_over_used": self.0,
        })
    }

    fn within(&self, part: f64) -> f64 {
        let near = self.0.iter().filter(|total| (*total - 1.0).abs() <= part);
        near.count() as f64 / self.0.len().max(1) as f64
    }
}

/// As in Elasecutor's Figure 9a: the mean over the resources that were used.
pub(super) fn predicted_over_used(said: Resources, used: Resources) -> f64 {
    let ratios: Vec<f64> = said
        .to_array()
        .into_iter()
        .zip(used.to_array())
        .filter(|(_, used)| *used > 0.0)
        .map(|(said, used)| said / used)
        .collect();
    ratios.iter().sum::<f64>() / ratios.len().max(1) as f64
}

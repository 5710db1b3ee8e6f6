//! Calibration: how predictions of a given confidence turned out.

use std::io::Write;

use elastane_cli::failure::Failure;
use elastane_core::Resource;
use elastane_predict::{HeldOut, Method, Plain, Scored, Way};
use serde_json::{Value, json};

use super::Judged;
use super::report::by_resource;

/// The number of equal parts of the runs, ordered by confidence.
const PARTS: usize = 4;

/// The least number of runs of a part.
const LEAST_RUNS: usize = 5;

/// Runs of about the same confidence.
struct Part {
    least: f64,
    most: f64,
    runs: usize,
    /// As the mean of those of two runs out of three was when the confidence was made.
    turned_out: HeldOut,
    /// What the confidence of each run would have been, by how it turned out itself.
    confidence: f64,
}

/// The runs that were predicted from earlier runs, at submission.
pub(super) struct ByConfidence(Vec<Part>);

impl ByConfidence {
    pub(super) fn of(judged: &[Judged]) -> Self {
        // The confidence of a model is another figure.
        let by_runs = judged.iter().filter(|it| it.evaluated.way != Way::Model);
        let scored = by_runs.filter_map(|it| it.evaluated.outcome.as_ref().ok());
        let mut runs: Vec<(f64, HeldOut)> = scored
            .filter_map(|it| Some((it.prediction.confidence, turned_out(it)?)))
            .collect();
        if runs.len() < PARTS * LEAST_RUNS {
            return Self(Vec::new());
        }
        runs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let of_part = |at: usize| &runs[at * runs.len() / PARTS..(at + 1) * runs.len() / PARTS];
        Self((0..PARTS).map(|at| Part::of(of_part(at))).collect())
    }

    pub(super) fn write(&self, output: &mut impl Write) -> Result<(), Failure> {
        if self.0.is_empty() {
            return Ok(());
        }
        writeln!(
            output,
            "\n{:<16}{:>6}{:>30}{:>9}{:>14}",
            "by confidence", "runs", "least covered resource", "of peak", "turned out"
        )?;
        for part in &self.0 {
            let (resource, coverage) = part.least_covered();
            let covered = format!("{resource} {:.1} %", coverage * 100.0);
            writeln!(
                output,
                "{:<16}{:>6}{covered:>30}{:>9.2}{:>14.2}",
                format!("{:.2} to {:.2}", part.least, part.most),
                part.runs,
                part.of_peak(),
                part.confidence,
            )?;
        }
        Ok(())
    }

    pub(super) fn add_to_json(&self, json: &mut Value) {
        if self.0.is_empty() {
            return;
        }
        let parts = self.0.iter().map(|part| {
            json!({
                "from": part.least,
                "to": part.most,
                "runs": part.runs,
                "coverage": by_resource(|at| json!(part.turned_out.coverage[at])),
                "waste": by_resource(|at| json!(part.turned_out.waste[at])),
                "peak_waste": by_resource(|at| json!(part.turned_out.peak_waste[at])),
                "turned_out": part.confidence,
            })
        });
        json["by_confidence"] = parts.collect();
    }
}

impl Part {
    fn of(runs: &[(f64, HeldOut)]) -> Self {
        let mean = |of: &dyn Fn(&HeldOut) -> f64| {
            runs.iter().map(|(_, it)| of(it)).sum::<f64>() / runs.len() as f64
        };
        let each = |of: fn(&HeldOut) -> [f64; 4]| {
            std::array::from_fn(|resource| mean(&|it| of(it)[resource]))
        };
        Self {
            least: runs.first().map_or(0.0, |(confidence, _)| *confidence),
            most: runs.last().map_or(0.0, |(confidence, _)| *confidence),
            runs: runs.len(),
            turned_out: HeldOut {
                coverage: each(|it| it.coverage),
                waste: each(|it| it.waste),
                peak_waste: each(|it| it.peak_waste),
            },
            confidence: mean(&HeldOut::confidence),
        }
    }

    fn least_covered(&self) -> (&'static str, f64) {
        let of_resource = Resource::ALL.into_iter().zip(self.turned_out.coverage);
        let least = of_resource.min_by(|a, b| a.1.total_cmp(&b.1));
        least.map_or(("", 1.0), |(resource, coverage)| {
            (resource.name(), coverage)
        })
    }

    /// The mean over the resources.
    fn of_peak(&self) -> f64 {
        let own = self.turned_out.waste.into_iter();
        let over_peak = own.zip(self.turned_out.peak_waste);
        over_peak.map(|(own, peak)| own / peak).sum::<f64>() / 4.0
    }
}

/// The confidence formula applied to the envelope's scores. A resource without use has no waste, as in
/// the formula.
fn turned_out(scored: &Scored) -> Option<HeldOut> {
    let of = |method| {
        let scores = scored.methods.iter().find(|it| it.method == method)?;
        Some(scores.at_submission)
    };
    let (own, peak) = (
        of(Method::Envelope)?,
        of(Method::Plain(Plain::ConstantPeak))?,
    );
    Some(HeldOut {
        coverage: own.map(|it| it.coverage),
        waste: own.map(|it| it.waste.unwrap_or(1.0)),
        peak_waste: peak.map(|it| it.waste.unwrap_or(1.0)),
    })
}

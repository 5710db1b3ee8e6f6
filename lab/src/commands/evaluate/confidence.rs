//! Calibration: the errors of predictions by their confidence.

use std::io::Write;

use elastane_cli::failure::Failure;
use elastane_core::Resource;
use elastane_lab::evaluation::{Method, Scored};
use elastane_predict::{Way, confidence};
use elastane_sim::summary;
use serde_json::{Value, json};

use super::Judged;
use super::report::by_resource;

/// The number of equal parts of the runs, ordered by confidence.
const PARTS: usize = 4;

/// The least number of runs of a part.
const LEAST_RUNS: usize = 5;

/// Runs of about the same confidence, and their mean results.
struct Part {
    least: f64,
    most: f64,
    runs: usize,
    /// The part of the time in which use was at most the planned demand.
    coverage: [f64; 4],
    /// See [`elastane_predict::demand_error`].
    error: f64,
    /// The confidence that corresponds to each run's own error.
    turned_out: f64,
}

/// The runs that were predicted from earlier runs, at submission.
pub(super) struct ByConfidence(Vec<Part>);

impl ByConfidence {
    pub(super) fn of(judged: &[Judged]) -> Self {
        // The confidence of a model is another figure.
        let by_runs = judged.iter().filter(|it| it.evaluated.way != Way::Model);
        let scored = by_runs.filter_map(|it| it.evaluated.outcome.as_ref().ok());
        let mut runs: Vec<&Scored> = scored.collect();
        if runs.len() < PARTS * LEAST_RUNS {
            return Self(Vec::new());
        }
        let sure = |run: &Scored| run.prediction.confidence;
        runs.sort_by(|a, b| sure(a).total_cmp(&sure(b)));
        let of_part = |at: usize| &runs[at * runs.len() / PARTS..(at + 1) * runs.len() / PARTS];
        Self((0..PARTS).map(|at| Part::of(of_part(at))).collect())
    }

    pub(super) fn write(&self, output: &mut impl Write) -> Result<(), Failure> {
        if self.0.is_empty() {
            return Ok(());
        }
        let (heading, least_covered) = ("by confidence", "least covered resource");
        writeln!(output, "\n{heading:<16}  runs{least_covered:>30}    error    turned out")?;
        for part in &self.0 {
            let range = format!("{:.2} to {:.2}", part.least, part.most);
            let (resource, coverage) = part.least_covered();
            let covered = format!("{resource} {:.1} %", coverage * 100.0);
            let (runs, error, turned_out) = (part.runs, part.error, part.turned_out);
            writeln!(output, "{range:<16}{runs:>6}{covered:>30}{error:>9.2}{turned_out:>14.2}")?;
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
                "coverage": by_resource(part.coverage),
                "error": part.error,
                "turned_out": part.turned_out,
            })
        });
        json["by_confidence"] = parts.collect();
    }
}

impl Part {
    fn of(runs: &[&Scored]) -> Self {
        let mean = |of: &dyn Fn(&Scored) -> f64| {
            summary::mean(&runs.iter().map(|run| of(run)).collect::<Vec<_>>())
        };
        let sure = |run: &&Scored| run.prediction.confidence;
        Self {
            least: runs.first().map_or(0.0, sure),
            most: runs.last().map_or(0.0, sure),
            runs: runs.len(),
            coverage: std::array::from_fn(|at| mean(&|run| covered(run, at))),
            error: mean(&|run| run.demand_error),
            turned_out: mean(&|run| confidence(run.demand_error)),
        }
    }

    fn least_covered(&self) -> (&'static str, f64) {
        let of_resource = Resource::ALL.into_iter().zip(self.coverage);
        let least = of_resource.min_by(|a, b| a.1.total_cmp(&b.1));
        least.map_or(("", 1.0), |(resource, coverage)| (resource.name(), coverage))
    }
}

/// The coverage of a resource by the planned demand.
fn covered(run: &Scored, resource: usize) -> f64 {
    let demand = run.methods.iter().find(|it| it.method == Method::Demand);
    demand.map_or(0.0, |it| it.at_submission[resource].coverage)
}

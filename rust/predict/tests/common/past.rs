//! Histories, and predictions of any confidence.

use elastane_core::{Demand, StageEnds};
use elastane_predict::{Outcome, PastRun, Prediction, RecurringSettings, predict_next};

pub fn past(runs: &[Demand]) -> Vec<PastRun> {
    let numbered = (0..).zip(runs);
    numbered
        .map(|(number, used)| PastRun {
            id: format!("run-{number}"),
            ended_ms: number,
            outcome: Outcome::Succeeded,
            used: used.clone(),
            stage_ends: StageEnds::default(),
        })
        .collect()
}

/// Whatever the confidence.
pub fn settings() -> RecurringSettings {
    RecurringSettings { least_confidence: 0.0, ..RecurringSettings::default() }
}

pub fn predicted(history: &[PastRun], settings: &RecurringSettings) -> Prediction {
    predict_next(history, settings).prediction.unwrap()
}

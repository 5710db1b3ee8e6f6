//! Runs with settings that never ran before, predicted by a model of the runs before them.

use std::io::Write;

use elastane_cli::failure::Failure;
use elastane_cli::units::count;
use elastane_predict::{RecurringSettings, SettingsModel, SettingsRun, amount, score, train};
use serde_json::{Value, json};

use super::held_out::splits;
use super::recorded::RecordedApplication;
use super::totals::{Totals, predicted_over_used};

/// Training runs of an application, as in Elasecutor's Figure 9a.
const TRAINED_ON: [usize; 2] = [15, 30];

/// Runs after the training runs that the model predicts.
const PREDICTED: usize = 10;

/// The results of the models of one size, over all applications.
#[derive(Default)]
struct Figures {
    trained_on: usize,
    all: Totals,
    /// The predicted runs with settings that no training run had.
    unseen: Totals,
    /// Every run once, by a model trained without its settings.
    held_out: Totals,
    coverage: [f64; 4],
    not_trained: Vec<String>,
    not_foreseen: usize,
    /// The runs that the models of the first runs did not predict, and why.
    left_out: Vec<String>,
}

/// The figures of all applications whose runs differ in their settings.
pub(super) struct NewSettings(Vec<Figures>);

impl NewSettings {
    pub(super) fn of(applications: &[RecordedApplication], settings: &RecurringSettings) -> Self {
        let mut all: Vec<Figures> =
            TRAINED_ON.map(|trained_on| Figures { trained_on, ..Figures::default() }).into();
        for application in applications {
            let runs = application.differing();
            for figures in &mut all {
                if runs.len() > figures.trained_on {
                    figures.add(&application.name, &runs, settings);
                }
            }
        }
        all.retain(|figures| !figures.all.is_empty() || !figures.not_trained.is_empty());
        Self(all)
    }

    pub(super) fn write(&self, output: &mut impl Write) -> Result<(), Failure> {
        for figures in &self.0 {
            let Figures { trained_on, all, unseen, held_out, .. } = figures;
            let [predicted, held_out_runs] = [all, held_out].map(|it| count(it.runs(), "run"));
            writeln!(
                output,
                "\nnew settings, after {trained_on} runs: {predicted} predicted, {}\n  \
                 {} of them with settings that none of those had{}\n  \
                 with settings held out: {held_out_runs} predicted{}",
                all.words(),
                unseen.runs(),
                unseen.after_colon(),
                held_out.after_colon(),
            )?;
            if figures.not_foreseen > 0 {
                let runs = count(figures.not_foreseen, "run");
                writeln!(
                    output,
                    "{runs} not predicted: settings unlike those before, or too few runs since \
                     the application changed"
                )?;
            }
            for run in &figures.left_out {
                writeln!(output, "left out of the model of {run}")?;
            }
            for reason in &figures.not_trained {
                writeln!(output, "no model of {reason}")?;
            }
        }
        Ok(())
    }

    pub(super) fn to_json(&self) -> Value {
        let figures = self.0.iter().map(|figures| {
            let runs = figures.all.runs().max(1) as f64;
            let mut json = figures.all.to_json();
            json["trained_on"] = json!(figures.trained_on);
            json["coverage"] = json!(figures.coverage.map(|sum| sum / runs));
            json["not_foreseen"] = json!(figures.not_foreseen);
            json["not_trained"] = json!(figures.not_trained);
            json["left_out"] = json!(figures.left_out);
            json["unseen"] = figures.unseen.to_json();
            json["held_out"] = figures.held_out.to_json();
            json
        });
        Value::Array(figures.collect())
    }
}

/// A model whose confidence is at least the floor.
fn train_well(runs: &[SettingsRun], settings: &RecurringSettings) -> Result<SettingsModel, String> {
    let model = train(runs).map_err(|error| error.to_string())?;
    let (confidence, least) = (model.confidence, settings.least_confidence);
    if confidence < least {
        return Err(format!("the confidence is {confidence:.2}, at least {least} is needed"));
    }
    Ok(model)
}

impl Figures {
    fn add(&mut self, application: &str, runs: &[SettingsRun], settings: &RecurringSettings) {
        let (earlier, later) = runs.split_at(self.trained_on);
        match train_well(earlier, settings) {
            Ok(model) => {
                let left_out = model.left_out.iter();
                self.left_out
                    .extend(left_out.map(|it| format!("{application}: {}: {}", it.id, it.reason)));
                for run in later.iter().take(PREDICTED) {
                    let is_seen = earlier.iter().any(|it| it.settings == run.settings);
                    self.judge(&model, run, is_seen);
                }
            }
            Err(reason) => self.not_trained.push(format!("{application}: {reason}")),
        }
        for split in splits(runs, self.trained_on) {
            let learned: Vec<SettingsRun> = split.learned.into_iter().cloned().collect();
            let Ok(model) = train_well(&learned, settings) else {
                continue;
            };
            for run in split.held_out {
                if let Ok(prediction) = model.predict(&run.settings) {
                    let (said, used) = (prediction.total(), amount(&run.used));
                    self.held_out.add(predicted_over_used(said, used));
                }
            }
        }
    }

    fn judge(&mut self, model: &SettingsModel, run: &SettingsRun, is_seen: bool) {
        let Ok(prediction) = model.predict(&run.settings) else {
            self.not_foreseen += 1;
            return;
        };
        let total = predicted_over_used(prediction.total(), amount(&run.used));
        self.all.add(total);
        if !is_seen {
            self.unseen.add(total);
        }
        let scores = score(&prediction.demand, prediction.total(), &run.used);
        for (sum, score) in self.coverage.iter_mut().zip(scores) {
            *sum += score.coverage;
        }
    }
}

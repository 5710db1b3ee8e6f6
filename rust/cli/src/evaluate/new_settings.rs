//! Runs with settings that never ran before, predicted by a model of the runs before them.

use std::io::Write;

use elastane_predict::{
    Outcome, RecurringSettings, SettingsModel, SettingsRun, amount, score, train,
};
use serde_json::{Value, json};

use super::series::Application;
use crate::failure::Failure;
use crate::units::count;

/// A model is trained on so many of an application's runs, as Elasecutor's Figure 9a has it.
const TRAINED_ON: [usize; 2] = [15, 30];

/// It predicts so many of the runs after those.
const PREDICTED: usize = 10;

/// How far from 1 predicted over used may lie.
const WITHIN: [f64; 2] = [0.15, 0.2];

/// What the models of one size did, over all applications.
#[derive(Default)]
struct Figures {
    trained_on: usize,
    /// Predicted over used of each run, the mean of the resources that it used.
    totals: Vec<f64>,
    coverage: [f64; 4],
    not_trained: Vec<String>,
    not_foreseen: usize,
}

/// The figures of all applications whose runs differ in their settings.
pub(super) struct NewSettings(Vec<Figures>);

impl NewSettings {
    pub(super) fn of(applications: &[Application], settings: &RecurringSettings) -> Self {
        let mut all: Vec<Figures> = TRAINED_ON.map(Figures::on).into();
        for application in applications {
            let runs = differing(application);
            for figures in &mut all {
                if runs.len() > figures.trained_on {
                    figures.add(&application.name, &runs, settings);
                }
            }
        }
        all.retain(|figures| !figures.totals.is_empty() || !figures.not_trained.is_empty());
        Self(all)
    }

    pub(super) fn write(&self, output: &mut impl Write) -> Result<(), Failure> {
        for figures in &self.0 {
            let runs = count(figures.totals.len(), "run");
            writeln!(
                output,
                "\nnew settings, after {} runs: {runs} predicted, {:.1} % within 15 % of the total, \
                 {:.1} % within 20 %",
                figures.trained_on,
                figures.within(WITHIN[0]) * 100.0,
                figures.within(WITHIN[1]) * 100.0
            )?;
            if figures.not_foreseen > 0 {
                let runs = count(figures.not_foreseen, "run");
                writeln!(output, "{runs} not predicted: settings unlike those before")?;
            }
            for reason in &figures.not_trained {
                writeln!(output, "no model of {reason}")?;
            }
        }
        Ok(())
    }

    pub(super) fn to_json(&self) -> Value {
        let figures = self.0.iter().map(|figures| {
            json!({
                "trained_on": figures.trained_on,
                "predicted": figures.totals.len(),
                "within_15_percent": figures.within(WITHIN[0]),
                "within_20_percent": figures.within(WITHIN[1]),
                "coverage": figures.coverage.map(|sum| sum / figures.totals.len().max(1) as f64),
                "predicted_over_used": figures.totals,
                "not_foreseen": figures.not_foreseen,
                "not_trained": figures.not_trained,
            })
        });
        Value::Array(figures.collect())
    }
}

impl Figures {
    fn on(trained_on: usize) -> Self {
        Self {
            trained_on,
            ..Self::default()
        }
    }

    fn add(&mut self, application: &str, runs: &[SettingsRun], settings: &RecurringSettings) {
        let (earlier, later) = runs.split_at(self.trained_on);
        match train(earlier, settings) {
            Ok(model) => later
                .iter()
                .take(PREDICTED)
                .for_each(|run| self.judge(&model, run)),
            Err(reason) => self.not_trained.push(format!("{application}: {reason}")),
        }
    }

    fn judge(&mut self, model: &SettingsModel, run: &SettingsRun) {
        let Ok(prediction) = model.predict(&run.settings) else {
            self.not_foreseen += 1;
            return;
        };
        let (said, used) = (prediction.total().to_array(), amount(&run.used).to_array());
        let ratios: Vec<f64> = said
            .into_iter()
            .zip(used)
            .filter(|(_, used)| *used > 0.0)
            .map(|(said, used)| said / used)
            .collect();
        self.totals
            .push(ratios.iter().sum::<f64>() / ratios.len().max(1) as f64);
        let scores = score(&prediction.envelope, prediction.total(), &run.used);
        for (sum, score) in self.coverage.iter_mut().zip(scores) {
            *sum += score.coverage;
        }
    }

    fn within(&self, part: f64) -> f64 {
        let near = self
            .totals
            .iter()
            .filter(|total| (*total - 1.0).abs() <= part);
        near.count() as f64 / self.totals.len().max(1) as f64
    }
}

/// The runs that can be learned from; none where their settings are alike.
fn differing(application: &Application) -> Vec<SettingsRun> {
    if !application.settings_differ() {
        return Vec::new();
    }
    let runs = application.runs.iter();
    let succeeded = runs.filter(|run| run.outcome == Outcome::Succeeded);
    succeeded
        .map(|run| SettingsRun {
            id: run.name.clone(),
            settings: run.settings.clone(),
            used: run.used.clone(),
        })
        .collect()
}

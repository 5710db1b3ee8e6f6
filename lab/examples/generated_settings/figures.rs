//! Errors of predictions for the runs after the training runs, over applications and seeds.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use elastane_predict::{Exclusion, RecurringSettings, SettingsRun, amount, score, train};

/// The number of runs after the training runs that a model predicts.
const PREDICTED: usize = 10;

fn with_settings_of_others(runs: &[SettingsRun]) -> Vec<SettingsRun> {
    let others = runs.iter().cycle().skip(runs.len() - 1);
    let given = runs
        .iter()
        .zip(others)
        .map(|(run, other)| SettingsRun { settings: other.settings.clone(), ..run.clone() });
    given.collect()
}

/// Over all applications and seeds.
#[derive(Default)]
pub struct Figures {
    /// The number of runs to predict.
    runs: usize,
    /// Predicted over used of each predicted run: the mean over the four resources.
    totals: Vec<f64>,
    coverage: [f64; 4],
    waste: [f64; 4],
    not_trained: usize,
    not_foreseen: usize,
    linear: usize,
    /// Runs that models left out, by their reason.
    left_out: BTreeMap<&'static str, usize>,
    models: usize,
    /// Of these, models that found the settings not informative.
    indifferent: usize,
    /// As above, with the settings of the run before each run, which are not informative.
    indifferent_to_others: usize,
    training: Vec<Duration>,
    predicting: Vec<Duration>,
}

impl Figures {
    /// Adds an application, whose first runs a model is trained on.
    pub fn add(&mut self, runs: &[SettingsRun], trained_on: usize) {
        let to_predict = &runs[trained_on..(trained_on + PREDICTED).min(runs.len())];
        self.runs += to_predict.len();
        let started = Instant::now();
        let least = RecurringSettings::default().least_confidence;
        let model = train(&runs[..trained_on]).ok();
        let Some(model) = model.filter(|model| model.confidence >= least) else {
            self.not_trained += 1;
            return;
        };
        self.training.push(started.elapsed());
        self.models += 1;
        self.indifferent += usize::from(!model.settings_matter());
        let of_others = train(&with_settings_of_others(&runs[..trained_on]));
        self.indifferent_to_others +=
            usize::from(of_others.is_ok_and(|model| !model.settings_matter()));
        for left_out in &model.left_out {
            let reason = match left_out.reason {
                Exclusion::OutlierForSettings(..) => "outlier",
                _ => "before a change",
            };
            *self.left_out.entry(reason).or_default() += 1;
        }
        let regressions = model.regressions().into_iter();
        self.linear += regressions.filter(|(_, is_linear)| *is_linear).count();
        for run in to_predict {
            let started = Instant::now();
            let prediction = model.predict(&run.settings);
            self.predicting.push(started.elapsed());
            let Ok(prediction) = prediction else {
                self.not_foreseen += 1;
                continue;
            };
            let total = prediction.total();
            let scores = score(&prediction.demand, total, &run.used);
            for (at, score) in scores.iter().enumerate() {
                self.coverage[at] += score.coverage;
                self.waste[at] += score.waste.unwrap_or(1.0);
            }
            let used = amount(&run.used).to_array();
            let ratios = total.to_array().into_iter().zip(used).map(|(said, was)| said / was);
            self.totals.push(ratios.sum::<f64>() / 4.0);
        }
    }

    /// The number of predicted totals within this relative error.
    fn within(&self, part: f64) -> usize {
        let misses = self.totals.iter().map(|total| (total - 1.0).abs());
        misses.filter(|missed| *missed <= part).count()
    }

    /// The part of all runs that was predicted within this error. A run without a prediction counts as missed, so
    /// that a model gains nothing by predicting easy runs only.
    pub fn part_within(&self, part: f64) -> f64 {
        self.within(part) as f64 / self.runs as f64
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.totals.len() as f64;
        let within = |part: f64| self.within(part) as f64 / count * 100.0;
        writeln!(
            out,
            "{} of {} runs predicted, {:.1} % within 15 % of the total, {:.1} % within 20 %",
            self.totals.len(),
            self.runs,
            within(0.15),
            within(0.2),
        )?;
        let means = |sums: [f64; 4]| sums.map(|sum| (sum / count * 1e3).round() / 1e3);
        writeln!(
            out,
            "  coverage {:?}, waste {:?} (cpu, memory, network, disk)",
            means(self.coverage),
            means(self.waste)
        )?;
        writeln!(out, "  left out: {:?}", self.left_out)?;
        write!(
            out,
            "  {} models ({} indifferent to settings, {} to those of other runs), {} without, {} settings too far; linear {:.0} %; {:?} to train, {:?} to predict in the median",
            self.models,
            self.indifferent,
            self.indifferent_to_others,
            self.not_trained,
            self.not_foreseen,
            self.linear as f64 / self.models.max(1) as f64 * 20.0,
            median(&self.training),
            median(&self.predicting),
        )
    }
}

fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

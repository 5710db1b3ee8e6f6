//! How well runs with settings that never ran are predicted, or the runs for `elastane evaluate`:
//! `cargo run --release -p elastane-predict --example generated_settings -- [SEEDS [FIRST [DIR]]]`

#[path = "../generated_runs/csv.rs"]
mod csv;
mod generator;
#[path = "../generated_runs/generator.rs"]
#[allow(dead_code, reason = "each example uses its own part")]
mod runs;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use csv::csv;
use elastane_predict::{Exclusion, RecurringSettings, Settings, SettingsRun, amount, score, train};
use generator::Configurable;
use serde_json::{Map, json};

const SEEDS: u64 = 30;
const APPLICATIONS: u64 = 4;
const RUNS: usize = 40;
/// A model is trained on so many runs, and predicts so many of those after it.
const TRAINED_ON: [usize; 2] = [15, 30];
const PREDICTED: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seeds = arguments.next().map_or(Ok(SEEDS), |seeds| seeds.parse())?;
    let first = arguments.next().map_or(Ok(1), |first| first.parse())?;
    let folder = arguments.next();
    let mut figures = TRAINED_ON.map(|_| Figures::default());
    for seed in first..first + seeds {
        for number in 1..=APPLICATIONS {
            let runs = runs_of(seed, number)?;
            if let Some(folder) = &folder {
                let name = format!("seed-{seed:02}-{number}");
                write(&Path::new(folder).join(name), &runs)?;
                continue;
            }
            for (figures, trained_on) in figures.iter_mut().zip(TRAINED_ON) {
                figures.add(&runs, trained_on);
            }
        }
    }
    if folder.is_none() {
        for (figures, trained_on) in figures.iter().zip(TRAINED_ON) {
            println!("after {trained_on} runs: {figures}");
        }
    }
    Ok(())
}

fn runs_of(seed: u64, number: u64) -> Result<Vec<SettingsRun>, Box<dyn Error>> {
    let mut application = Configurable::new(seed, number)?;
    (1..=RUNS)
        .map(|run| {
            let (settings, used) = application.run()?;
            let id = format!("run-{run:02}");
            Ok(SettingsRun { id, settings, used })
        })
        .collect()
}

fn any_confidence() -> RecurringSettings {
    RecurringSettings {
        least_confidence: 0.0,
        ..RecurringSettings::default()
    }
}

fn with_settings_of_others(runs: &[SettingsRun]) -> Vec<SettingsRun> {
    let others = runs.iter().cycle().skip(runs.len() - 1);
    let given = runs.iter().zip(others).map(|(run, other)| SettingsRun {
        settings: other.settings.clone(),
        ..run.clone()
    });
    given.collect()
}

/// Over all applications and seeds.
#[derive(Default)]
struct Figures {
    /// Predicted over used, the mean of the four resources, of each run.
    totals: Vec<f64>,
    coverage: [f64; 4],
    waste: [f64; 4],
    not_trained: usize,
    not_foreseen: usize,
    linear: usize,
    /// Runs that models left out, by their reason.
    left_out: BTreeMap<&'static str, usize>,
    models: usize,
    /// Of these, models that found settings to say nothing.
    indifferent: usize,
    /// And where each run is given the settings of the one before it, so that they do say nothing.
    indifferent_to_others: usize,
    training: Vec<Duration>,
    predicting: Vec<Duration>,
}

impl Figures {
    fn add(&mut self, runs: &[SettingsRun], trained_on: usize) {
        let started = Instant::now();
        let Ok(model) = train(&runs[..trained_on], &RecurringSettings::default()) else {
            self.not_trained += 1;
            return;
        };
        self.training.push(started.elapsed());
        self.models += 1;
        self.indifferent += usize::from(!model.settings_matter());
        let of_others = train(
            &with_settings_of_others(&runs[..trained_on]),
            &any_confidence(),
        );
        self.indifferent_to_others +=
            usize::from(of_others.is_ok_and(|model| !model.settings_matter()));
        for left_out in model.left_out() {
            let reason = match left_out.reason {
                Exclusion::OutlierForSettings { .. } => "outlier",
                _ => "before a change",
            };
            *self.left_out.entry(reason).or_default() += 1;
        }
        self.linear += model.linear_regressions();
        for run in &runs[trained_on..(trained_on + PREDICTED).min(runs.len())] {
            let started = Instant::now();
            let prediction = model.predict(&run.settings);
            self.predicting.push(started.elapsed());
            let Ok(prediction) = prediction else {
                self.not_foreseen += 1;
                continue;
            };
            let total = prediction.total();
            let scores = score(&prediction.envelope, total, &run.used);
            for (at, score) in scores.iter().enumerate() {
                self.coverage[at] += score.coverage;
                self.waste[at] += score.waste.unwrap_or(1.0);
            }
            let used = amount(&run.used).to_array();
            let ratios = total
                .to_array()
                .into_iter()
                .zip(used)
                .map(|(said, was)| said / was);
            self.totals.push(ratios.sum::<f64>() / 4.0);
        }
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let count = self.totals.len() as f64;
        let within = |part: f64| {
            let near = self
                .totals
                .iter()
                .filter(|total| (*total - 1.0).abs() <= part)
                .count();
            near as f64 / count * 100.0
        };
        writeln!(
            out,
            "{} predictions, {:.1} % within 15 % of the total, {:.1} % within 20 %",
            self.totals.len(),
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

fn write(folder: &Path, runs: &[SettingsRun]) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let mut all = Map::new();
    for SettingsRun {
        id,
        settings: Settings(settings),
        used,
    } in runs
    {
        fs::write(folder.join(format!("{id}.csv")), csv(used)?)?;
        all.insert(id.clone(), json!(settings));
    }
    fs::write(folder.join("settings.json"), format!("{:#}\n", json!(all)))?;
    Ok(())
}

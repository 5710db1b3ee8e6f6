//! `elastane-lab evaluate`

mod confidence;
mod held_out;
mod new_settings;
mod recorded;
mod repeats;
mod report;
mod series;
mod settings;
mod summary;
mod totals;
mod ways;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use elastane_cli::bar::bar;
use elastane_cli::failure::{Failure, write};
use elastane_lab::evaluation::{Evaluated, History, evaluate_foreseen};
use elastane_predict::{ContainerKind, Outcome, PastRun, RecurringSettings};

use super::series_format::to_csv;
use recorded::{Recorded, RecordedApplication};

/// Predicts each run of each application from the runs before it, and scores the predictions
#[derive(Args)]
#[command(after_help = "DIR has one folder for each application, in it one CSV for each run:
  t_s,cpu_cores,memory_bytes,network_bytes_per_s,disk_bytes_per_s
Names sort in the order of time. settings.json beside them may give outcomes and settings of runs; if
settings differ, runs with new settings are predicted, too:
  { \"runs\": { \"RUN\": { \"outcome\": \"failed\" } }, \"RUN\": { \"executors\": 4 } }

Examples:
  elastane-lab evaluate series
  elastane-lab evaluate series --json figures.json --predictions predicted
  elastane-lab evaluate series --runs 2")]
pub(crate) struct Evaluate {
    /// The folder of the applications
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Write all figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the envelopes predicted at submission, as OUT/APPLICATION/RUN.csv
    #[arg(long, value_name = "OUT")]
    predictions: Option<PathBuf>,
    /// The number of latest runs to predict from
    #[arg(long, value_name = "NUMBER", default_value = "3",
          value_parser = clap::value_parser!(u16).range(2..=100))]
    runs: u16,
    /// Minimum confidence of a prediction, from 0 to 1
    #[arg(long, value_name = "CONFIDENCE",
          default_value_t = RecurringSettings::default().least_confidence, value_parser = part)]
    least_confidence: f64,
}

/// A run and its evaluation.
pub(crate) struct Judged {
    pub(crate) application: String,
    pub(crate) run: String,
    /// Whether the settings of the application's runs differ.
    pub(crate) settings_differ: bool,
    pub(crate) evaluated: Evaluated,
}

impl Evaluate {
    pub(crate) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let applications = series::read_folder(&self.folder)?;
        let settings = RecurringSettings {
            runs: usize::from(self.runs),
            least_confidence: self.least_confidence,
        };
        let judged = judge(&applications, &settings);
        if let Some(folder) = &self.predictions {
            for run in &judged {
                write_prediction(folder, run)?;
            }
        }
        let summary = summary::Summary::of(&judged);
        let ways = ways::Ways::of(&judged);
        report::write_table(output, &judged, &ways, &summary)?;
        let by_confidence = confidence::ByConfidence::of(&judged);
        by_confidence.write(output)?;
        let new_settings = new_settings::NewSettings::of(&applications, &settings);
        new_settings.write(output)?;
        let repeats = repeats::Repeats::of(&applications);
        repeats.write(output)?;
        if let Some(path) = &self.json {
            let mut json = report::to_json(&judged, &summary);
            json["new_settings"] = new_settings.to_json();
            ways.add_to_json(&mut json);
            by_confidence.add_to_json(&mut json);
            repeats.add_to_json(&mut json);
            write(path, &format!("{json:#}\n"))?;
        }
        Ok(())
    }
}

/// Every run that succeeded, predicted from the runs before it as the scheduler would predict it.
fn judge(applications: &[RecordedApplication], settings: &RecurringSettings) -> Vec<Judged> {
    let bar = bar("runs");
    bar.set_length(applications.iter().map(|it| it.runs.len() as u64).sum());
    let mut judged = Vec::new();
    for application in applications {
        let settings_differ = application.settings_differ();
        let mut history = History::new(ContainerKind::DEFAULT_EXECUTOR, *settings);
        for (order, run) in (0..).zip(&application.runs) {
            let past = past_run((order, run));
            if run.outcome == Outcome::Succeeded {
                let foreseen = history.foresee(&run.settings);
                judged.push(Judged {
                    application: application.name.clone(),
                    run: run.name.clone(),
                    settings_differ,
                    evaluated: evaluate_foreseen(foreseen, history.runs(), &past, settings),
                });
            }
            history.add(past, &run.settings);
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    judged
}

fn past_run((order, run): (i64, &Recorded)) -> PastRun {
    PastRun {
        id: run.name.clone(),
        ended_ms: order,
        outcome: run.outcome,
        used: run.used.clone(),
        stage_ends: run.stage_ends.clone(),
    }
}

fn write_prediction(folder: &Path, judged: &Judged) -> Result<(), Failure> {
    let Ok(scored) = &judged.evaluated.outcome else {
        return Ok(());
    };
    let folder = folder.join(&judged.application);
    fs::create_dir_all(&folder)
        .map_err(|error| Failure::Failed(format!("{}: {error}", folder.display())))?;
    let path = folder.join(format!("{}.csv", judged.run));
    write(&path, &to_csv(&scored.envelope.bound))
}

fn part(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    number
        .filter(|number| (0.0..=1.0).contains(number))
        .ok_or_else(|| "a number from 0 to 1 is allowed".to_owned())
}

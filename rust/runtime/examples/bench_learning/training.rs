//! How long it takes to learn what an application's settings do, and to say by that what a run with
//! other ones will use.

use std::time::{Duration, Instant};

use elastane_predict::{
    ContainerKind, RecurringSettings, Settings, SettingsModel, SettingsRun, train,
};

use crate::figure::{Figure, Outcome};
use crate::generator::Configurable;

const APPLICATIONS: u64 = 8;
const TRAINED_ON: usize = 30;
const PREDICTED: usize = 50;

/// Of the slowest application, a model of its application masters and one of its executors.
const MOST_TRAINING_MS: f64 = 1_000.0;

/// Of one run, in the median.
const MOST_PREDICTION_US: f64 = 1_000.0;

pub fn figures() -> Outcome<Vec<Figure>> {
    let mut training = Duration::ZERO;
    let mut predictions = Vec::new();
    for number in 1..=APPLICATIONS {
        let runs = runs_of(number)?;
        let (learned_from, next) = runs.split_at(TRAINED_ON);
        let begin = Instant::now();
        trained(ContainerKind::ApplicationMaster, learned_from)?;
        let model = trained(ContainerKind::DEFAULT_EXECUTOR, learned_from)?;
        training = training.max(begin.elapsed());
        for run in next {
            let begin = Instant::now();
            let prediction = model.predict(&run.settings);
            // Settings that lie too far off are refused sooner.
            if prediction.is_ok() {
                predictions.push(begin.elapsed());
            }
        }
    }
    predictions.sort_unstable();
    let median = predictions.get(predictions.len() / 2);
    let median = median.ok_or("no run was predicted")?;
    Ok(vec![
        Figure {
            name: "training_ms",
            value: training.as_secs_f64() * 1e3,
            most: MOST_TRAINING_MS,
        },
        Figure {
            name: "prediction_us",
            value: median.as_secs_f64() * 1e6,
            most: MOST_PREDICTION_US,
        },
    ])
}

fn trained(kind: ContainerKind, runs: &[SettingsRun]) -> Outcome<SettingsModel> {
    let runs: Vec<SettingsRun> = runs
        .iter()
        .map(|run| SettingsRun {
            settings: run.settings.known_to(kind),
            ..run.clone()
        })
        .collect();
    Ok(train(
        &runs,
        &RecurringSettings::default().at_any_confidence(),
    )?)
}

/// Runs with six settings, two of which do nothing.
fn runs_of(number: u64) -> Outcome<Vec<SettingsRun>> {
    let mut application = Configurable::new(1, number)?;
    (0..TRAINED_ON + PREDICTED)
        .map(|run| {
            let (Settings(mut settings), used) = application.run()?;
            settings.insert("--day".to_owned(), (1 + run % 28) as f64);
            settings.insert("--shard".to_owned(), (1 + run * 7 % 16) as f64);
            Ok(SettingsRun {
                id: format!("run-{run}"),
                settings: Settings(settings),
                used,
            })
        })
        .collect()
}

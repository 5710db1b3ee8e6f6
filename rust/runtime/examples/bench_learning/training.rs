//! The cost of training a model of an application's settings, and of predicting a run by it.

use std::time::{Duration, Instant};

use elastane_predict::{ContainerKind, Settings, SettingsModel, SettingsRun, train};

use crate::figure::{Figure, Outcome};
use crate::generator::Configurable;
use crate::reference;

const APPLICATIONS: u64 = 8;
const TRAINED_ON: usize = 30;
const PREDICTED: usize = 50;

/// CPU time over the reference's, which takes turns with the applications. Each application has a model of its
/// application masters and one of its executors; the aim for the slowest is 1,000 ms on an idle machine.
const MOST_TRAINING_RATIO: f64 = 10.0;

/// The median of one run. Hundreds of times the usual figure, so that no busy machine reaches it.
const MOST_PREDICTION_US: f64 = 1_000.0;

pub fn figures() -> Outcome<Vec<Figure>> {
    let mut training = Duration::ZERO;
    let (mut training_cpu_ms, mut reference_cpu_ms) = (0.0, 0.0);
    let mut predictions = Vec::new();
    for number in 1..=APPLICATIONS {
        let runs = runs_of(number)?;
        let (learned_from, next) = runs.split_at(TRAINED_ON);
        reference_cpu_ms += reference::cpu_ms()?;
        let (begin, cpu_before_ms) = (Instant::now(), reference::thread_cpu_ms()?);
        trained(ContainerKind::ApplicationMaster, learned_from)?;
        let model = trained(ContainerKind::DEFAULT_EXECUTOR, learned_from)?;
        training_cpu_ms += reference::thread_cpu_ms()? - cpu_before_ms;
        training = training.max(begin.elapsed());
        for run in next {
            let begin = Instant::now();
            let prediction = model.predict(&run.settings);
            // Settings too far from the known ones are refused early.
            if prediction.is_ok() {
                predictions.push(begin.elapsed());
            }
        }
    }
    predictions.sort_unstable();
    let median = predictions.get(predictions.len() / 2);
    let median = median.ok_or("no run was predicted")?;
    Ok(vec![
        Figure { name: "training_ms", value: training.as_secs_f64() * 1e3, most: None },
        Figure { name: "training_cpu_ms", value: training_cpu_ms, most: None },
        Figure { name: "reference_cpu_ms", value: reference_cpu_ms, most: None },
        Figure {
            name: "training_ratio",
            value: training_cpu_ms / reference_cpu_ms,
            most: Some(MOST_TRAINING_RATIO),
        },
        Figure {
            name: "prediction_us",
            value: median.as_secs_f64() * 1e6,
            most: Some(MOST_PREDICTION_US),
        },
    ])
}

fn trained(kind: ContainerKind, runs: &[SettingsRun]) -> Outcome<SettingsModel> {
    let runs: Vec<SettingsRun> = runs
        .iter()
        .map(|run| SettingsRun { settings: run.settings.known_to(kind), ..run.clone() })
        .collect();
    Ok(train(&runs)?)
}

/// Runs with six settings, two of which do nothing.
fn runs_of(number: u64) -> Outcome<Vec<SettingsRun>> {
    let mut application = Configurable::new(1, number)?;
    (0..TRAINED_ON + PREDICTED)
        .map(|run| {
            let (Settings(mut settings), used) = application.run()?;
            settings.insert("--day".to_owned(), (1 + run % 28) as f64);
            settings.insert("--shard".to_owned(), (1 + run * 7 % 16) as f64);
            Ok(SettingsRun { id: format!("run-{run}"), settings: Settings(settings), used })
        })
        .collect()
}

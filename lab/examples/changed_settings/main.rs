//! Counts the changes and outliers that models of settings recognize, on generated runs:
//! `cargo run --release -p elastane-lab --example changed_settings -- [SEEDS [FIRST]]`

#[path = "../generated_settings/generator.rs"]
#[allow(dead_code, reason = "each example uses its own part")]
mod generator;
#[path = "../generated_runs/generator.rs"]
#[allow(dead_code, reason = "each example uses its own part")]
mod runs;

use std::error::Error;

use elastane_core::{Demand, DemandError, Resources};
use elastane_predict::{Exclusion, SettingsModel, SettingsRun, train};
use generator::Configurable;

const SEEDS: u64 = 10;
const APPLICATIONS: u64 = 4;
const TRAINED_ON: [usize; 2] = [15, 30];
/// The numbers of newest runs that use twice the CPU.
const SINCE: [usize; 3] = [3, 6, 10];
/// The multiple of CPU that one run uses.
const WILD: f64 = 5.0;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seeds = arguments.next().map_or(Ok(SEEDS), |seeds| seeds.parse())?;
    let first = arguments.next().map_or(Ok(1), |first| first.parse())?;
    for trained_on in TRAINED_ON {
        let mut models = 0;
        let (mut changes, mut wild, mut others) = ([0; SINCE.len()], 0, 0);
        for seed in first..first + seeds {
            for number in 1..=APPLICATIONS {
                let mut application = Configurable::new(seed, number)?;
                let runs = (0..trained_on).map(|run| {
                    let (settings, used) = application.run()?;
                    let id = run.to_string();
                    Ok(SettingsRun { id, settings, used })
                });
                let runs: Vec<SettingsRun> = runs.collect::<Result<_, DemandError>>()?;
                models += 1;
                for (changes, since) in changes.iter_mut().zip(SINCE) {
                    let mut runs = runs.clone();
                    for run in &mut runs[trained_on - since..] {
                        run.used = with_cpu(&run.used, 2.0);
                    }
                    *changes += usize::from(changed_after(&model(&runs)?) == trained_on - since);
                }
                let mut runs = runs;
                let at = (seed as usize * 7 + number as usize) % trained_on;
                runs[at].used = with_cpu(&runs[at].used, WILD);
                for left_out in model(&runs)?.left_out {
                    if left_out.id == at.to_string() {
                        wild += 1;
                    } else {
                        others += 1;
                    }
                }
            }
        }
        println!(
            "after {trained_on} runs, {models} models: twice the CPU recognized exactly after \
             {SINCE:?} runs {changes:?} times; a run with {WILD} times the CPU {wild} times, with it \
             {others} others left out"
        );
    }
    Ok(())
}

fn model(runs: &[SettingsRun]) -> Result<SettingsModel, Box<dyn Error>> {
    Ok(train(runs)?)
}

/// The number of runs that were left out because the application changed after them.
fn changed_after(model: &SettingsModel) -> usize {
    let left_out = model.left_out.iter();
    left_out.filter(|it| matches!(it.reason, Exclusion::BeforeDriftForSettings(..))).count()
}

fn with_cpu(used: &Demand, times: f64) -> Demand {
    used.scaled(Resources::from_array([times, 1.0, 1.0, 1.0]))
}

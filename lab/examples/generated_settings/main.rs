//! Scores predictions of runs with new settings; with DIR, writes the runs for `elastane-lab evaluate`:
//! `cargo run --release -p elastane-lab --example generated_settings -- [SEEDS [FIRST [DIR]]]`
//!
//! Exit code 1: a target is missed.

#[path = "../generated_runs/csv.rs"]
mod csv;
mod figures;
mod generator;
#[path = "../generated_runs/generator.rs"]
#[allow(dead_code, reason = "each example uses its own part")]
mod runs;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use csv::csv;
use elastane_predict::{Settings, SettingsRun};
use figures::Figures;
use generator::Configurable;
use serde_json::{Map, json};

const SEEDS: u64 = 30;
const APPLICATIONS: u64 = 4;
const RUNS: usize = 40;

/// The targets, after Elasecutor's Figure 9a.
const WANTED: [Wanted; 2] = [
    Wanted { trained_on: 15, part: 0.8, within: 0.2 },
    Wanted { trained_on: 30, part: 0.9, within: 0.15 },
];

/// After training on a number of runs, the minimum part of the next runs whose predicted total must be within an
/// error.
struct Wanted {
    trained_on: usize,
    part: f64,
    within: f64,
}

fn main() -> ExitCode {
    match run() {
        Ok(is_reached) => ExitCode::from(u8::from(!is_reached)),
        Err(error) => {
            eprintln!("generated_settings: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns whether every target is reached; true if a folder is written instead.
fn run() -> Result<bool, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seeds = arguments.next().map_or(Ok(SEEDS), |seeds| seeds.parse())?;
    let first = arguments.next().map_or(Ok(1), |first| first.parse())?;
    let folder = arguments.next();
    let mut figures = WANTED.map(|wanted| (wanted, Figures::default()));
    for seed in first..first + seeds {
        for number in 1..=APPLICATIONS {
            let runs = runs_of(seed, number)?;
            if let Some(folder) = &folder {
                let name = format!("seed-{seed:02}-{number}");
                write(&Path::new(folder).join(name), &runs)?;
                continue;
            }
            for (wanted, figures) in &mut figures {
                figures.add(&runs, wanted.trained_on);
            }
        }
    }
    if folder.is_some() {
        return Ok(true);
    }
    let mut is_reached = true;
    for (wanted, figures) in &figures {
        println!("after {} runs: {figures}", wanted.trained_on);
        is_reached &= wanted.is_reached_by(figures);
    }
    Ok(is_reached)
}

impl Wanted {
    /// Prints a missed target.
    fn is_reached_by(&self, figures: &Figures) -> bool {
        let reached = figures.part_within(self.within);
        let is_reached = reached >= self.part;
        if !is_reached {
            eprintln!(
                "generated_settings: after {} runs {:.1} % of all are predicted to within {:.0} % of the total, {:.0} % are wanted",
                self.trained_on,
                reached * 100.0,
                self.within * 100.0,
                self.part * 100.0,
            );
        }
        is_reached
    }
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

fn write(folder: &Path, runs: &[SettingsRun]) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let mut all = Map::new();
    for SettingsRun { id, settings: Settings(settings), used } in runs {
        fs::write(folder.join(format!("{id}.csv")), csv(used)?)?;
        all.insert(id.clone(), json!(settings));
    }
    fs::write(folder.join("settings.json"), format!("{:#}\n", json!(all)))?;
    Ok(())
}

//! Writes generated runs for `elastane evaluate`:
//! `cargo run --release -p elastane-predict --example generated_runs -- DIR [SEEDS [FIRST]]`

mod csv;
mod generator;

use std::error::Error;
use std::fs;
use std::path::Path;

use csv::csv;
use generator::Application;

const SEEDS: u64 = 30;
const APPLICATIONS: u64 = 8;
const RUNS: usize = 6;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("the folder to write to is needed")?;
    let seeds = arguments.next().map_or(Ok(SEEDS), |seeds| seeds.parse())?;
    let first = arguments.next().map_or(Ok(1), |first| first.parse())?;
    for seed in first..first + seeds {
        for number in 1..=APPLICATIONS {
            let application = Path::new(&folder).join(format!("seed-{seed:02}-{number}"));
            fs::create_dir_all(&application)?;
            let runs = Application::new(seed, number).runs(RUNS)?;
            for (run, used) in (1..).zip(&runs) {
                fs::write(application.join(format!("run-{run}.csv")), csv(used)?)?;
            }
        }
    }
    Ok(())
}

//! The folder that `elastane-lab evaluate` reads.

use std::error::Error;
use std::fs;
use std::ops::Range;
use std::path::Path;

use super::csv::csv;
use super::generator::Application;

const APPLICATIONS: u64 = 8;
const RUNS: usize = 6;

/// Writes the runs of these seeds, eight applications of six runs each.
///
/// # Errors
/// A file cannot be written.
pub fn write(folder: &Path, seeds: Range<u64>) -> Result<(), Box<dyn Error>> {
    for seed in seeds {
        for number in 1..=APPLICATIONS {
            let application = folder.join(format!("seed-{seed:02}-{number}"));
            fs::create_dir_all(&application)?;
            let runs = Application::new(seed, number).runs(RUNS)?;
            for (run, used) in (1..).zip(&runs) {
                fs::write(application.join(format!("run-{run}.csv")), csv(used)?)?;
            }
        }
    }
    Ok(())
}

//! How long logs take to read: `cargo run --release -p elastane-eventlog --example read_log -- PATH…`

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use elastane_eventlog::{Found, ImportOptions, find, read};

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        for found in find(Path::new(&path))? {
            let Found::Log(log) = found else {
                continue;
            };
            let started = Instant::now();
            let imported = read(&log, &ImportOptions::default())?;
            let (elapsed, path) = (started.elapsed(), log.path.display());
            println!("{path}: {} tasks in {elapsed:?}", imported.tasks);
            println!("  {}, {:?}", imported.run.application_key, imported.memory);
            for series in &imported.run.series {
                println!("  {} containers, {} slots", series.containers, series.slots.len());
            }
        }
    }
    Ok(())
}

//! Writes generated runs for `elastane-lab evaluate`:
//! `cargo run --release -p elastane-lab --example generated_runs -- DIR [SEEDS [FIRST]]`

mod csv;
mod folder;
mod generator;

use std::error::Error;
use std::path::Path;

const SEEDS: u64 = 30;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("the folder to write to is needed")?;
    let seeds = arguments.next().map_or(Ok(SEEDS), |seeds| seeds.parse())?;
    let first = arguments.next().map_or(Ok(1), |first| first.parse())?;
    folder::write(Path::new(&folder), first..first + seeds)
}

//! Checks the predictions of generated runs against their targets:
//! `cargo bench -p elastane-lab --bench recurring_targets`.
//!
//! The generated runs of docs/measurements/prediction.md, seeds 31 to 60. Ends with exit code 1 if a resource
//! is covered too little, or wastes too much beside the constant peak or beside the window maximum.

#[path = "../examples/generated_runs/csv.rs"]
mod csv;
#[path = "../examples/generated_runs/folder.rs"]
mod folder;
#[path = "../examples/generated_runs/generator.rs"]
mod generator;
#[path = "../tests/common/wanted.rs"]
mod wanted;

use std::error::Error;
use std::fs;
use std::ops::Range;
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

/// Seeds on which no setting was chosen.
const SEEDS: Range<u64> = 31..61;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (runs, json) = (folder.path().join("runs"), folder.path().join("figures"));
    folder::write(&runs, SEEDS)?;
    let begin = Instant::now();
    let mut evaluate = Command::new(env!("CARGO_BIN_EXE_elastane-lab"));
    evaluate.arg("evaluate").arg(&runs).arg("--json").arg(&json);
    let output = evaluate.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let figures: Value = serde_json::from_slice(&fs::read(&json)?)?;
    let (predicted, took) = (&figures["predicted"], begin.elapsed());
    println!("{predicted} generated runs predicted and scored in {took:.1?}, at submission:");
    let mut missed = Vec::new();
    for (resource, most) in wanted::OF_PEAK {
        let (coverage, of_peak) =
            wanted::reached(&figures, resource).ok_or("no figures of this resource")?;
        println!(
            "{resource:<8} {:.1} % covered, {of_peak:.3} of the constant peak's waste, at most {most}",
            coverage * 100.0
        );
        if coverage < wanted::COVERAGE || of_peak > most {
            missed.push(resource.to_owned());
        }
    }
    println!("beside the 10 s window maximum with 10 % added:");
    for (resource, less_than) in wanted::OF_WINDOW_MAXIMUM {
        let (more, of_window) = wanted::beside_window_maximum(&figures, resource)
            .ok_or("no figures of this resource")?;
        println!(
            "{resource:<8} {:+.1} points covered, {of_window:.4} of its waste, less than {less_than}",
            more * 100.0
        );
        if more < 0.0 || of_window >= less_than {
            missed.push(format!("{resource} beside the window maximum"));
        }
    }
    if missed.is_empty() {
        return Ok(());
    }
    Err(format!("missed: {}", missed.join(", ")).into())
}

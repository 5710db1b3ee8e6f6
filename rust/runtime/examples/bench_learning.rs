//! What learning costs the ResourceManager.
//!
//! `cargo run --release -p elastane-runtime --example bench_learning` prints a line of figures and
//! ends with 1 when one is above its bound.
#![allow(clippy::print_stdout)]

#[path = "bench_learning/figure.rs"]
mod figure;
#[path = "../../predict/examples/generated_settings/generator.rs"]
mod generator;
#[path = "../../predict/examples/generated_runs/generator.rs"]
#[allow(dead_code, reason = "each example uses its own part")]
mod runs;
#[path = "bench_learning/training.rs"]
mod training;

use std::process::ExitCode;

use figure::{Outcome, at_best};

fn main() -> ExitCode {
    match bench() {
        Ok(is_within) => ExitCode::from(u8::from(!is_within)),
        Err(error) => {
            eprintln!("bench_learning: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every figure keeps to its bound.
fn bench() -> Outcome<bool> {
    let figures = at_best(training::figures)?;
    let line: Vec<String> = figures.iter().map(ToString::to_string).collect();
    println!("learning {}", line.join(" "));
    for figure in figures.iter().filter(|figure| !figure.is_within()) {
        eprintln!("bench_learning: {figure} is above {}", figure.most);
    }
    Ok(figures.iter().all(|figure| figure.is_within()))
}

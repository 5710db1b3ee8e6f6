//! The cost of learning in the ResourceManager.
//!
//! `cargo run --release -p elastane-runtime --example bench_learning` prints a line of figures. Training is
//! bounded as a ratio to a fixed computation (`bench_learning/reference.rs`). Exit code 1: a figure is above its
//! bound in each of three measurements.
#![allow(clippy::print_stdout)]

#[path = "bench_learning/figure.rs"]
mod figure;
#[path = "../../../lab/examples/generated_settings/generator.rs"]
mod generator;
#[path = "bench_learning/reference.rs"]
mod reference;
#[path = "../../../lab/examples/generated_runs/generator.rs"]
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
    for figure in &figures {
        if let Some(most) = figure.most.filter(|_| !figure.is_within()) {
            eprintln!("bench_learning: {figure} is above {most}");
        }
    }
    Ok(figures.iter().all(|figure| figure.is_within()))
}

//! The agent's cost on a node with 50 containers of two processes each, 10 of them JVMs, and a
//! NodeManager's exchange every 3 s. First no plan limits the containers, then each exchange brings new
//! limits for all of them.
//!
//! A reference thread reads the same processes' files beside the agent; CPU time is bounded as a ratio to the
//! reference's. `cargo run --release -p elastane-agent --example bench_agent` prints a line for each
//! measurement. Exit code 1: each of three measurements misses a bound.
#![allow(clippy::print_stdout)]

mod figures;
mod measure;
mod reference;
#[path = "../support/mod.rs"]
mod support;

use std::{env, process::ExitCode, thread};

use measure::{BETWEEN_EXCHANGES, measure};
use support::{Container, Heap, Outcome};

const CONTAINERS: u32 = 50;
const JVMS: u32 = 10;
/// Other programs can only make the agent later and dearer, so one measurement within all bounds is enough.
const MEASUREMENTS: u32 = 3;

fn main() -> ExitCode {
    if env::args().nth(1).as_deref() == Some("run") {
        return elastane_agent::main();
    }
    match bench() {
        Ok(is_within) => ExitCode::from(u8::from(!is_within)),
        Err(error) => {
            eprintln!("bench_agent: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether a measurement kept to all bounds; it is the last one.
fn bench() -> Outcome<bool> {
    let heap = Heap::compile()?;
    let containers: Vec<Container> = (1..=CONTAINERS)
        .map(|number| match number <= JVMS {
            true => Container::jvm(number, &heap),
            false => Container::shell(number),
        })
        .collect::<Outcome<_>>()?;
    // A starting JVM disturbs the measurement.
    thread::sleep(BETWEEN_EXCHANGES);
    for _ in 0..MEASUREMENTS {
        let figures = measure(&containers)?;
        println!("{figures}");
        let misses = figures.misses();
        if misses.is_empty() {
            return Ok(true);
        }
        for miss in &misses {
            eprintln!("bench_agent: {miss}");
        }
    }
    Ok(false)
}

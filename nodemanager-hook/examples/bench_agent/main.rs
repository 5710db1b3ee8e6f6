//! Measures the agent's cost on a node with 50 containers of two processes each, 10 of them JVMs, and
//! one exchange every 3 s: first without a plan, then with new limits for all containers in each
//! exchange.
//!
//! `cargo run --release -p elastane-agent --example bench_agent` prints one line per measurement. The
//! exit code is 1 if no measurement is within all bounds.
#![allow(clippy::print_stdout)]

mod figures;
mod measure;
#[path = "../support/mod.rs"]
mod support;

use std::{env, process::ExitCode, thread};

use measure::{BETWEEN_EXCHANGES, measure};
use support::{Container, Heap, Outcome};

const CONTAINERS: u32 = 50;
const JVMS: u32 = 10;
/// Other programs can only make the agent later and costlier, so one measurement within the bounds
/// suffices. Two more allow for neighbours that come and go within minutes.
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

/// Whether a measurement is within all bounds. Stops after one that reaches all aims.
fn bench() -> Outcome<bool> {
    let heap = Heap::compile()?;
    let containers: Vec<Container> = (1..=CONTAINERS)
        .map(|number| match number <= JVMS {
            true => Container::jvm(number, &heap),
            false => Container::shell(number),
        })
        .collect::<Outcome<_>>()?;
    // Skips the JVMs' startup.
    thread::sleep(BETWEEN_EXCHANGES);
    let mut is_within = false;
    for _ in 0..MEASUREMENTS {
        let figures = measure(&containers)?;
        println!("{figures}");
        let misses = figures.misses();
        for miss in &misses {
            eprintln!("bench_agent: {miss}");
        }
        is_within |= misses.iter().all(|miss| !miss.is_out_of_bounds());
        if misses.is_empty() {
            break;
        }
    }
    Ok(is_within)
}

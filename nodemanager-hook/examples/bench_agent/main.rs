//! The agent's cost on a node with 50 containers of two processes each, 10 of them JVMs, and a
//! NodeManager's exchange every 3 s. First no plan limits the containers, then each exchange brings new
//! limits for all of them. Then the same with 50 and with 200 containers of four processes each, which hold memory and
//! write to the disk: with their number the cost must not grow faster than it does.
//!
//! A reference thread reads the same processes' files beside the agent; CPU time is bounded as a ratio to the
//! reference's. `cargo run --release -p elastane-agent --example bench_agent` prints a line for each
//! measurement. Exit code 1: each of three measurements misses a bound.
#![allow(clippy::print_stdout)]

mod figures;
mod growth;
mod measure;
mod reference;
#[path = "../support/mod.rs"]
mod support;
mod work;

use std::{env, fmt::Display, path::Path, process::ExitCode, thread};

use figures::Miss;
use growth::Growth;
use measure::{BETWEEN_EXCHANGES, measure};
use support::{Container, Heap, Outcome};

const CONTAINERS: u32 = 50;
const JVMS: u32 = 10;
const MANY_CONTAINERS: u32 = 200;
/// Other programs can only make the agent later and dearer, so one measurement within all bounds is enough.
const MEASUREMENTS: u32 = 3;

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let done = match (arguments.next().as_deref(), arguments.next()) {
        (Some("run"), _) => return elastane_agent::main(),
        (Some(work::WORK), Some(folder)) => work::work(Path::new(&folder)).map(|()| true),
        _ => bench(),
    };
    match done {
        Ok(is_within) => ExitCode::from(u8::from(!is_within)),
        Err(error) => {
            eprintln!("bench_agent: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether a measurement of each kind kept to all bounds.
fn bench() -> Outcome<bool> {
    Ok(best_of(of_jvms)? && best_of(of_busy_containers)?)
}

/// Measures until all bounds are kept, and prints each measurement.
fn best_of<Measured: Display>(
    measured: impl Fn() -> Outcome<(Measured, Vec<Miss>)>,
) -> Outcome<bool> {
    for _ in 0..MEASUREMENTS {
        let (figures, misses) = measured()?;
        println!("{figures}");
        if misses.is_empty() {
            return Ok(true);
        }
        for miss in &misses {
            eprintln!("bench_agent: {miss}");
        }
    }
    Ok(false)
}

fn of_jvms() -> Outcome<(figures::Figures, Vec<Miss>)> {
    let heap = Heap::compile()?;
    let container = |number| match number <= JVMS {
        true => Container::jvm(number, &heap),
        false => Container::shell(number),
    };
    let figures = measure(&started(CONTAINERS, container)?)?;
    let misses = figures.misses();
    Ok((figures, misses))
}

fn of_busy_containers() -> Outcome<(Growth, Vec<Miss>)> {
    // Beside this program, since `/tmp` may be in memory.
    let program = env::current_exe()?;
    let folder = tempfile::tempdir_in(program.parent().unwrap_or(Path::new(".")))?;
    let command = work::command(&program, folder.path());
    let of = |count| measure(&started(count, |number| Container::of_three(number, &command))?);
    let growth = Growth { few: of(CONTAINERS)?, many: of(MANY_CONTAINERS)? };
    let misses = growth.misses();
    Ok((growth, misses))
}

fn started(count: u32, container: impl Fn(u32) -> Outcome<Container>) -> Outcome<Vec<Container>> {
    let containers = (1..=count).map(container).collect();
    // A starting program disturbs the measurement.
    thread::sleep(BETWEEN_EXCHANGES);
    containers
}

//! `elastane-replay`: an executor of the scale model. It does the work that a recorded series
//! describes, for real: it burns CPU, holds memory, reads and writes a file past the page cache,
//! and sends bytes. The amount of work is given, so contention makes it take longer.

mod cgroups;
mod cpu;
mod disk;
mod error;
mod memory;
mod network;
mod outcome;
mod pace;
mod series;

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::cpu::Cpu;
use crate::disk::Disk;
use crate::error::ReplayError;
use crate::memory::Memory;
use crate::network::Network;
use crate::pace::Workers;
use crate::series::Series;

/// Does the work of a recorded series: CPU, memory, disk and network.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "\
Examples:
  elastane-replay series.csv
  elastane-replay series.csv --stretch 1.05 --scratch data.bin --write-share 0.3 --outcome runs.jsonl --name executor-7

Exit codes: 0 the work is done, 1 it failed, 2 bad arguments. One slot of the series takes at least its
time; work that was not done by then delays the next slot."
)]
struct Arguments {
    /// CSV: t_s,cpu_cores,memory_bytes,network_bytes_per_s,disk_bytes_per_s; a row holds until the next one
    series: PathBuf,
    /// Length of every slot, as a multiple of the recorded one; the rates stay
    #[arg(long, default_value_t = 1.0)]
    stretch: f64,
    /// File to read from and write to, past the page cache; needed if the series uses the disk
    #[arg(long)]
    scratch: Option<PathBuf>,
    /// The part of the disk's bytes that is written
    #[arg(long, default_value_t = 0.0)]
    write_share: f64,
    /// TCP address that discards what is sent there; without it nothing is sent
    #[arg(long)]
    sink: Option<SocketAddr>,
    /// Local address to send from, which chooses the link
    #[arg(long, requires = "sink")]
    from: Option<IpAddr>,
    /// Control groups (version 1) to enter, unless this process is already in or below them
    #[arg(long = "group")]
    groups: Vec<PathBuf>,
    /// File to which one line of JSON is appended at the end
    #[arg(long, requires = "name")]
    outcome: Option<PathBuf>,
    /// Name of this executor in the outcome
    #[arg(long)]
    name: Option<String>,
}

fn main() -> ExitCode {
    match replay(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("elastane-replay: {error}");
            ExitCode::FAILURE
        }
    }
}

fn replay(arguments: &Arguments) -> Result<(), ReplayError> {
    for group in &arguments.groups {
        cgroups::enter(group)?;
    }
    let series = Series::read(&arguments.series)?.stretched(arguments.stretch)?;
    let mut workers = Workers {
        cpu: Cpu::new(),
        memory: Memory::new()?,
        disk: arguments
            .scratch
            .as_deref()
            .map(|file| Disk::open(file, arguments.write_share))
            .transpose()?,
        network: arguments.sink.map(|sink| Network::connect(sink, arguments.from)).transpose()?,
    };
    let outcome = pace::work_off(&series, &mut workers)?;
    if let (Some(file), Some(name)) = (&arguments.outcome, &arguments.name) {
        outcome.append(file, name)?;
    }
    Ok(())
}

//! How much native memory the core of a ResourceManager takes, fed as the ResourceManager feeds it, and whether that grows.
//!
//! `cargo run --release -p elastane-runtime --example bench_memory -- [nodes 10000] [containers 100000]
//! [profiles 10000] [seconds of a known run 300] [minutes of churn 60] [new names a day 2000]`
//!
//! Prints a line of figures: after the time in which every application has ended once, after an hour in which
//! applications end and start, and after a week of names that never come again. Exit code 1: a figure is above its bound.
#![allow(clippy::print_stdout)]

#[path = "bench_memory/agents.rs"]
mod agents;
#[path = "bench_memory/learned.rs"]
mod learned;
#[path = "bench_memory/scene.rs"]
mod scene;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use scene::{LIFE_ROUNDS, ROUND_MS, Scene};

/// For 10,000 nodes, 100,000 containers and 10,000 profiles.
const MOST_MB: f64 = 250.0;
/// An allocator that has given nothing back is no growth.
const SAME: f64 = 1.1;
const DAYS: usize = 7;

/// As in `libelastane.so`.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

type Outcome<T> = Result<T, Box<dyn Error>>;

struct Sizes {
    nodes: usize,
    containers: usize,
    profiles: usize,
    seconds: usize,
    churn_minutes: i64,
    names_a_day: usize,
}

fn main() -> ExitCode {
    match bench() {
        Ok(is_within) => ExitCode::from(u8::from(!is_within)),
        Err(error) => {
            eprintln!("bench_memory: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every figure keeps to its bound.
fn bench() -> Outcome<bool> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, path, profiles, seconds] = &arguments[..]
        && word == learned::WORD
    {
        learned::make(Path::new(path), profiles.parse()?, seconds.parse()?)?;
        return Ok(true);
    }
    let number =
        |at: usize, otherwise: usize| arguments.get(at).map_or(Ok(otherwise), |it| it.parse());
    let sizes = Sizes {
        nodes: number(0, 10_000)?,
        containers: number(1, 100_000)?,
        profiles: number(2, 10_000)?,
        seconds: number(3, 300)?,
        churn_minutes: i64::try_from(number(4, 60)?)?,
        names_a_day: number(5, 2_000)?,
    };
    if sizes.nodes == 0 || sizes.profiles == 0 {
        return Err("nodes and profiles have to be at least 1".into());
    }
    let folder = tempfile::tempdir()?;
    learned::make_elsewhere(folder.path(), sizes.profiles, sizes.seconds)?;
    measure(&sizes, folder.path())
}

fn measure(sizes: &Sizes, folder: &Path) -> Outcome<bool> {
    let Sizes { nodes, containers, profiles, .. } = *sizes;
    let baseline_mb = resident_mb()?;
    let more_mb = || Ok::<f64, Box<dyn Error>>(resident_mb()? - baseline_mb);
    let mut scene = Scene::open(folder, profiles)?;
    let profiles_mb = more_mb()?;
    scene.fill(nodes, containers)?;
    let filled_mb = more_mb()?;
    scene.pass(LIFE_ROUNDS)?;
    let native_mb = more_mb()?;
    scene.pass(usize::try_from(sizes.churn_minutes * 60_000 / ROUND_MS)?)?;
    let after_churn_mb = more_mb()?;
    for _ in 0..DAYS {
        scene.day_of_new_names(sizes.names_a_day)?;
    }
    let after_week_mb = more_mb()?;
    println!(
        "memory nodes={nodes} containers={containers} profiles={profiles} profiles_mb={profiles_mb:.0} \
         filled_mb={filled_mb:.0} native_mb={native_mb:.0} after_churn_mb={after_churn_mb:.0} after_week_mb={after_week_mb:.0}"
    );
    scene.close();
    // New names have profiles, until there are 20,000 profiles.
    let most_after_week_mb = after_churn_mb * SAME + profiles_mb;
    let bounds = [
        ("native_mb", native_mb, MOST_MB),
        ("after_churn_mb", after_churn_mb, MOST_MB.min(native_mb * SAME)),
        ("after_week_mb", after_week_mb, MOST_MB.min(most_after_week_mb)),
    ];
    let mut broken = bounds.iter().filter(|(_, figure, most)| figure > most).peekable();
    let is_within = broken.peek().is_none();
    for (name, figure, most) in broken {
        eprintln!("bench_memory: {name}={figure:.0} is above {most:.0}");
    }
    Ok(is_within)
}

/// What this process holds in memory.
fn resident_mb() -> Outcome<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib: Option<f64> = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    Ok(kib.ok_or("no VmRSS in /proc/self/status")? * 1.024e-3)
}

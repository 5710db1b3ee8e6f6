//! How large the depository of many applications is, how long it takes to open, how much memory
//! their profiles are, and what a submission of one of them costs.
//!
//! `cargo run --release -p elastane-runtime --example many_profiles -- 10000 300 [--at-most-mb 200]`: so many
//! applications, with three runs of so many seconds each. Ends with exit code 1 where the profiles are more
//! than that in memory.

#[path = "../../store/tests/common/phased.rs"]
mod phased;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::time::{Duration, Instant};

use elastane_predict::{Outcome, Run, Submission};
use elastane_runtime::{Elastane, RuntimeSettings};
use elastane_store::Depository;
use phased::phased_series;
use serde_json::Value;

const PREFIX: &str = "yarn.scheduler.elastane.";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let at_most_mb = taken(&mut arguments, "--at-most-mb")?;
    let number =
        |at: usize, otherwise: u64| arguments.get(at).map_or(Ok(otherwise), |it| it.parse());
    let applications: u64 = number(0, 10_000)?;
    let seconds = number(1, 300)? as usize;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("depository.sqlite");
    let mut depository = Depository::open(&path)?.depository;
    let begin = Instant::now();
    for application in 0..applications {
        for number in 0..3 {
            depository.save(&run(application, number, seconds / 3))?;
        }
    }
    let saved = begin.elapsed();
    let begin = Instant::now();
    let snapshot = folder.path().join("snapshot.sqlite");
    depository.snapshot(&snapshot)?;
    let snapshot_took = begin.elapsed();
    drop(depository);
    let file_mb = fs::metadata(&path)?.len() as f64 / 1e6;

    let configuration =
        BTreeMap::from([(format!("{PREFIX}depository.file"), path.display().to_string())]);
    let before_mb = resident_mb()?;
    let begin = Instant::now();
    let elastane = Elastane::open(RuntimeSettings::from_configuration(&configuration, true)?)?;
    let opened = begin.elapsed();
    while profiles(&elastane)? < applications {
        std::thread::sleep(Duration::from_millis(100));
    }
    let made = begin.elapsed();
    let memory_mb = resident_mb()? - before_mb;
    println!("{applications} applications, 3 runs of {seconds} s, 2 kinds of containers");
    println!("saved in {saved:.1?}, a file of {file_mb:.0} MB, a snapshot in {snapshot_took:.1?}");
    println!("opened in {opened:.1?}, every profile made after {made:.1?}");
    println!("{memory_mb:.0} MB more in memory");
    let [first, again] = [0, 1].map(|round| submit(&elastane, round));
    println!("a submission took {first:.1?}, of an application that is there already {again:.1?}");
    elastane.close();
    match at_most_mb {
        Some(most) if memory_mb > most => Err(format!("{most} MB at most are allowed").into()),
        _ => Ok(()),
    }
}

/// The number behind an option, which is taken out with it.
fn taken(arguments: &mut Vec<String>, option: &str) -> Result<Option<f64>, Box<dyn Error>> {
    let Some(at) = arguments.iter().position(|it| it == option) else {
        return Ok(None);
    };
    arguments.remove(at);
    if at == arguments.len() {
        return Err(format!("{option}: a number is needed").into());
    }
    Ok(Some(arguments.remove(at).parse()?))
}

fn profiles(elastane: &Elastane) -> Result<u64, Box<dyn Error>> {
    let status: Value = serde_json::from_str(&elastane.status(0))?;
    Ok(status["profiles"].as_u64().ok_or("no profiles in the status")?)
}

/// The median of so many submissions of different applications.
fn submit(elastane: &Elastane, round: u64) -> Duration {
    const SUBMITTED: u64 = 51;
    let submission = |application| Submission {
        id: format!("application_9{round}_{application:06}"),
        name: String::new(),
        user: String::new(),
        queue: "root.etl".to_owned(),
        application_type: "SPARK".to_owned(),
        tags: vec![format!("elastane.profile=job-{application}")],
        ..Submission::default()
    };
    let mut took: Vec<Duration> = (0..SUBMITTED)
        .map(|application| {
            let submission = submission(application);
            let begin = Instant::now();
            elastane.application_added(&submission, 1_800_000_000_000);
            begin.elapsed()
        })
        .collect();
    took.sort_unstable();
    took[took.len() / 2]
}

fn run(application: u64, number: u64, slots: usize) -> Run {
    let started_ms = 1_700_000_000_000 + (number * 86_400 + application) as i64 * 1_000;
    Run {
        application_key: format!("tag||job-{application}"),
        application_id: format!("application_{number}_{application:06}"),
        application_name: format!("Job {application} of day {number}"),
        started_ms,
        ended_ms: started_ms + slots as i64 * 3_000,
        outcome: Outcome::Succeeded,
        series: phased_series(application * 3 + number + 1, slots),
    }
}

/// What this process holds in memory.
fn resident_mb() -> Result<f64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kb: Option<f64> = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    Ok(kb.ok_or("no VmRSS in /proc/self/status")? / 1e3)
}

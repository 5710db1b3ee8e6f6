//! A depository of applications that ran three times each.

#[path = "../../../store/tests/common/phased.rs"]
mod phased;

use std::path::{Path, PathBuf};
use std::process::Command;

use elastane_predict::{Outcome as Ended, Run};
use elastane_store::Depository;

use crate::Outcome;
use phased::phased_series;

/// The first argument of the process that makes the depository.
pub const WORD: &str = "learn";
/// Runs are newer than this, and older than [`crate::scene::BEGIN_MS`].
const FIRST_MS: i64 = 1_799_000_000_000;

pub fn file(folder: &Path) -> PathBuf {
    folder.join("depository.sqlite")
}

/// In another process: memory that this one had given back to its allocator would hide what the core takes.
pub fn make_elsewhere(folder: &Path, profiles: usize, seconds: usize) -> Outcome<()> {
    let mut other = Command::new(std::env::current_exe()?);
    other.arg(WORD).arg(file(folder)).args([profiles.to_string(), seconds.to_string()]);
    let ended = other.status()?;
    if ended.success() { Ok(()) } else { Err(format!("no depository was made: {ended}").into()) }
}

pub fn make(path: &Path, profiles: usize, seconds: usize) -> Outcome<()> {
    let mut depository = Depository::open(path)?.depository;
    for profile in 0..profiles as u64 {
        for number in 0..3 {
            depository.save(&run(profile, number, seconds / 3))?;
        }
    }
    Ok(())
}

fn run(profile: u64, number: u64, slots: usize) -> Run {
    let started_ms = FIRST_MS + (number * 86_400 + profile) as i64 * 1_000;
    Run {
        application_key: format!("tag||job-{profile}"),
        application_id: format!("application_{number}_{profile:06}"),
        application_name: format!("Job {profile} of day {number}"),
        started_ms,
        ended_ms: started_ms + slots as i64 * 3_000,
        outcome: Ended::Succeeded,
        series: phased_series(profile * 3 + number + 1, slots),
    }
}

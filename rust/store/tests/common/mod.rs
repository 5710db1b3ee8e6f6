//! Runs to save.
#![allow(dead_code, reason = "each test file uses its own part")]

pub mod records;

use elastane_core::Resources;
use elastane_runs::{ContainerKind, Outcome, Run, RunSeries};
use elastane_store::{Depository, Pruned, Pruning, Retention, StoreError};

/// Removes everything that [`Pruning`] removes.
pub fn prune(
    depository: &mut Depository,
    retention: &Retention,
    now_ms: i64,
) -> Result<Pruned, StoreError> {
    let mut pruning = Pruning::new(*retention, now_ms);
    loop {
        if let Some(pruned) = pruning.step(depository)? {
            return Ok(pruned);
        }
    }
}

pub fn run(key: &str, number: i64) -> Run {
    run_with(key, number, Outcome::Succeeded)
}

pub fn run_with(key: &str, number: i64, outcome: Outcome) -> Run {
    let slot = Resources::from_array([0.5, 1_000_000.0, 250.0, number as f64]);
    let series = |kind, containers, length| RunSeries {
        stage_ends_ms: Vec::new(),
        kind,
        containers,
        slots: vec![slot; length],
    };
    Run {
        application_key: key.into(),
        application_id: format!("application_1_{number:06}"),
        application_name: format!("{key} {number}"),
        started_ms: number * 1_000,
        ended_ms: number * 1_000 + 500,
        outcome,
        series: vec![
            series(ContainerKind::ApplicationMaster, 1, 3),
            series(ContainerKind::DEFAULT_EXECUTOR, 4, 20),
        ],
    }
}

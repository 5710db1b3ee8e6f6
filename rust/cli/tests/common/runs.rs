//! Runs of an application, and depositories of them.

use std::path::Path;

use elastane_core::Resources;
use elastane_predict::{ContainerKind, Outcome, Run, RunSeries};
use elastane_store::Depository;
use tempfile::TempDir;

/// The key of the runs in tests.
pub const SALES: &str = "app|SPARK|alice|root.etl|Nightly sales #|sales.py|--day #";

/// A run of one hour's start whose executors' CPU rises from slot to slot.
pub fn run(key: &str, number: i64, outcome: Outcome) -> Run {
    let slot = |slot: i32| {
        Resources::from_array([
            0.1 * f64::from(slot + 1),
            350.0 * 1_048_576.0,
            0.0,
            20e6 * f64::from(slot % 3),
        ])
    };
    let series = |kind, containers, length| RunSeries {
        stage_ends_ms: Vec::new(),
        kind,
        containers,
        slots: (0..length).map(slot).collect(),
    };
    Run {
        application_key: key.into(),
        application_id: format!("application_1763736000000_{number:04}"),
        application_name: format!("Nightly sales {number}"),
        started_ms: 1_763_736_000_000 + number * 60_000,
        ended_ms: 1_763_736_030_000 + number * 60_000,
        outcome,
        series: vec![
            series(ContainerKind::ApplicationMaster, 1, 4),
            series(ContainerKind::DEFAULT_EXECUTOR, 2, 10),
        ],
    }
}

/// A run with executors of 350 MiB at priority 0 and of 6 GiB at priority 2.
pub fn run_of_two_kinds(number: i64) -> Run {
    let mut run = run(SALES, number, Outcome::Succeeded);
    let slot = Resources::from_array([2.0, 6.0 * 1_073_741_824.0, 0.0, 1e6]);
    run.series.push(RunSeries {
        stage_ends_ms: vec![5_000, 9_000],
        kind: ContainerKind::Executor { priority: 2 },
        containers: 1,
        slots: vec![slot; 6],
    });
    run
}

pub fn depository(path: &Path, runs: &[Run]) {
    let mut depository = Depository::open(path).unwrap().depository;
    for run in runs {
        depository.save(run).unwrap();
    }
}

/// A depository of three runs of one application, and of a failed one of another.
pub fn three_runs() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    let runs = [
        run(SALES, 1, Outcome::Succeeded),
        run(SALES, 2, Outcome::Succeeded),
        run(SALES, 3, Outcome::Failed),
        run("tag|stock", 9, Outcome::Failed),
    ];
    depository(&path, &runs);
    let path = path.to_str().unwrap().to_owned();
    (folder, path)
}

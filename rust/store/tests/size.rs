//! How much room a run takes, as `docs/depository.md` says.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "common/phased.rs"]
mod phased;

use elastane_predict::{PastRun, RecurringSettings, predict_next};
use elastane_runs::{Outcome, Run, SignaturePart, kinds};
use elastane_store::{Depository, PredictionRecord, SubmissionRecord};
use phased::phased_series;

const APPLICATIONS: u64 = 12;
/// The first three of an application are what the others are predicted from.
const RUNS: u64 = 8;
/// Five minutes.
const SLOTS: usize = 100;

fn run(application: u64, number: u64) -> Run {
    let started_ms = 1_700_000_000_000 + (number * 86_400 + application) as i64 * 1_000;
    Run {
        application_key: format!("app|SPARK|alice|root.etl|Job {application} #|job.py|--day #"),
        application_id: format!("application_1700000000000_{:06}", application * RUNS + number),
        application_name: format!("Job {application} of day {number}"),
        started_ms,
        ended_ms: started_ms + SLOTS as i64 * 3_000,
        outcome: Outcome::Succeeded,
        series: phased_series(application * RUNS + number + 1, SLOTS),
    }
}

fn submission(run: &Run) -> SubmissionRecord {
    let parts = run.application_key.split('|').skip(1);
    SubmissionRecord {
        application_id: run.application_id.clone(),
        application_key: run.application_key.clone(),
        application_name: run.application_name.clone(),
        submitted_ms: run.started_ms,
        signature: parts
            .map(|part| SignaturePart {
                part: "part".into(),
                submitted: Some(part.into()),
                in_key: part.into(),
            })
            .collect(),
        settings: [("--day".to_owned(), 5.0), ("executors".to_owned(), 8.0)].into(),
    }
}

fn predictions(run: &Run, earlier: &[Run]) -> Vec<PredictionRecord> {
    let settings = RecurringSettings { runs: 3, least_confidence: 0.0 };
    let outlooks = kinds(earlier).into_iter().map(|kind| {
        let past = earlier.iter().filter_map(|run| PastRun::of(run, kind).unwrap());
        (kind, predict_next(&past.collect::<Vec<_>>(), &settings))
    });
    let predictions = outlooks.map(|(kind, outlook)| PredictionRecord {
        application_id: run.application_id.clone(),
        application_key: run.application_key.clone(),
        kind,
        made_ms: run.started_ms,
        made: outlook.made(),
        bound: outlook.prediction.ok().map(|it| it.demand_to_keep()),
        outcome: None,
    });
    predictions.collect()
}

/// In bytes: of a run alone, and of one with its submission and its predictions.
fn measured() -> [u64; 2] {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("depository.db");
    let mut depository = Depository::open(&path).unwrap().depository;
    let empty = depository.used_bytes().unwrap();
    let mut runs: Vec<Vec<Run>> = Vec::new();
    for application in 0..APPLICATIONS {
        runs.push((0..RUNS).map(|number| run(application, number)).collect());
    }
    for run in runs.iter().flatten() {
        depository.save(run).unwrap();
    }
    let alone = depository.used_bytes().unwrap();
    for runs in &runs {
        for (number, run) in runs.iter().enumerate().skip(3) {
            let newest_first: Vec<Run> = runs[..number].iter().rev().cloned().collect();
            depository.save_submission(&submission(run)).unwrap();
            let predictions = predictions(run, &newest_first);
            assert_eq!(predictions.len(), 2);
            for prediction in predictions {
                assert!(prediction.bound.is_some());
                depository.save_prediction(&prediction).unwrap();
            }
        }
    }
    let used = depository.used_bytes().unwrap();
    let run = (alone - empty) / (APPLICATIONS * RUNS);
    let belongings = (used - alone) / (APPLICATIONS * (RUNS - 3));
    [run, run + belongings]
}

#[test]
fn a_run_of_five_minutes_takes_as_much_as_is_written_down() {
    let [run, predicted] = measured();
    assert!((2_800..3_200).contains(&run), "{run} bytes");
    assert!((6_200..6_800).contains(&predicted), "{predicted} bytes");
}

//! Runs of one application with other settings, in the depository before it is opened.

use std::collections::BTreeMap;
use std::path::Path;

use elastane_core::Resources;
use elastane_predict::{ContainerKind, Outcome, Run, RunSeries, Submission, signature};
use elastane_store::{Depository, SubmissionRecord};

use super::named_submission;

pub fn submission_of_rounds(number: usize, rounds: usize) -> Submission {
    Submission {
        commands: vec![format!("/bin/java count.Main --rounds {rounds} 1> out")],
        ..named_submission(&format!("application_1_{number:04}"), "count")
    }
}

/// Of the run of this number that [`record_rounds`] saves.
pub fn rounds_of(number: usize) -> usize {
    10 + number * 7 % 31
}

/// Saves so many runs with other settings each, which an earlier process recorded and learned nothing
/// from; returns their key.
pub fn record_rounds(path: &Path, runs: usize) -> String {
    let mut depository = Depository::open(path).unwrap().depository;
    let key = signature(&submission_of_rounds(0, 10));
    for number in 0..runs {
        let rounds = rounds_of(number);
        let Submission { id, name, .. } = submission_of_rounds(number, rounds);
        let slot = |at: usize| {
            let cores = 1.0 + (at % 2) as f64 + (number as f64).sin() / 20.0;
            Resources::from_array([cores, 1e9, 0.0, 0.0])
        };
        let run = Run {
            application_key: key.clone(),
            application_id: id.clone(),
            application_name: name.clone(),
            started_ms: number as i64,
            ended_ms: number as i64 + 1,
            outcome: Outcome::Succeeded,
            series: vec![RunSeries {
                stage_ends_ms: Vec::new(),
                kind: ContainerKind::DEFAULT_EXECUTOR,
                containers: 1,
                slots: (0..rounds).map(slot).collect(),
            }],
        };
        depository.save(&run).unwrap();
        let submission = SubmissionRecord {
            application_id: id,
            application_key: key.clone(),
            application_name: name,
            submitted_ms: number as i64,
            signature: Vec::new(),
            settings: BTreeMap::from([("--rounds".to_owned(), rounds as f64)]),
        };
        depository.save_submission(&submission).unwrap();
    }
    key
}

//! Runs that could not be saved wait, with their submissions and predictions.

use std::collections::VecDeque;

use elastane_runs::{Run, SubmissionRecord};

use crate::depository::Depository;
use crate::error::StoreError;
use crate::prediction::PredictionRecord;

/// A run, with the records that are saved in the same transaction.
#[derive(Debug, Clone, PartialEq)]
pub struct Unsaved {
    /// The run.
    pub run: Run,
    /// Its submission.
    pub submission: Option<SubmissionRecord>,
    /// Its predictions.
    pub predictions: Vec<PredictionRecord>,
}

impl From<Run> for Unsaved {
    fn from(run: Run) -> Self {
        Self { run, submission: None, predictions: Vec::new() }
    }
}

/// Runs for a depository that may be locked or damaged, or whose disk may be full.
#[derive(Debug)]
pub struct SaveQueue {
    waiting: VecDeque<Unsaved>,
    most: usize,
}

/// The result of saving.
#[derive(Debug, Default)]
pub struct Saved {
    /// Runs that are saved now, oldest first.
    pub saved: Vec<Run>,
    /// Why other runs wait.
    pub waits_for: Option<StoreError>,
    /// Runs that are given up: they cannot be encoded, or too many wait.
    pub lost: Vec<(Run, StoreError)>,
}

impl SaveQueue {
    /// A queue for this number of runs.
    pub fn new(most: usize) -> Self {
        Self { waiting: VecDeque::new(), most }
    }

    /// Adds a run to those that wait.
    pub fn add(&mut self, run: impl Into<Unsaved>) {
        self.waiting.push_back(run.into());
    }

    /// Saves the runs that wait. Where that fails, they wait for the next call.
    pub fn save(&mut self, depository: &mut Depository) -> Saved {
        let mut done = Saved::default();
        while let Some(unsaved) = self.waiting.pop_front() {
            let (run, submission) = (&unsaved.run, unsaved.submission.as_ref());
            match depository.save_with(run, submission, &unsaved.predictions) {
                Ok(()) => done.saved.push(unsaved.run),
                Err(error) if !error.may_pass() || self.waiting.len() >= self.most => {
                    done.lost.push((unsaved.run, error));
                }
                Err(error) => {
                    self.waiting.push_front(unsaved);
                    done.waits_for = Some(error);
                    break;
                }
            }
        }
        done
    }

    /// The number of runs that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::StoreErrorKind;
    use crate::open::connect;
    use elastane_core::Resources;
    use elastane_runs::{ContainerKind, Outcome, PredictionMade, RunSeries};
    use rusqlite::OpenFlags;

    fn run(number: usize) -> Run {
        // No two are alike, so that they do not compress.
        let amount = |slot: usize| ((slot * 31 + number) as f64 * 12.9898).sin().abs();
        Run {
            application_key: "sales".into(),
            application_id: format!("application_1_{number:04}"),
            application_name: "Sales".into(),
            started_ms: 0,
            ended_ms: number as i64,
            outcome: Outcome::Succeeded,
            series: vec![RunSeries {
                stage_ends_ms: Vec::new(),
                kind: ContainerKind::DEFAULT_EXECUTOR,
                containers: 1,
                slots: (0..2_000)
                    .map(|slot| Resources::from_array([amount(slot), 1.0, 2.0, amount(slot)]))
                    .collect(),
            }],
        }
    }

    fn room(depository: &Depository, pages: i64) {
        let pragma = format!("PRAGMA max_page_count = {pages}");
        depository.connection.query_row(&pragma, [], |_| Ok(())).unwrap();
    }

    fn save(queue: &mut SaveQueue, depository: &mut Depository, run: impl Into<Unsaved>) -> Saved {
        queue.add(run);
        queue.save(depository)
    }

    fn fresh() -> (tempfile::TempDir, Depository) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("depository.db");
        let depository = Depository::open(&path).unwrap().depository;
        (folder, depository)
    }

    #[test]
    fn runs_wait_for_room_and_are_saved_in_their_order() {
        let (_folder, mut depository) = fresh();
        room(&depository, 1);
        let mut queue = SaveQueue::new(10);
        for number in 1..=3 {
            let done = save(&mut queue, &mut depository, run(number));
            assert!(done.saved.is_empty() && done.lost.is_empty());
            let error = done.waits_for.unwrap();
            assert!(matches!(error.kind, StoreErrorKind::Full(_)), "{error}");
            let text = error.to_string();
            assert!(
                text.ends_with("cannot save run application_1_0001 of sales, the disk is full"),
                "{text}"
            );
        }
        assert_eq!(queue.waiting(), 3);
        room(&depository, 1_000_000);
        let done = save(&mut queue, &mut depository, run(4));
        assert_eq!(done.saved, [run(1), run(2), run(3), run(4)]);
        assert_eq!(depository.latest_runs("sales", 9).unwrap().len(), 4);
    }

    #[test]
    fn what_a_run_was_given_waits_with_it() {
        let (_folder, mut depository) = fresh();
        room(&depository, 1);
        let submission = SubmissionRecord {
            application_id: run(1).application_id,
            application_key: "sales".into(),
            application_name: "Sales".into(),
            submitted_ms: 0,
            signature: Vec::new(),
            settings: [("day".to_owned(), 5.0)].into(),
        };
        let prediction = PredictionRecord {
            application_id: run(1).application_id,
            application_key: "sales".into(),
            kind: ContainerKind::DEFAULT_EXECUTOR,
            made_ms: 0,
            made: PredictionMade::default(),
            bound: None,
            outcome: None,
        };
        let unsaved = Unsaved {
            run: run(1),
            submission: Some(submission.clone()),
            predictions: vec![prediction.clone()],
        };
        let mut queue = SaveQueue::new(10);
        assert!(save(&mut queue, &mut depository, unsaved).waits_for.is_some());
        let id = run(1).application_id;
        let alone = depository.submission(&id).unwrap();
        assert_eq!(alone, None, "there was room for it, but not for the run");
        room(&depository, 1_000_000);
        assert_eq!(queue.save(&mut depository).saved, [run(1)]);
        assert_eq!(depository.submission(&id).unwrap(), Some(submission));
        assert_eq!(depository.predictions_of_run(&id).unwrap(), [prediction]);
    }

    #[test]
    fn no_more_wait_than_there_may_and_the_oldest_is_lost() {
        let (_folder, mut depository) = fresh();
        room(&depository, 1);
        let mut queue = SaveQueue::new(2);
        save(&mut queue, &mut depository, run(1));
        save(&mut queue, &mut depository, run(2));
        let done = save(&mut queue, &mut depository, run(3));
        assert_eq!(done.lost[0].0.application_id, "application_1_0001");
        assert_eq!(queue.waiting(), 2);
    }

    #[test]
    fn a_run_that_cannot_be_kept_holds_up_no_other() {
        let (_folder, mut depository) = fresh();
        let mut bad = run(1);
        bad.series[0].slots[3].cpu_cores = f64::NAN;
        let mut queue = SaveQueue::new(2);
        let done = save(&mut queue, &mut depository, bad);
        assert_eq!((done.lost.len(), queue.waiting()), (1, 0));
        assert_eq!(save(&mut queue, &mut depository, run(2)).saved.len(), 1);
    }

    #[test]
    fn a_file_damaged_while_it_is_open_makes_room_for_a_new_one() {
        let (_folder, mut depository) = fresh();
        for number in 0..50 {
            depository.save(&run(number)).unwrap();
        }
        let path = depository.path().to_owned();
        drop(depository);
        // A connection that has no page in its cache.
        let connection = connect(&path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
        let mut depository = Depository::new(connection, &path);
        let length = std::fs::metadata(&path).unwrap().len() as usize;
        let damage = std::fs::OpenOptions::new().write(true).open(&path);
        std::io::Write::write_all(&mut damage.unwrap(), &vec![0xAB; length]).unwrap();
        let mut queue = SaveQueue::new(9);
        let done = save(&mut queue, &mut depository, run(99));
        assert!(done.waits_for.is_some_and(|error| error.is_damage()));
        let aside = depository.reopen().unwrap().unwrap();
        assert!(aside.ends_with("depository.db.damaged-1"));
        assert_eq!(queue.save(&mut depository).saved.len(), 1);
        assert_eq!(depository.latest_runs("sales", 9).unwrap().len(), 1);
    }
}

//! Checkpoints of runs that have not ended: their samples survive a crash of the process.
//!
//! Samples are appended in batches and replayed when the file is opened again. The state of the run's
//! recorder replaces them once they are many, so a long run stays small.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use elastane_runs::{ContainerKind, ContainerSample, OpenRun, Outcome, RunEvent, RunRecorder};
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use crate::codes::{outcome_code, outcome_of};
use crate::compression::{compress, decompress};
use crate::depository::Depository;
use crate::error::{StatementError, StoreError};

/// This number of batches is replaced by the recorder: five minutes at one in 3 s.
const MOST_BATCHES: i64 = 100;

/// Runs that began together have many batches at the same time; the next call goes on.
const SHORTEN_FOR: Duration = Duration::from_millis(250);

/// A batch or a recorder is smaller; a recorder of 24 h and 10,000 containers is 4 MB.
const MOST_BYTES: usize = 256 * 1024 * 1024;

/// A batch has the samples and the ends of stages of one run, in the order of their arrival.
#[derive(Serialize, Deserialize)]
enum BatchEntry {
    Sampled { container: Arc<str>, kind: ContainerKind, sample: ContainerSample },
    StagesEnded { container: Arc<str>, stages: u32, since_start_ms: i64 },
}

impl BatchEntry {
    /// What of an event goes into a batch, and of which application.
    fn of(event: &RunEvent) -> Option<(&str, Self)> {
        match event {
            RunEvent::Sampled { application_id, container, kind, sample } => {
                let container = Arc::clone(container);
                Some((application_id, Self::Sampled { container, kind: *kind, sample: *sample }))
            }
            RunEvent::StagesEnded { application_id, container, stages, since_start_ms } => {
                let (container, stages) = (Arc::clone(container), *stages);
                let since_start_ms = *since_start_ms;
                Some((application_id, Self::StagesEnded { container, stages, since_start_ms }))
            }
            _ => None,
        }
    }

    fn add_to(self, recorder: &mut RunRecorder) {
        match self {
            Self::Sampled { container, kind, sample } => recorder.add(container, kind, sample),
            Self::StagesEnded { container, stages, since_start_ms } => {
                recorder.stages_ended(&container, stages, since_start_ms);
            }
        }
    }
}

impl Depository {
    /// Saves the events in one transaction. Events of a run that was saved or dropped meanwhile are
    /// ignored.
    ///
    /// # Errors
    /// As [`Depository::save`].
    pub fn checkpoint(&mut self, events: &[RunEvent], now_ms: i64) -> Result<(), StoreError> {
        self.change("save records of running applications", |change| {
            for event in events {
                note(change, event)?;
            }
            for (id, batch) in batches(events) {
                append(change, id, &pack(&batch)?, now_ms)?;
            }
            Ok(())
        })
    }

    /// Every run that has not been saved, in the order of their ids, and the errors of those that
    /// cannot be read: they are dropped.
    ///
    /// # Errors
    /// SQLite's.
    pub fn open_runs(&mut self) -> Result<(Vec<OpenRun>, Vec<StoreError>), StoreError> {
        let statement = "SELECT application_id FROM open_run ORDER BY application_id";
        let ids: Vec<String> =
            self.rows("list the open runs", statement, [], |row| Ok(row.get(0)?))?;
        let (mut runs, mut unreadable) = (Vec::new(), Vec::new());
        for application_id in ids {
            match self.open_run(&application_id) {
                Ok(run) => runs.extend(run),
                Err(error) if error.may_pass() => return Err(error),
                Err(error) => {
                    unreadable.push(error);
                    self.checkpoint(&[RunEvent::Dropped { application_id }], 0)?;
                }
            }
        }
        Ok((runs, unreadable))
    }

    fn open_run(&self, id: &str) -> Result<Option<OpenRun>, StoreError> {
        let action = format!("read the open run {id}");
        let statement =
            "SELECT started_ms, ended_ms, outcome, sampled_ms, recorder, application_key,
                                application_name FROM open_run WHERE application_id = ?1";
        let mut found = self.rows(&action, statement, [id], |row| {
            Ok(OpenRun {
                application_id: id.to_owned(),
                started_ms: row.get(0)?,
                ended_ms: row.get(1)?,
                outcome: outcome_of(row.get(2)?)?,
                sampled_ms: row.get(3)?,
                recorder: unpack(&row.get::<_, Vec<u8>>(4)?)?,
                application_key: row.get(5)?,
                application_name: row.get(6)?,
            })
        })?;
        let Some(mut run) = found.pop() else {
            return Ok(None);
        };
        let statement = "SELECT samples FROM open_samples WHERE application_id = ?1 ORDER BY id";
        self.rows(&action, statement, [id], |row| {
            let batch: Vec<BatchEntry> = unpack(&row.get::<_, Vec<u8>>(0)?)?;
            for entry in batch {
                entry.add_to(&mut run.recorder);
            }
            Ok(())
        })?;
        Ok(Some(run))
    }

    /// Replaces the batches of runs that have many by the state of their recorders, the longest
    /// first, for [`SHORTEN_FOR`] at most. To be called after each checkpoint.
    ///
    /// # Errors
    /// A run that cannot be read: it is dropped. Or as [`Depository::save`].
    pub fn shorten_open_runs(&mut self) -> Result<(), StoreError> {
        let statement = "SELECT application_id FROM open_samples GROUP BY application_id
                         HAVING count(*) >= ?1 ORDER BY count(*) DESC";
        let action = "count the samples of open runs";
        let ids: Vec<String> =
            self.rows(action, statement, [MOST_BATCHES], |row| Ok(row.get(0)?))?;
        let begin = Instant::now();
        for application_id in ids {
            if begin.elapsed() >= SHORTEN_FOR {
                break;
            }
            match self.open_run(&application_id) {
                Ok(Some(run)) => self.checkpoint(&[RunEvent::Whole(Box::new(run))], 0)?,
                Ok(None) => {}
                Err(error) => {
                    if !error.may_pass() {
                        self.checkpoint(&[RunEvent::Dropped { application_id }], 0)?;
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}

fn batches(events: &[RunEvent]) -> BTreeMap<&str, Vec<BatchEntry>> {
    let mut batches: BTreeMap<&str, Vec<BatchEntry>> = BTreeMap::new();
    for event in events {
        if let RunEvent::Whole(run) = event {
            // The state contains what came before it.
            batches.remove(run.application_id.as_str());
        } else if let Some((application_id, entry)) = BatchEntry::of(event) {
            batches.entry(application_id).or_default().push(entry);
        }
    }
    batches
}

/// Samples and ends of stages are noted in batches.
fn note(connection: &Connection, event: &RunEvent) -> Result<(), StatementError> {
    match event {
        RunEvent::Sampled { .. } | RunEvent::StagesEnded { .. } => 0,
        // Replacing the former row deletes its batches.
        RunEvent::Whole(run) => connection
            .prepare_cached(
                "INSERT OR REPLACE INTO open_run (application_id, application_key,
                     application_name, started_ms, ended_ms, outcome, sampled_ms, recorder)
                 SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
                 WHERE NOT EXISTS (SELECT 1 FROM run WHERE application_id = ?1)",
            )?
            .execute(params![
                run.application_id,
                run.application_key,
                run.application_name,
                run.started_ms,
                run.ended_ms,
                outcome_code(run.outcome),
                run.sampled_ms,
                pack(&run.recorder)?
            ])?,
        RunEvent::CutOff { application_id } => connection
            .prepare_cached("UPDATE open_run SET outcome = ?2 WHERE application_id = ?1")?
            .execute(params![application_id, outcome_code(Outcome::CutOff)])?,
        RunEvent::Ended { application_id, ended_ms, outcome } => connection
            .prepare_cached(
                "UPDATE open_run SET ended_ms = ?2, outcome = ?3 WHERE application_id = ?1",
            )?
            .execute(params![application_id, ended_ms, outcome_code(*outcome)])?,
        RunEvent::Dropped { application_id } => connection
            .prepare_cached("DELETE FROM open_run WHERE application_id = ?1")?
            .execute([application_id])?,
    };
    Ok(())
}

fn append(connection: &Connection, id: &str, batch: &[u8], now_ms: i64) -> rusqlite::Result<()> {
    let known = connection
        .prepare_cached("UPDATE open_run SET sampled_ms = ?2 WHERE application_id = ?1")?
        .execute(params![id, now_ms])?;
    if known > 0 {
        connection
            .prepare_cached("INSERT INTO open_samples (application_id, samples) VALUES (?1, ?2)")?
            .execute(params![id, batch])?;
    }
    Ok(())
}

fn pack(value: &impl Serialize) -> Result<Vec<u8>, String> {
    compress(&postcard::to_stdvec(value).map_err(|error| error.to_string())?)
}

fn unpack<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<T, String> {
    postcard::from_bytes(&decompress(bytes, MOST_BYTES)?).map_err(|error| error.to_string())
}

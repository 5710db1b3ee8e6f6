//! Checkpoints of runs that have not ended: their samples survive a crash of the process.
//!
//! Samples are appended in batches and replayed when the file is opened again. The state of the run's
//! recorder replaces them once they are many, so a long run stays small.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use elastane_core::Resources;
use elastane_runs::{OpenRun, Outcome, RecorderOfTwoKinds, RunEvent, RunRecorder};
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use crate::codes::{kind_code, kind_of, outcome_code, outcome_of};
use crate::compression::{compress, decompress};
use crate::depository::Depository;
use crate::error::StoreError;

/// This number of batches is replaced by the recorder: five minutes at one in 3 s.
const MOST_BATCHES: i64 = 100;

/// The version of the format of a recorder.
const RECORDER_VERSION: i64 = 2;

/// Runs that began together have many batches at the same time; the next call goes on.
const SHORTEN_FOR: Duration = Duration::from_millis(250);

/// A batch or a recorder is smaller; a recorder of 24 h and 10,000 containers is 4 MB.
const MOST_BYTES: usize = 256 * 1024 * 1024;

/// Samples of one run, in the order of their arrival.
#[derive(Default, Serialize, Deserialize)]
struct Batch {
    containers: Vec<(String, i64)>,
    samples: Vec<BatchSample>,
}

#[derive(Serialize, Deserialize)]
struct BatchSample {
    container: u32,
    end_since_start_ms: i64,
    length_ms: u32,
    usage: [f64; 4],
}

impl Depository {
    /// Saves the events in one transaction. Events of a run that was saved or dropped meanwhile are
    /// ignored.
    ///
    /// # Errors
    /// As [`Depository::save`].
    pub fn checkpoint(&mut self, events: &[RunEvent], now_ms: i64) -> Result<(), StoreError> {
        let batches = batches(events)
            .into_iter()
            .map(|(id, batch)| match pack(&batch) {
                Ok(bytes) => Ok((id, bytes)),
                Err(reason) => Err(self.bad(name_of(id), reason)),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let recorders = self.recorders(events)?;
        self.change("save what is recorded of running applications", |change| {
            let mut recorders = recorders.iter();
            for event in events {
                if let RunEvent::Whole(run) = event
                    && let Some(recorder) = recorders.next()
                {
                    replace(change, run, recorder)?;
                } else {
                    note(change, event, now_ms)?;
                }
            }
            for (id, bytes) in &batches {
                append(change, id, bytes, now_ms)?;
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
        let ids: Vec<String> = self
            .rows(statement, [], |row| row.get(0))
            .map_err(|error| self.failed("list the open runs", error))?;
        let (mut runs, mut unreadable) = (Vec::new(), Vec::new());
        for id in ids {
            match self.open_run(&id) {
                Ok(run) => runs.extend(run),
                Err(error @ StoreError::Record { .. }) => {
                    unreadable.push(error);
                    self.checkpoint(&[RunEvent::Dropped { application_id: id }], 0)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok((runs, unreadable))
    }

    fn open_run(&self, id: &str) -> Result<Option<OpenRun>, StoreError> {
        let action = format!("read the open run {id}");
        let statement = "SELECT application_key, application_name, started_ms, ended_ms, outcome,
                                sampled_ms, recorder, recorder_version
                         FROM open_run WHERE application_id = ?1";
        let row = |row: &rusqlite::Row<'_>| {
            let run = OpenRun {
                application_id: id.to_owned(),
                application_key: row.get(0)?,
                application_name: row.get(1)?,
                started_ms: row.get(2)?,
                ended_ms: row.get(3)?,
                outcome: Outcome::CutOff,
                sampled_ms: row.get(5)?,
                recorder: RunRecorder::new(),
            };
            Ok((run, row.get(4)?, row.get(6)?, row.get(7)?))
        };
        let found: Option<(OpenRun, i64, Option<Vec<u8>>, i64)> = self
            .connection
            .query_row(statement, [id], row)
            .optional()
            .map_err(|error| self.failed(&action, error))?;
        let Some((mut run, outcome, recorder, version)) = found else {
            return Ok(None);
        };
        let batches: Vec<Vec<u8>> = self
            .rows(
                "SELECT samples FROM open_samples WHERE application_id = ?1 ORDER BY id",
                [id],
                |row| row.get(0),
            )
            .map_err(|error| self.failed(&action, error))?;
        let bad = |reason| self.bad(name_of(id), reason);
        run.outcome = outcome_of(outcome).map_err(bad)?;
        if let Some(bytes) = recorder {
            run.recorder = recorder_of(&bytes, version).map_err(bad)?;
        }
        for bytes in batches {
            replay(&unpack(&bytes).map_err(bad)?, &mut run.recorder).map_err(bad)?;
        }
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
        let ids: Vec<String> = self
            .rows(statement, [MOST_BATCHES], |row| row.get(0))
            .map_err(|error| self.failed("count the samples of open runs", error))?;
        let begin = Instant::now();
        for id in ids {
            if begin.elapsed() >= SHORTEN_FOR {
                break;
            }
            let shortened = self.shorten(&id);
            if matches!(shortened, Err(StoreError::Record { .. })) {
                self.checkpoint(&[RunEvent::Dropped { application_id: id }], 0)?;
            }
            shortened?;
        }
        Ok(())
    }

    fn shorten(&mut self, id: &str) -> Result<(), StoreError> {
        let Some(run) = self.open_run(id)? else {
            return Ok(());
        };
        let recorder = pack(&run.recorder).map_err(|reason| self.bad(name_of(id), reason))?;
        self.change(&format!("shorten the open run {id}"), |transaction| {
            let statement = "UPDATE open_run SET recorder = ?2, recorder_version = ?3
                             WHERE application_id = ?1";
            transaction.execute(statement, params![id, recorder, RECORDER_VERSION])?;
            let statement = "DELETE FROM open_samples WHERE application_id = ?1";
            transaction.execute(statement, [id])
        })?;
        Ok(())
    }

    /// The packed recorders of whole runs, in the order of the events.
    fn recorders(&self, events: &[RunEvent]) -> Result<Vec<Vec<u8>>, StoreError> {
        let whole = events.iter().filter_map(|event| match event {
            RunEvent::Whole(run) => Some(run),
            _ => None,
        });
        whole
            .map(|run| {
                pack(&run.recorder).map_err(|reason| self.bad(name_of(&run.application_id), reason))
            })
            .collect()
    }
}

fn batches(events: &[RunEvent]) -> BTreeMap<&str, Batch> {
    let mut batches: BTreeMap<&str, Batch> = BTreeMap::new();
    let mut numbers: HashMap<(&str, &str), u32> = HashMap::new();
    for event in events {
        if let RunEvent::Whole(run) = event {
            // The state contains the samples before it.
            let id = run.application_id.as_str();
            batches.remove(id);
            numbers.retain(|(of, _), _| *of != id);
        }
        let RunEvent::Sampled {
            application_id,
            container,
            kind,
            sample_end_since_start_ms,
            length_ms,
            usage,
        } = event
        else {
            continue;
        };
        let batch = batches.entry(application_id).or_default();
        let number = *numbers
            .entry((application_id, container))
            .or_insert_with(|| {
                batch.containers.push((container.clone(), kind_code(*kind)));
                batch.containers.len() as u32 - 1
            });
        batch.samples.push(BatchSample {
            container: number,
            end_since_start_ms: *sample_end_since_start_ms,
            length_ms: *length_ms,
            usage: usage.to_array(),
        });
    }
    batches
}

fn note(connection: &Connection, event: &RunEvent, now_ms: i64) -> rusqlite::Result<()> {
    match event {
        RunEvent::Begun {
            application_id,
            application_key,
            application_name,
            started_ms,
        } => connection
            .prepare_cached(
                "INSERT OR REPLACE INTO open_run (application_id, application_key,
                     application_name, started_ms, outcome, sampled_ms)
                 SELECT ?1, ?2, ?3, ?4, ?5, ?6
                 WHERE NOT EXISTS (SELECT 1 FROM run WHERE application_id = ?1)",
            )?
            .execute(params![
                application_id,
                application_key,
                application_name,
                started_ms,
                outcome_code(Outcome::Succeeded),
                now_ms
            ])?,
        RunEvent::Sampled { .. } | RunEvent::Whole(_) => 0,
        RunEvent::CutOff { application_id } => connection
            .prepare_cached("UPDATE open_run SET outcome = ?2 WHERE application_id = ?1")?
            .execute(params![application_id, outcome_code(Outcome::CutOff)])?,
        RunEvent::Ended {
            application_id,
            ended_ms,
            outcome,
        } => connection
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

/// Deleting the former row deletes its batches.
fn replace(connection: &Connection, run: &OpenRun, recorder: &[u8]) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO open_run (application_id, application_key, application_name,
                 started_ms, ended_ms, outcome, sampled_ms, recorder, recorder_version)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
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
            recorder,
            RECORDER_VERSION
        ])?;
    Ok(())
}

fn append(connection: &Connection, id: &str, bytes: &[u8], now_ms: i64) -> rusqlite::Result<()> {
    let known = connection
        .prepare_cached("UPDATE open_run SET sampled_ms = ?2 WHERE application_id = ?1")?
        .execute(params![id, now_ms])?;
    if known > 0 {
        connection
            .prepare_cached("INSERT INTO open_samples (application_id, samples) VALUES (?1, ?2)")?
            .execute(params![id, bytes])?;
    }
    Ok(())
}

fn replay(batch: &Batch, recorder: &mut RunRecorder) -> Result<(), String> {
    for sample in &batch.samples {
        let (container, kind) = batch
            .containers
            .get(sample.container as usize)
            .ok_or_else(|| format!("container {} of a batch is not in it", sample.container))?;
        recorder.add(
            container,
            kind_of(*kind)?,
            sample.end_since_start_ms,
            sample.length_ms,
            Resources::from_array(sample.usage),
        );
    }
    Ok(())
}

fn recorder_of(bytes: &[u8], version: i64) -> Result<RunRecorder, String> {
    match version {
        1 => unpack(bytes).map(|RecorderOfTwoKinds(recorder)| recorder),
        RECORDER_VERSION => unpack(bytes),
        _ => Err(format!("recorder version {version} is not known")),
    }
}

fn pack(value: &impl Serialize) -> Result<Vec<u8>, String> {
    compress(&postcard::to_stdvec(value).map_err(|error| error.to_string())?)
}

fn unpack<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<T, String> {
    postcard::from_bytes(&decompress(bytes, MOST_BYTES)?).map_err(|error| error.to_string())
}

fn name_of(application_id: &str) -> String {
    format!("the open run {application_id}")
}

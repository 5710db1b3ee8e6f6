//! Runs in, runs out.

use std::path::{Path, PathBuf};

use elastane_predict::{Outcome, Run, RunSeries};
use rusqlite::{Connection, Params, Row, Transaction, TransactionBehavior, params};

use crate::blob;
use crate::codes::{kind_code, kind_of, outcome_code, outcome_of};
use crate::error::StoreError;
use crate::open;
use crate::prediction::PredictionRecord;
use crate::replaced::Identity;
use crate::submission::SubmissionRecord;

/// One depository. It is for one thread at a time; several processes may have the same file open.
#[derive(Debug)]
pub struct Depository {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    pub(crate) identity: Option<Identity>,
}

/// What is known of one application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationSummary {
    /// The key of its signature.
    pub key: String,
    /// The name of its latest run.
    pub name: String,
    /// How many runs are kept.
    pub runs: usize,
    /// When the latest one ended, in Unix milliseconds.
    pub latest_ms: i64,
}

/// A row of `run` before its series are read.
struct RunRow {
    id: i64,
    outcome: i64,
    run: Run,
}

const RUN_COLUMNS: &str =
    "id, outcome, application_key, application_id, application_name, started_ms, ended_ms";

impl Depository {
    pub(crate) fn new(connection: Connection, path: &Path) -> Self {
        Self {
            connection,
            path: path.to_owned(),
            identity: Identity::of(path),
        }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Another connection to the same file, for another thread.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn reopen(&self) -> Result<Self, StoreError> {
        open::again(&self.path)
    }

    /// Saves a run in one transaction. A run with the same application id is replaced; what was
    /// checkpointed of it goes.
    ///
    /// # Errors
    /// A lock that another process held for 5 s, an amount that is not finite and at least 0, or
    /// what SQLite says; nothing was changed then.
    pub fn save(&mut self, run: &Run) -> Result<(), StoreError> {
        self.save_with(run, None, &[])
    }

    /// Saves a run with what was submitted and predicted of it, all or nothing: without a run these
    /// could be removed, and a run without them counts as one that was given nothing.
    pub(crate) fn save_with(
        &mut self,
        run: &Run,
        submission: Option<&SubmissionRecord>,
        predictions: &[PredictionRecord],
    ) -> Result<(), StoreError> {
        let submission = submission
            .map(|submission| self.encode_submission(submission))
            .transpose()?;
        let predictions = predictions
            .iter()
            .map(|prediction| self.encode_prediction(prediction))
            .collect::<Result<Vec<_>, _>>()?;
        let blobs = run
            .series
            .iter()
            .map(|series| blob::encode(&series.slots))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|reason| series_error(&self.path, run, reason))?;
        let action = format!("save run {}", run.application_id);
        self.change(&action, |transaction| {
            if let Some(submission) = &submission {
                submission.insert(transaction)?;
            }
            for prediction in &predictions {
                prediction.insert(transaction)?;
            }
            insert(transaction, run, &blobs)
        })
    }

    /// The latest `n` runs of an application, newest first, however they ended.
    ///
    /// # Errors
    /// A run whose series cannot be read, named; or what SQLite says.
    pub fn latest_runs(&self, key: &str, n: usize) -> Result<Vec<Run>, StoreError> {
        self.latest(key, n, "")
    }

    /// The latest `n` runs of an application that succeeded, newest first.
    ///
    /// # Errors
    /// As [`Depository::latest_runs`].
    pub fn latest_succeeded_runs(&self, key: &str, n: usize) -> Result<Vec<Run>, StoreError> {
        let succeeded = format!("AND outcome = {}", outcome_code(Outcome::Succeeded));
        self.latest(key, n, &succeeded)
    }

    /// Every application, by key.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn applications(&self) -> Result<Vec<ApplicationSummary>, StoreError> {
        // SQLite takes the bare columns of a group from the row with the maximum.
        let statement = "SELECT application_key, application_name, count(*), max(ended_ms)
                         FROM run GROUP BY application_key ORDER BY application_key";
        let summary = |row: &Row<'_>| {
            Ok(ApplicationSummary {
                key: row.get(0)?,
                name: row.get(1)?,
                runs: row.get(2)?,
                latest_ms: row.get(3)?,
            })
        };
        self.rows(statement, [], summary)
            .map_err(|error| self.failed("list the applications", error))
    }

    /// Removes all that is known of an application and says how many runs there were. What is being
    /// recorded of it stays.
    ///
    /// # Errors
    /// A lock that another process held for 5 s, or what SQLite says; nothing was changed then.
    pub fn forget(&mut self, key: &str) -> Result<usize, StoreError> {
        self.change(&format!("forget {key}"), |transaction| {
            for table in ["submission", "prediction", "model"] {
                let statement = format!("DELETE FROM {table} WHERE application_key = ?1");
                transaction.execute(&statement, [key])?;
            }
            transaction.execute("DELETE FROM run WHERE application_key = ?1", [key])
        })
    }

    /// The run with this application id.
    ///
    /// # Errors
    /// As [`Depository::latest_runs`].
    pub fn run(&self, application_id: &str) -> Result<Option<Run>, StoreError> {
        let statement = format!("SELECT {RUN_COLUMNS} FROM run WHERE application_id = ?1");
        let row = self
            .rows(&statement, [application_id], run_row)
            .map_err(|error| self.failed(&format!("read run {application_id}"), error))?
            .pop();
        row.map(|row| self.complete(row)).transpose()
    }

    fn latest(&self, key: &str, n: usize, condition: &str) -> Result<Vec<Run>, StoreError> {
        let statement = format!(
            "SELECT {RUN_COLUMNS} FROM run WHERE application_key = ?1 {condition}
             ORDER BY ended_ms DESC, id DESC LIMIT ?2"
        );
        let limit = i64::try_from(n).unwrap_or(i64::MAX);
        let rows = self
            .rows(&statement, params![key, limit], run_row)
            .map_err(|error| self.failed(&format!("read the runs of {key}"), error))?;
        rows.into_iter().map(|row| self.complete(row)).collect()
    }

    /// All runs, oldest first, one at a time.
    pub(crate) fn for_each_run(
        &self,
        mut visit: impl FnMut(Run) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let ids: Vec<i64> = self
            .rows("SELECT id FROM run ORDER BY ended_ms, id", [], |row| {
                row.get(0)
            })
            .map_err(|error| self.failed("list its runs", error))?;
        let statement = format!("SELECT {RUN_COLUMNS} FROM run WHERE id = ?1");
        for id in ids {
            let rows = self
                .rows(&statement, [id], run_row)
                .map_err(|error| self.failed("read its runs", error))?;
            // A run that was forgotten meanwhile is gone.
            for row in rows {
                visit(self.complete(row)?)?;
            }
        }
        Ok(())
    }

    fn complete(&self, row: RunRow) -> Result<Run, StoreError> {
        let mut run = row.run;
        let action = format!("read run {}", run.application_id);
        let parts: Vec<(i64, u32, Vec<u8>)> = self
            .rows(
                "SELECT kind, containers, slots FROM series WHERE run = ?1 ORDER BY position",
                [row.id],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .map_err(|error| self.failed(&action, error))?;
        let bad = |reason| series_error(&self.path, &run, reason);
        let outcome = outcome_of(row.outcome).map_err(bad)?;
        let series = parts
            .into_iter()
            .map(|(kind, containers, slots)| {
                Ok(RunSeries {
                    kind: kind_of(kind)?,
                    containers,
                    slots: blob::decode(&slots)?,
                })
            })
            .collect::<Result<_, String>>()
            .map_err(bad)?;
        run.outcome = outcome;
        run.series = series;
        Ok(run)
    }

    /// Makes a change in one transaction; after an error nothing is changed.
    pub(crate) fn change<T>(
        &mut self,
        action: &str,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let changed = || {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = change(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        changed().map_err(|error| StoreError::from_sqlite(&self.path, action, error))
    }

    pub(crate) fn rows<T>(
        &self,
        statement: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        self.connection
            .prepare_cached(statement)?
            .query_map(parameters, read)?
            .collect()
    }

    pub(crate) fn failed(&self, action: &str, error: rusqlite::Error) -> StoreError {
        StoreError::from_sqlite(&self.path, action, error)
    }
}

fn insert(transaction: &Transaction<'_>, run: &Run, blobs: &[Vec<u8>]) -> rusqlite::Result<()> {
    for table in ["run", "open_run"] {
        let statement = format!("DELETE FROM {table} WHERE application_id = ?1");
        transaction.execute(&statement, [&run.application_id])?;
    }
    transaction.execute(
        "INSERT INTO run (application_id, application_key, application_name,
                          started_ms, ended_ms, outcome) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            run.application_id,
            run.application_key,
            run.application_name,
            run.started_ms,
            run.ended_ms,
            outcome_code(run.outcome),
        ],
    )?;
    let id = transaction.last_insert_rowid();
    for (position, (series, blob)) in run.series.iter().zip(blobs).enumerate() {
        transaction.execute(
            "INSERT INTO series (run, position, kind, containers, slots)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            params![
                id,
                position,
                kind_code(series.kind),
                series.containers,
                blob
            ],
        )?;
    }
    Ok(())
}

fn run_row(row: &Row<'_>) -> rusqlite::Result<RunRow> {
    Ok(RunRow {
        id: row.get(0)?,
        outcome: row.get(1)?,
        run: Run {
            application_key: row.get(2)?,
            application_id: row.get(3)?,
            application_name: row.get(4)?,
            started_ms: row.get(5)?,
            ended_ms: row.get(6)?,
            outcome: Outcome::CutOff,
            series: Vec::new(),
        },
    })
}

fn series_error(path: &Path, run: &Run, reason: String) -> StoreError {
    StoreError::Series {
        path: path.to_owned(),
        key: run.application_key.clone(),
        application_id: run.application_id.clone(),
        reason,
    }
}

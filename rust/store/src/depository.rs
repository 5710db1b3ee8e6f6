//! Saving and reading runs.

use std::path::{Path, PathBuf};

use elastane_runs::{Outcome, Run, RunSeries};
use rusqlite::{Connection, Params, Row, Transaction, TransactionBehavior, params};

use crate::blob;
use crate::codes::{kind_code, kind_of, outcome_code, outcome_of};
use crate::error::StoreError;
use crate::prediction::PredictionRecord;
use elastane_runs::SubmissionRecord;

/// One depository, for one thread at a time. Several processes may have the same file open.
#[derive(Debug)]
pub struct Depository {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
}

/// The runs of one application, in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationSummary {
    /// The key of its signature.
    pub key: String,
    /// The name of its latest run.
    pub name: String,
    /// The number of saved runs.
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
        }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Saves a run in one transaction. It replaces a run with the same application id, and the
    /// checkpoints of that run.
    ///
    /// # Errors
    /// A lock that another process held for 5 s, an amount that is not finite and at least 0, or
    /// another error of SQLite; nothing was changed then.
    pub fn save(&mut self, run: &Run) -> Result<(), StoreError> {
        self.save_with(run, None, &[])
    }

    /// Saves a run with its submission and predictions, all or nothing: retention removes those
    /// without a run, and a run without its submission counts as one without settings.
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
            .map_err(|reason| self.bad(run_name(run), reason))?;
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
    /// A run whose series cannot be read, named; or SQLite's.
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
    /// SQLite's.
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

    /// Removes everything that is known of an application, except for its open runs; gives the number
    /// of removed runs.
    ///
    /// # Errors
    /// A lock that another process held for 5 s, or another error of SQLite; nothing was changed then.
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
        let bad = |reason| self.bad(run_name(&run), reason);
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

    /// Makes a change in one transaction.
    pub(crate) fn change<T>(
        &mut self,
        action: &str,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let changed = || {
            // Cached pages would hide damage of the file, perhaps until the process ends.
            self.connection.execute_batch("PRAGMA shrink_memory")?;
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

    /// The error of a record that cannot be read or written.
    pub(crate) fn bad(&self, record: String, reason: impl ToString) -> StoreError {
        StoreError::Record {
            path: self.path.clone(),
            record,
            reason: reason.to_string(),
        }
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

fn run_name(run: &Run) -> String {
    format!("run {} of {}", run.application_id, run.application_key)
}

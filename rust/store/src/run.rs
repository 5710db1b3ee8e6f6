//! Saving and reading runs.

use elastane_runs::{ContainerKind, Outcome, Run, RunSeries, SubmissionRecord};
use rusqlite::{Connection, Params, Transaction, params};

use crate::codes::{outcome_code, outcome_of};
use crate::depository::{Depository, limit};
use crate::error::{StatementError, StoreError};
use crate::prediction::PredictionRecord;
use crate::{blob, prediction, stage_ends, submission};

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

impl Depository {
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
        let action = format!("save run {} of {}", run.application_id, run.application_key);
        self.change(&action, |transaction| {
            if let Some(submission) = submission {
                submission::insert(transaction, submission)?;
            }
            for prediction in predictions {
                prediction::insert(transaction, prediction)?;
            }
            insert(transaction, run)
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

    fn latest(&self, key: &str, n: usize, condition: &str) -> Result<Vec<Run>, StoreError> {
        let condition =
            format!("application_key = ?1 {condition} ORDER BY ended_ms DESC, id DESC LIMIT ?2");
        let parameters = params![key, limit(n)];
        self.runs(&format!("read the runs of {key}"), &condition, parameters)
    }

    /// The run with this application id.
    ///
    /// # Errors
    /// As [`Depository::latest_runs`].
    pub fn run(&self, application_id: &str) -> Result<Option<Run>, StoreError> {
        let runs = self.runs("read a run", "application_id = ?1", [application_id]);
        Ok(runs?.pop())
    }

    fn runs(
        &self,
        action: &str,
        condition: &str,
        parameters: impl Params,
    ) -> Result<Vec<Run>, StoreError> {
        let statement = format!(
            "SELECT application_id, application_key, application_name, started_ms, ended_ms,
                    outcome, id FROM run WHERE {condition}"
        );
        self.rows(action, &statement, parameters, |row| {
            Ok(Run {
                application_id: row.get(0)?,
                application_key: row.get(1)?,
                application_name: row.get(2)?,
                started_ms: row.get(3)?,
                ended_ms: row.get(4)?,
                outcome: outcome_of(row.get(5)?)?,
                series: series(&self.connection, row.get(6)?)?,
            })
        })
    }

    /// Every application, by key.
    ///
    /// # Errors
    /// SQLite's.
    pub fn applications(&self) -> Result<Vec<ApplicationSummary>, StoreError> {
        // SQLite takes the bare columns of a group from the row with the maximum.
        let statement = "SELECT application_key, application_name, count(*), max(ended_ms)
                         FROM run GROUP BY application_key ORDER BY application_key";
        self.rows("list the applications", statement, [], |row| {
            Ok(ApplicationSummary {
                key: row.get(0)?,
                name: row.get(1)?,
                runs: row.get(2)?,
                latest_ms: row.get(3)?,
            })
        })
    }

    /// Removes everything that is known of an application, except for its open runs; gives the number
    /// of removed runs.
    ///
    /// # Errors
    /// A lock that another process held for 5 s, or another error of SQLite; nothing was changed then.
    pub fn forget(&mut self, key: &str) -> Result<usize, StoreError> {
        self.change(&format!("forget {key}"), |transaction| {
            for table in ["submission", "prediction", "model", "ledger"] {
                let statement = format!("DELETE FROM {table} WHERE application_key = ?1");
                transaction.execute(&statement, [key])?;
            }
            Ok(transaction.execute("DELETE FROM run WHERE application_key = ?1", [key])?)
        })
    }
}

fn insert(transaction: &Transaction<'_>, run: &Run) -> Result<(), StatementError> {
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
    for (position, series) in run.series.iter().enumerate() {
        let (kind, slots) = (i64::from(series.kind), blob::encode(&series.slots)?);
        let stage_ends = stage_ends::encode(&series.stage_ends_ms)?;
        transaction.execute(
            "INSERT INTO series (run, position, kind, containers, slots, stage_ends)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![id, position, kind, series.containers, slots, stage_ends],
        )?;
    }
    Ok(())
}

fn series(connection: &Connection, run: i64) -> Result<Vec<RunSeries>, StatementError> {
    let statement =
        "SELECT kind, containers, slots, stage_ends FROM series WHERE run = ?1 ORDER BY position";
    let mut statement = connection.prepare_cached(statement)?;
    let series = statement.query_and_then([run], |row| {
        Ok(RunSeries {
            kind: ContainerKind::try_from(row.get::<_, i64>(0)?)?,
            containers: row.get(1)?,
            slots: blob::decode(&row.get::<_, Vec<u8>>(2)?)?,
            stage_ends_ms: stage_ends::decode(&row.get::<_, Vec<u8>>(3)?)?,
        })
    });
    series?.collect()
}

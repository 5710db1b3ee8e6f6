//! Submissions, and the settings that they gave to runs.

use elastane_runs::{Outcome, RunSettings, SubmissionRecord};
use rusqlite::{Connection, params};

use crate::codes::outcome_code;
use crate::depository::{Depository, limit};
use crate::error::{StatementError, StoreError};

pub(crate) fn insert(
    connection: &Connection,
    submission: &SubmissionRecord,
) -> Result<(), StatementError> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO submission (application_id, application_key, application_name,
                 submitted_ms, signature, settings) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            submission.application_id,
            submission.application_key,
            submission.application_name,
            submission.submitted_ms,
            serde_json::to_string(&submission.signature)?,
            serde_json::to_string(&submission.settings)?
        ])?;
    Ok(())
}

impl Depository {
    /// Saves a submission. One of the same application id is replaced.
    ///
    /// # Errors
    /// As [`Depository::forget`].
    pub fn save_submission(&mut self, submission: &SubmissionRecord) -> Result<(), StoreError> {
        let action = format!("save the submission of {}", submission.application_id);
        self.change(&action, |transaction| insert(transaction, submission))
    }

    /// The submission of one run.
    ///
    /// # Errors
    /// One that cannot be read, named; or SQLite's.
    pub fn submission(&self, id: &str) -> Result<Option<SubmissionRecord>, StoreError> {
        let statement = "SELECT application_id, application_key, application_name, submitted_ms,
                                signature, settings FROM submission WHERE application_id = ?1";
        let mut found = self.rows("read a submission", statement, [id], |row| {
            Ok(SubmissionRecord {
                application_id: row.get(0)?,
                application_key: row.get(1)?,
                application_name: row.get(2)?,
                submitted_ms: row.get(3)?,
                signature: serde_json::from_str(&row.get::<_, String>(4)?)?,
                settings: serde_json::from_str(&row.get::<_, String>(5)?)?,
            })
        })?;
        Ok(found.pop())
    }

    /// The application ids and settings of the latest `n` succeeded runs of an application, newest
    /// first. A run whose submission was not saved has no settings.
    ///
    /// # Errors
    /// As [`Depository::submission`].
    pub fn latest_settings(
        &self,
        key: &str,
        n: usize,
    ) -> Result<Vec<(String, RunSettings)>, StoreError> {
        let statement = "SELECT run.application_id, submission.settings
             FROM run LEFT JOIN submission USING (application_id)
             WHERE run.application_key = ?1 AND run.outcome = ?2
             ORDER BY run.ended_ms DESC, run.id DESC LIMIT ?3";
        let parameters = params![key, outcome_code(Outcome::Succeeded), limit(n)];
        self.rows("read the settings of runs", statement, parameters, |row| {
            let settings: Option<String> = row.get(1)?;
            let settings = settings.map(|json| serde_json::from_str(&json)).transpose()?;
            Ok((row.get(0)?, settings.unwrap_or_default()))
        })
    }
}

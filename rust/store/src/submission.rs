//! Submissions.

use std::collections::BTreeMap;

use elastane_runs::SubmissionRecord;
use rusqlite::{Connection, params};

use crate::depository::Depository;
use crate::error::StoreError;

/// A submission as it is written.
pub(crate) struct EncodedSubmission<'a> {
    submission: &'a SubmissionRecord,
    signature: String,
    settings: String,
}

impl EncodedSubmission<'_> {
    pub(crate) fn insert(&self, connection: &Connection) -> rusqlite::Result<()> {
        let statement = format!(
            "INSERT OR REPLACE INTO submission ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
        );
        connection.prepare_cached(&statement)?.execute(params![
            self.submission.application_id,
            self.submission.application_key,
            self.submission.application_name,
            self.submission.submitted_ms,
            self.signature,
            self.settings
        ])?;
        Ok(())
    }
}

const COLUMNS: &str = "application_id, application_key, application_name, submitted_ms,
    signature, settings";

impl Depository {
    /// Saves a submission. One of the same application id is replaced.
    ///
    /// # Errors
    /// As [`Depository::forget`].
    pub fn save_submission(&mut self, submission: &SubmissionRecord) -> Result<(), StoreError> {
        let encoded = self.encode_submission(submission)?;
        let action = format!("save the submission of {}", submission.application_id);
        self.change(&action, |transaction| encoded.insert(transaction))
    }

    pub(crate) fn encode_submission<'a>(
        &self,
        submission: &'a SubmissionRecord,
    ) -> Result<EncodedSubmission<'a>, StoreError> {
        let json = |error: serde_json::Error| self.bad(name_of(&submission.application_id), error);
        Ok(EncodedSubmission {
            signature: serde_json::to_string(&submission.signature).map_err(json)?,
            settings: serde_json::to_string(&submission.settings).map_err(json)?,
            submission,
        })
    }

    /// The submission of one run.
    ///
    /// # Errors
    /// One that cannot be read, named; or SQLite's.
    pub fn submission(&self, id: &str) -> Result<Option<SubmissionRecord>, StoreError> {
        let statement = format!("SELECT {COLUMNS} FROM submission WHERE application_id = ?1");
        Ok(self.read_submissions(&statement, id)?.pop())
    }

    /// Every submission of an application, oldest first: the settings of its runs.
    ///
    /// # Errors
    /// As [`Depository::submission`].
    pub fn submissions(&self, key: &str) -> Result<Vec<SubmissionRecord>, StoreError> {
        let statement = format!(
            "SELECT {COLUMNS} FROM submission WHERE application_key = ?1
             ORDER BY submitted_ms, application_id"
        );
        self.read_submissions(&statement, key)
    }

    fn read_submissions(
        &self,
        statement: &str,
        of: &str,
    ) -> Result<Vec<SubmissionRecord>, StoreError> {
        let read = |row: &rusqlite::Row<'_>| {
            let submission = SubmissionRecord {
                application_id: row.get(0)?,
                application_key: row.get(1)?,
                application_name: row.get(2)?,
                submitted_ms: row.get(3)?,
                signature: Vec::new(),
                settings: BTreeMap::new(),
            };
            Ok((submission, row.get(4)?, row.get(5)?))
        };
        let rows: Vec<(SubmissionRecord, String, String)> = self
            .rows(statement, [of], read)
            .map_err(|error| self.failed(&format!("read the submissions of {of}"), error))?;
        rows.into_iter()
            .map(|(submission, signature, settings)| {
                let bad =
                    |error: serde_json::Error| self.bad(name_of(&submission.application_id), error);
                Ok(SubmissionRecord {
                    signature: serde_json::from_str(&signature).map_err(bad)?,
                    settings: serde_json::from_str(&settings).map_err(bad)?,
                    ..submission.clone()
                })
            })
            .collect()
    }
}

pub(crate) fn name_of(application_id: &str) -> String {
    format!("the submission of {application_id}")
}

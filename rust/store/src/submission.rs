//! What was submitted, and how its key came about.

use std::collections::BTreeMap;

use elastane_predict::SignaturePart;
use rusqlite::{Connection, params};

use crate::depository::Depository;
use crate::error::StoreError;

/// What is kept of a submission.
#[derive(Debug, Clone, PartialEq)]
pub struct SubmissionRecord {
    /// YARN's application id.
    pub application_id: String,
    /// The key of its signature.
    pub application_key: String,
    /// The name as it was submitted.
    pub application_name: String,
    /// When, in Unix milliseconds.
    pub submitted_ms: i64,
    /// What each part of the key was made from.
    pub signature: Vec<SignaturePart>,
    /// What may differ between runs of one application, by name: numbers in the arguments,
    /// executors, cores, memory.
    pub settings: BTreeMap<String, f64>,
}

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
        let json =
            |error: serde_json::Error| self.bad_submission(&submission.application_id, &error);
        Ok(EncodedSubmission {
            signature: serde_json::to_string(&submission.signature).map_err(json)?,
            settings: serde_json::to_string(&submission.settings).map_err(json)?,
            submission,
        })
    }

    /// The submission of one run.
    ///
    /// # Errors
    /// One that cannot be read, named; or what SQLite says.
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
                let bad = |error| self.bad_submission(&submission.application_id, &error);
                Ok(SubmissionRecord {
                    signature: serde_json::from_str(&signature).map_err(bad)?,
                    settings: serde_json::from_str(&settings).map_err(bad)?,
                    ..submission.clone()
                })
            })
            .collect()
    }

    pub(crate) fn bad_submission(&self, id: &str, error: &serde_json::Error) -> StoreError {
        StoreError::Submission {
            path: self.path.clone(),
            application_id: id.to_owned(),
            reason: error.to_string(),
        }
    }
}

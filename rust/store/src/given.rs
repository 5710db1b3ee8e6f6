//! What the runs of an application were given.

use elastane_predict::{Outcome, Settings};
use rusqlite::params;

use crate::codes::outcome_code;
use crate::depository::Depository;
use crate::error::StoreError;

impl Depository {
    /// The latest `n` runs of an application that succeeded, newest first: their application ids and
    /// what they were given, nothing where their submission was not kept.
    ///
    /// # Errors
    /// A submission that cannot be read, named; or what SQLite says.
    pub fn latest_settings(
        &self,
        key: &str,
        n: usize,
    ) -> Result<Vec<(String, Settings)>, StoreError> {
        let statement = "SELECT run.application_id, submission.settings
             FROM run LEFT JOIN submission USING (application_id)
             WHERE run.application_key = ?1 AND run.outcome = ?2
             ORDER BY run.ended_ms DESC, run.id DESC LIMIT ?3";
        let limit = i64::try_from(n).unwrap_or(i64::MAX);
        let succeeded = outcome_code(Outcome::Succeeded);
        let rows: Vec<(String, Option<String>)> = self
            .rows(statement, params![key, succeeded, limit], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .map_err(|error| self.failed(&format!("read the settings of {key}"), error))?;
        rows.into_iter()
            .map(|(id, settings)| {
                let Some(settings) = settings else {
                    return Ok((id, Settings::default()));
                };
                let settings = serde_json::from_str(&settings)
                    .map_err(|error| self.bad_submission(&id, &error))?;
                Ok((id, settings))
            })
            .collect()
    }
}

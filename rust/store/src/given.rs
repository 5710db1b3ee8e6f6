//! The settings of runs.

use elastane_runs::{Outcome, RunSettings};
use rusqlite::params;

use crate::codes::outcome_code;
use crate::depository::Depository;
use crate::error::StoreError;
use crate::submission::name_of;

impl Depository {
    /// The application ids and settings of the latest `n` succeeded runs of an application, newest
    /// first. A run whose submission was not saved has no settings.
    ///
    /// # Errors
    /// A submission that cannot be read, named; or SQLite's.
    pub fn latest_settings(
        &self,
        key: &str,
        n: usize,
    ) -> Result<Vec<(String, RunSettings)>, StoreError> {
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
                    return Ok((id, RunSettings::default()));
                };
                let settings = serde_json::from_str(&settings)
                    .map_err(|error| self.bad(name_of(&id), error))?;
                Ok((id, settings))
            })
            .collect()
    }
}

//! Removing runs with their records, and records without a run.

use elastane_runs::Outcome;
use rusqlite::{Transaction, params};

use crate::codes::outcome_code;
use crate::depository::{Depository, limit};
use crate::error::StoreError;
use crate::retention::Retention;

/// The most runs of one transaction; another process that writes waits for one transaction.
const BATCH: usize = 100;

/// Tables with records that are saved before their run, and their columns of time.
const BELONGINGS: [(&str, &str); 2] = [("prediction", "made_ms"), ("submission", "submitted_ms")];

/// The application has neither a saved nor an open run.
const WITHOUT_RUN: &str = "application_id NOT IN (SELECT application_id FROM run)
     AND application_id NOT IN (SELECT application_id FROM open_run)";

impl Depository {
    /// Removes the first [`BATCH`] runs whose ids a statement selects, with their submissions and
    /// predictions, and the models of applications that have no run left. In the statement, ?1 is the
    /// number of runs that make a profile, ?2 their outcome, ?3 the number to remove.
    pub(crate) fn remove_runs(
        &mut self,
        chosen: &str,
        retention: &Retention,
    ) -> Result<usize, StoreError> {
        let of_profile = limit(retention.profile_runs);
        let succeeded = outcome_code(Outcome::Succeeded);
        self.change("remove old runs", |transaction| {
            let statement = format!(
                "DELETE FROM run WHERE id IN ({chosen}) RETURNING application_id, application_key"
            );
            let removed: Vec<(String, String)> = transaction
                .prepare_cached(&statement)?
                .query_map(params![of_profile, succeeded, BATCH], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })?
                .collect::<rusqlite::Result<_>>()?;
            for (id, key) in &removed {
                remove_belongings(transaction, id)?;
                transaction
                    .prepare_cached(
                        "DELETE FROM model WHERE application_key = ?1
                         AND NOT EXISTS (SELECT 1 FROM run WHERE application_key = ?1)",
                    )?
                    .execute([key])?;
            }
            Ok(removed.len())
        })
    }

    /// Removes the first [`BATCH`] submissions and predictions of applications that made no run, the
    /// oldest first; gives how many applications they were of. Those saved since `before_ms` stay:
    /// their applications may run and not be recorded yet.
    pub(crate) fn remove_spare_belongings(&mut self, before_ms: i64) -> Result<usize, StoreError> {
        let parts = BELONGINGS.map(|(table, time)| {
            format!("SELECT application_id, {time} AS saved_ms FROM {table} WHERE {WITHOUT_RUN}")
        });
        let statement = format!(
            "SELECT application_id FROM ({}) GROUP BY application_id
             HAVING max(saved_ms) < ?1 ORDER BY max(saved_ms), application_id LIMIT ?2",
            parts.join(" UNION ALL ")
        );
        self.change("remove what belongs to no run", |transaction| {
            let ids: Vec<String> = transaction
                .prepare_cached(&statement)?
                .query_map(params![before_ms, BATCH], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            for id in &ids {
                remove_belongings(transaction, id)?;
            }
            Ok(ids.len())
        })
    }

    /// Removes the records of applications without a run that were saved before this time.
    pub(crate) fn remove_old_belongings(&mut self, before_ms: i64) -> Result<(), StoreError> {
        self.change("remove what belongs to old runs", |transaction| {
            for (table, time) in BELONGINGS {
                let statement = format!("DELETE FROM {table} WHERE {time} < ?1 AND {WITHOUT_RUN}");
                transaction.execute(&statement, [before_ms])?;
            }
            transaction.execute(
                "DELETE FROM model WHERE trained_ms < ?1
                 AND application_key NOT IN (SELECT application_key FROM run)",
                [before_ms],
            )?;
            Ok(())
        })
    }
}

fn remove_belongings(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<()> {
    for (table, _) in BELONGINGS {
        let statement = format!("DELETE FROM {table} WHERE application_id = ?1");
        transaction.prepare_cached(&statement)?.execute([id])?;
    }
    Ok(())
}

//! What is kept for how long, and how much of it.

use elastane_predict::Outcome;
use rusqlite::{Transaction, params};

use crate::codes::outcome_code;
use crate::depository::Depository;
use crate::error::StoreError;

/// So many runs are removed in one transaction: whoever wants to write waits for no more.
const BATCH: i64 = 100;

/// So many pages of 4 KiB are given back at once.
const PAGES: i64 = 2_000;

/// What is removed from a depository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// A run goes when it ended so long ago, unless a profile is made of it.
    pub keep_ms: i64,
    /// Above so many bytes the oldest runs go.
    pub most_bytes: u64,
    /// The latest so many succeeded runs of an application make its profile: they stay for as long
    /// as the application ran within `keep_ms`, and go last when room is short.
    pub profile_runs: usize,
}

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Runs that were too old.
    pub old_runs: usize,
    /// Runs for want of room that no profile is made of.
    pub spare_runs: usize,
    /// Runs for want of room that a profile was made of: the bound is too small for what runs here.
    pub profile_runs: usize,
}

impl Pruned {
    /// How many runs were removed.
    #[must_use]
    pub fn runs(self) -> usize {
        self.old_runs + self.spare_runs + self.profile_runs
    }
}

/// A run that a profile is made of: `?1` is how many are, `?2` the outcome that counts.
const OF_PROFILE: &str = "
    SELECT id FROM (
        SELECT id, row_number() OVER (
            PARTITION BY application_key ORDER BY ended_ms DESC, id DESC
        ) AS place FROM run WHERE outcome = ?2
    ) WHERE place <= ?1";

impl Depository {
    /// Removes what is too old and, above the bound, the oldest runs: first those that no profile
    /// is made of. In many short transactions; what is removed is given back to the file system
    /// where the file was made by this version or a later one.
    ///
    /// # Errors
    /// As [`Depository::forget`]; what was removed before stays removed.
    pub fn prune(&mut self, retention: &Retention, now_ms: i64) -> Result<Pruned, StoreError> {
        let since_ms = now_ms.saturating_sub(retention.keep_ms);
        let mut pruned = Pruned {
            old_runs: self.prune_old(retention, since_ms)?,
            ..Pruned::default()
        };
        while self.used_bytes()? > retention.most_bytes {
            let removed = self.remove(&format!(
                "SELECT id FROM run WHERE id NOT IN ({OF_PROFILE}) ORDER BY ended_ms, id LIMIT ?3"
            ), retention, BATCH)?;
            pruned.spare_runs += removed;
            if removed == 0 {
                break;
            }
        }
        while self.used_bytes()? > retention.most_bytes {
            // ?1 and ?2 are bound, and nothing is spared any more.
            let removed = self.remove(
                "SELECT id FROM run WHERE ?1 >= 0 AND ?2 >= 0 ORDER BY ended_ms, id LIMIT ?3",
                retention,
                BATCH,
            )?;
            pruned.profile_runs += removed;
            if removed == 0 {
                break;
            }
        }
        self.remove_orphans(since_ms)?;
        self.give_back()?;
        Ok(pruned)
    }

    /// What the file holds, without its free pages, in bytes.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn used_bytes(&self) -> Result<u64, StoreError> {
        let statement = "SELECT (page_count - freelist_count) * page_size
            FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
        self.connection
            .query_row(statement, [], |row| row.get(0))
            .map_err(|error| self.failed("measure it", error))
    }

    fn prune_old(&mut self, retention: &Retention, since_ms: i64) -> Result<usize, StoreError> {
        let statement = format!(
            "SELECT id FROM run WHERE ended_ms < {since_ms} AND (
                 id NOT IN ({OF_PROFILE}) OR application_key NOT IN (
                     SELECT application_key FROM run WHERE ended_ms >= {since_ms}
                 )
             ) LIMIT ?3"
        );
        let mut old_runs = 0;
        loop {
            let removed = self.remove(&statement, retention, BATCH)?;
            old_runs += removed;
            if removed == 0 {
                return Ok(old_runs);
            }
        }
    }

    fn remove(
        &mut self,
        chosen: &str,
        retention: &Retention,
        most: i64,
    ) -> Result<usize, StoreError> {
        let of_profile = i64::try_from(retention.profile_runs).unwrap_or(i64::MAX);
        let succeeded = outcome_code(Outcome::Succeeded);
        self.change("remove old runs", |transaction| {
            transaction
                .prepare_cached(&format!("DELETE FROM run WHERE id IN ({chosen})"))?
                .execute(params![of_profile, succeeded, most])
        })
    }

    /// What belongs to runs that are gone; a run that is being recorded is not there yet.
    fn remove_orphans(&mut self, since_ms: i64) -> Result<(), StoreError> {
        let orphans = |transaction: &Transaction<'_>, table: &str, time: &str| {
            let statement = format!(
                "DELETE FROM {table} WHERE {time} < ?1
                 AND application_id NOT IN (SELECT application_id FROM run)
                 AND application_id NOT IN (SELECT application_id FROM open_run)"
            );
            transaction.execute(&statement, [since_ms])
        };
        self.change("remove what belongs to old runs", |transaction| {
            orphans(transaction, "prediction", "made_ms")?;
            orphans(transaction, "submission", "submitted_ms")?;
            transaction.execute(
                "DELETE FROM model WHERE trained_ms < ?1
                 AND application_key NOT IN (SELECT application_key FROM run)",
                [since_ms],
            )
        })?;
        Ok(())
    }

    fn give_back(&mut self) -> Result<(), StoreError> {
        let failed = |depository: &Self, error| depository.failed("give back what is free", error);
        loop {
            let free: i64 = self
                .connection
                .query_row("PRAGMA freelist_count", [], |row| row.get(0))
                .map_err(|error| failed(self, error))?;
            self.connection
                .execute_batch(&format!("PRAGMA incremental_vacuum({PAGES})"))
                .map_err(|error| failed(self, error))?;
            let left: i64 = self
                .connection
                .query_row("PRAGMA freelist_count", [], |row| row.get(0))
                .map_err(|error| failed(self, error))?;
            if left == 0 || left >= free {
                return Ok(());
            }
        }
    }
}

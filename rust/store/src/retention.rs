//! What is kept for how long, and how much of it.

use crate::depository::Depository;
use crate::error::StoreError;

/// What is recorded of an application that begins is saved much sooner.
const MAY_BEGIN_MS: i64 = 3_600_000;

/// So many pages of 4 KiB are given back at once.
const PAGES: i64 = 2_000;

/// What is removed from a depository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// A run goes when it ended so long ago, unless a profile is made of it.
    pub keep_ms: i64,
    /// Above so many bytes what belongs to no run goes, and then the oldest runs.
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
    /// Removes what is too old. Above the bound it removes what was submitted and predicted of
    /// applications that made no run, then the oldest runs, first those that no profile is made of.
    /// With a run goes what belongs to it; what belongs to an application that runs stays. In many
    /// short transactions; what is removed is given back to the file system where the file was made
    /// by this version or a later one.
    ///
    /// # Errors
    /// As [`Depository::forget`]; what was removed before stays removed.
    pub fn prune(&mut self, retention: &Retention, now_ms: i64) -> Result<Pruned, StoreError> {
        let since_ms = now_ms.saturating_sub(retention.keep_ms);
        let mut pruned = Pruned {
            old_runs: self.prune_old(retention, since_ms)?,
            ..Pruned::default()
        };
        self.remove_spare_belongings(retention.most_bytes, now_ms.saturating_sub(MAY_BEGIN_MS))?;
        let spare = format!(
            "SELECT id FROM run WHERE id NOT IN ({OF_PROFILE}) ORDER BY ended_ms, id LIMIT ?3"
        );
        pruned.spare_runs = self.prune_above_bound(&spare, retention)?;
        // ?1 and ?2 are bound, and nothing is spared any more.
        let any = "SELECT id FROM run WHERE ?1 >= 0 AND ?2 >= 0 ORDER BY ended_ms, id LIMIT ?3";
        pruned.profile_runs = self.prune_above_bound(any, retention)?;
        self.remove_old_belongings(since_ms)?;
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
            let removed = self.remove_runs(&statement, retention)?;
            old_runs += removed;
            if removed == 0 {
                return Ok(old_runs);
            }
        }
    }

    fn prune_above_bound(
        &mut self,
        chosen: &str,
        retention: &Retention,
    ) -> Result<usize, StoreError> {
        let mut runs = 0;
        while self.used_bytes()? > retention.most_bytes {
            let removed = self.remove_runs(chosen, retention)?;
            runs += removed;
            if removed == 0 {
                break;
            }
        }
        Ok(runs)
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

//! How long runs are kept, and how many bytes of them.

use crate::depository::Depository;
use crate::error::StoreError;

/// Long after an application that begins is checkpointed for the first time.
const MAY_BEGIN_MS: i64 = 3_600_000;

/// Pages of 4 KiB that are given back in one step.
const PAGES: i64 = 2_000;

/// What a depository keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Runs that ended longer ago are removed, unless they make a profile.
    pub keep_ms: i64,
    /// Above this size records without a run are removed, and then the oldest runs.
    pub most_bytes: u64,
    /// The number of the latest succeeded runs that make the profile of an application. They stay
    /// while the application ran within `keep_ms`, and go last when space is short.
    pub profile_runs: usize,
}

/// How many runs were removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Runs that were too old.
    pub old_runs: usize,
    /// Runs that made no profile, for want of space.
    pub spare_runs: usize,
    /// Runs that made a profile, for want of space: the bound is too small for this cluster.
    pub profile_runs: usize,
}

impl Pruned {
    /// All of them.
    pub fn runs(self) -> usize {
        self.old_runs + self.spare_runs + self.profile_runs
    }
}

/// The runs that make profiles: the latest `?1` with outcome `?2` of each application.
const OF_PROFILE: &str = "
    SELECT id FROM (
        SELECT id, row_number() OVER (
            PARTITION BY application_key ORDER BY ended_ms DESC, id DESC
        ) AS place FROM run WHERE outcome = ?2
    ) WHERE place <= ?1";

/// Removes what is too old, in steps: whoever has other work, too, is not kept from it.
///
/// The oldest hours of the ledger go where it takes more than a quarter of the bound.
/// Above the bound on bytes go the submissions and predictions of applications that made no run, and
/// then the oldest runs, first those that make no profile. With a run goes what belongs to it; what
/// belongs to a running application stays. The space is given back to the file system where this
/// version of the schema, or a later one, made the file.
#[derive(Debug)]
pub struct Pruning {
    retention: Retention,
    now_ms: i64,
    phase: Phase,
    pruned: Pruned,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    OldHours,
    OldRuns,
    SpareBelongings,
    SpareRuns,
    ProfileRuns,
    OldBelongings,
    FreePages,
}

impl Pruning {
    /// Nothing is removed yet.
    pub fn new(retention: Retention, now_ms: i64) -> Self {
        Self { retention, now_ms, phase: Phase::OldHours, pruned: Pruned::default() }
    }

    /// Removes some in one short transaction; gives the number of removed runs once it is done.
    ///
    /// # Errors
    /// As [`Depository::forget`]; what was removed before stays removed.
    pub fn step(&mut self, depository: &mut Depository) -> Result<Option<Pruned>, StoreError> {
        let since_ms = self.now_ms.saturating_sub(self.retention.keep_ms);
        let is_within_bound = depository.used_bytes()? <= self.retention.most_bytes;
        let keep = &self.retention;
        let (removed, next) = match self.phase {
            Phase::OldHours => {
                let removed = depository.remove_old_hours(since_ms, keep.most_bytes)?;
                (removed, Phase::OldRuns)
            }
            Phase::OldRuns => {
                let removed = depository.remove_runs(&old_runs(since_ms), keep)?;
                self.pruned.old_runs += removed;
                (removed, Phase::SpareBelongings)
            }
            Phase::SpareBelongings | Phase::SpareRuns | Phase::ProfileRuns if is_within_bound => {
                (0, Phase::OldBelongings)
            }
            Phase::SpareBelongings => {
                let before_ms = self.now_ms.saturating_sub(MAY_BEGIN_MS);
                let removed = depository.remove_spare_belongings(before_ms)?;
                (removed, Phase::SpareRuns)
            }
            Phase::SpareRuns => {
                let removed = depository.remove_runs(&spare_runs(), keep)?;
                self.pruned.spare_runs += removed;
                (removed, Phase::ProfileRuns)
            }
            Phase::ProfileRuns => {
                let removed = depository.remove_runs(ANY_RUNS, keep)?;
                self.pruned.profile_runs += removed;
                (removed, Phase::OldBelongings)
            }
            Phase::OldBelongings => {
                depository.remove_old_belongings(since_ms)?;
                (0, Phase::FreePages)
            }
            Phase::FreePages if depository.give_back_pages()? => return Ok(Some(self.pruned)),
            Phase::FreePages => return Ok(None),
        };
        if removed == 0 {
            self.phase = next;
        }
        Ok(None)
    }
}

fn old_runs(since_ms: i64) -> String {
    format!(
        "SELECT id FROM run WHERE ended_ms < {since_ms} AND (
             id NOT IN ({OF_PROFILE}) OR application_key NOT IN (
                 SELECT application_key FROM run WHERE ended_ms >= {since_ms}
             )
         ) LIMIT ?3"
    )
}

fn spare_runs() -> String {
    format!("SELECT id FROM run WHERE id NOT IN ({OF_PROFILE}) ORDER BY ended_ms, id LIMIT ?3")
}

/// ?1 and ?2 are bound all the same.
const ANY_RUNS: &str =
    "SELECT id FROM run WHERE ?1 >= 0 AND ?2 >= 0 ORDER BY ended_ms, id LIMIT ?3";

impl Depository {
    /// The size of the file without its free pages, in bytes.
    ///
    /// # Errors
    /// SQLite's.
    pub fn used_bytes(&self) -> Result<u64, StoreError> {
        let statement = "SELECT (page_count - freelist_count) * page_size
            FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
        self.connection
            .query_row(statement, [], |row| row.get(0))
            .map_err(|error| self.failed("measure it", error))
    }

    /// Shortens the file by [`PAGES`] free pages; true where none is left, or none can be given back.
    fn give_back_pages(&mut self) -> Result<bool, StoreError> {
        let free_pages =
            || self.connection.query_row("PRAGMA freelist_count", [], |row| row.get(0));
        let given_back = || {
            let before: i64 = free_pages()?;
            self.connection.execute_batch(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
            let left = free_pages()?;
            Ok(left == 0 || left >= before)
        };
        given_back().map_err(|error: rusqlite::Error| self.failed("give back free pages", error))
    }
}

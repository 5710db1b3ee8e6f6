//! The depository: a file of SQLite, its changes and its rows. Each kind of record has a file of its own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, Params, Row, Transaction, TransactionBehavior};

use crate::error::{StatementError, StoreError, StoreErrorKind};

/// How long to wait for a lock of another process.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(5);

/// One depository, for one thread at a time. Several processes may have the same file open.
#[derive(Debug)]
pub struct Depository {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    /// The last change waited in vain for a lock, or did not wait for it.
    is_locked: bool,
}

impl Depository {
    pub(crate) fn new(connection: Connection, path: &Path) -> Self {
        Self { connection, path: path.to_owned(), is_locked: false }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a change in one transaction. Waits for a lock of another process, [`LOCK_WAIT`] at most.
    /// After a wait in vain no change waits until one succeeds: whoever saves often is not held up
    /// each time.
    pub(crate) fn change<T>(
        &mut self,
        action: &str,
        change: impl FnOnce(&Transaction<'_>) -> Result<T, StatementError>,
    ) -> Result<T, StoreError> {
        let changed = || {
            // Cached pages would hide damage of the file, perhaps until the process ends.
            self.connection.execute_batch("PRAGMA shrink_memory")?;
            let transaction =
                self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = change(&transaction)?;
            transaction.commit()?;
            Ok::<_, StatementError>(done)
        };
        let changed = changed().map_err(|why| StoreError::refused(&self.path, action, why));
        let is_locked = |error: &StoreError| matches!(error.kind, StoreErrorKind::Locked(_));
        self.set_locked(changed.as_ref().is_err_and(is_locked));
        changed
    }

    fn set_locked(&mut self, is_locked: bool) {
        let wait = if is_locked { Duration::ZERO } else { LOCK_WAIT };
        if is_locked != self.is_locked && self.connection.busy_timeout(wait).is_ok() {
            self.is_locked = is_locked;
        }
    }

    /// Reads every row. Where the first column is text, it names the record in the error of a value.
    pub(crate) fn rows<T>(
        &self,
        action: &str,
        statement: &str,
        parameters: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T, StatementError>,
    ) -> Result<Vec<T>, StoreError> {
        let named = |row: &Row<'_>| {
            read(row).map_err(|why| match (why, row.get::<_, String>(0)) {
                (StatementError::Value(reason), Ok(record)) => {
                    StatementError::Value(format!("{record}: {reason}"))
                }
                (why, _) => why,
            })
        };
        let all = || -> Result<Vec<T>, StatementError> {
            let mut statement = self.connection.prepare_cached(statement)?;
            statement.query_and_then(parameters, named)?.collect()
        };
        all().map_err(|why| self.failed(action, why))
    }

    pub(crate) fn failed(&self, action: &str, why: impl Into<StatementError>) -> StoreError {
        StoreError::refused(&self.path, action, why)
    }
}

/// A number of rows for SQLite.
pub(crate) fn limit(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

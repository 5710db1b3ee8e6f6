//! The tables.

use std::path::Path;

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use crate::error::{StatementError, StoreError, StoreErrorKind};

/// "ELST": SQLite's `application_id`, which tells a depository from another program's file.
const APPLICATION_ID: i32 = 0x454c_5354;

/// The oldest version of the tables whose files are upgraded. Versions 1 to 6 were never released.
const OLDEST: i32 = 7;

/// What each version after the oldest added: nothing is changed or removed, so that a file of an older version is read as it
/// is (decision 55). A column that is added to a table has a default.
const UPGRADES: &[&str] = &["CREATE TABLE schema (readable_from INTEGER NOT NULL) STRICT;
    INSERT INTO schema (readable_from) VALUES (0);"];

/// The version of the tables.
pub(crate) const VERSION: i32 = OLDEST + UPGRADES.len() as i32;

/// The oldest version whose program reads and writes files of [`VERSION`].
const READABLE_FROM: i32 = 8;

/// The tables of the oldest version. Submissions, predictions and models have no foreign key on runs: they are saved before
/// their run, and saving a run again replaces it.
const TABLES: &str = "
    CREATE TABLE run (
        id               INTEGER PRIMARY KEY,
        application_id   TEXT    NOT NULL UNIQUE,
        application_key  TEXT    NOT NULL,
        application_name TEXT    NOT NULL,
        started_ms       INTEGER NOT NULL,
        ended_ms         INTEGER NOT NULL,
        outcome          INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX run_by_key ON run (application_key, ended_ms, id);
    CREATE INDEX run_by_end ON run (ended_ms);
    CREATE TABLE series (
        run        INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
        position   INTEGER NOT NULL,
        kind       INTEGER NOT NULL,
        containers INTEGER NOT NULL,
        slots      BLOB    NOT NULL,
        stage_ends BLOB    NOT NULL,
        PRIMARY KEY (run, position)
    ) STRICT;
    CREATE TABLE submission (
        application_id   TEXT    PRIMARY KEY,
        application_key  TEXT    NOT NULL,
        application_name TEXT    NOT NULL,
        submitted_ms     INTEGER NOT NULL,
        signature        TEXT    NOT NULL,
        settings         TEXT    NOT NULL
    ) STRICT;
    CREATE TABLE prediction (
        application_id     TEXT    NOT NULL,
        kind               INTEGER NOT NULL,
        application_key    TEXT    NOT NULL,
        made_ms            INTEGER NOT NULL,
        made               TEXT    NOT NULL,
        bound              BLOB,
        bound_slot_ms      INTEGER,
        outcome            TEXT,
        PRIMARY KEY (application_id, kind)
    ) STRICT;
    CREATE INDEX prediction_by_key ON prediction (application_key, made_ms);
    CREATE TABLE model (
        application_key TEXT    NOT NULL,
        kind            INTEGER NOT NULL,
        name            TEXT    NOT NULL,
        version         INTEGER NOT NULL,
        trained_ms      INTEGER NOT NULL,
        held_out_error  REAL    NOT NULL,
        model           BLOB    NOT NULL,
        PRIMARY KEY (application_key, kind, name)
    ) STRICT;
    CREATE TABLE open_run (
        application_id   TEXT    PRIMARY KEY,
        application_key  TEXT    NOT NULL,
        application_name TEXT    NOT NULL,
        started_ms       INTEGER NOT NULL,
        ended_ms         INTEGER,
        outcome          INTEGER NOT NULL,
        sampled_ms       INTEGER NOT NULL,
        recorder         BLOB    NOT NULL
    ) STRICT;
    CREATE TABLE open_samples (
        id             INTEGER PRIMARY KEY,
        application_id TEXT    NOT NULL REFERENCES open_run ON DELETE CASCADE,
        samples        BLOB    NOT NULL
    ) STRICT;
    CREATE INDEX open_samples_by_run ON open_samples (application_id, id);
    CREATE TABLE ledger (
        hour_ms               INTEGER NOT NULL,
        application_id        TEXT    NOT NULL,
        queue                 TEXT    NOT NULL,
        application_key       TEXT    NOT NULL,
        application_name      TEXT    NOT NULL,
        user                  TEXT    NOT NULL,
        containers            INTEGER NOT NULL,
        booked_vcore_s        REAL    NOT NULL,
        booked_byte_s         REAL    NOT NULL,
        measured_vcore_s      REAL    NOT NULL,
        measured_byte_s       REAL    NOT NULL,
        used_core_s           REAL    NOT NULL,
        used_byte_s           REAL    NOT NULL,
        core_cost             REAL    NOT NULL,
        memory_cost           REAL    NOT NULL,
        largest_request_bytes INTEGER NOT NULL,
        largest_use_bytes     INTEGER NOT NULL,
        PRIMARY KEY (hour_ms, application_id, queue)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE nodes_hour (
        hour_ms          INTEGER PRIMARY KEY,
        node_s           REAL NOT NULL,
        physical_vcore_s REAL NOT NULL,
        physical_byte_s  REAL NOT NULL,
        booked_byte_s    REAL NOT NULL,
        above_vcore_s    REAL NOT NULL,
        above_byte_s     REAL NOT NULL
    ) STRICT;
";

/// The tables that a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// An empty file.
    Nothing,
    /// Those of this version.
    Current,
    /// Of an older version, from which [`upgrade`] leads to this one.
    Older(i32),
    /// Of a newer version, which says that this one can read and write them.
    Newer(i32),
}

/// Finds out what the file holds. The file of another program, or of a version of Elastane that is too far from this one,
/// is refused.
pub(crate) fn find(connection: &Connection, path: &Path) -> Result<Found, StoreError> {
    let failed = |error: rusqlite::Error| StoreError::refused(path, "read its version", error);
    // One statement sees the changes of another process whole or not at all.
    let (application_id, version, tables): (i32, i32, i64) = connection
        .query_row(
            "SELECT (SELECT application_id FROM pragma_application_id),
                    (SELECT user_version FROM pragma_user_version),
                    (SELECT count(*) FROM sqlite_master)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .map_err(failed)?;
    let other = StoreErrorKind::OtherSchema(version, OLDEST, VERSION);
    match (application_id, version, tables) {
        (APPLICATION_ID, VERSION, _) => Ok(Found::Current),
        (APPLICATION_ID, OLDEST..VERSION, _) => Ok(Found::Older(version)),
        (APPLICATION_ID, ..OLDEST, _) => Err(StoreError::new(path, other)),
        (APPLICATION_ID, ..) => {
            let readable_from = "SELECT min(readable_from) FROM schema";
            match connection.query_row(readable_from, [], |row| row.get::<_, Option<i32>>(0)) {
                Ok(Some(..=VERSION)) => Ok(Found::Newer(version)),
                Ok(_) => Err(StoreError::new(path, other)),
                // Without the table.
                Err(rusqlite::Error::SqliteFailure(code, _)) if code.code == ErrorCode::Unknown => {
                    Err(StoreError::new(path, other))
                }
                Err(error) => Err(failed(error)),
            }
        }
        (0, 0, 0) => Ok(Found::Nothing),
        _ => Err(StoreError::new(path, StoreErrorKind::Foreign)),
    }
}

/// Makes the tables of an empty file, or what an older version lacks, in one transaction.
pub(crate) fn upgrade(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error: StatementError| StoreError::refused(path, "make its tables", error);
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(|error| failed(error.into()))?;
    // Another process may have made them meanwhile.
    let (is_new, from) = match find(&transaction, path)? {
        Found::Current | Found::Newer(_) => return Ok(()),
        Found::Older(version) => (false, version),
        Found::Nothing => (true, OLDEST),
    };
    let made = add_tables(&transaction, is_new, from);
    made.and_then(|()| Ok(transaction.commit()?)).map_err(failed)
}

fn add_tables(
    transaction: &Transaction<'_>,
    is_new: bool,
    from: i32,
) -> Result<(), StatementError> {
    if is_new {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    for (_, added) in (OLDEST..).zip(UPGRADES).filter(|(version, _)| *version >= from) {
        transaction.execute_batch(added)?;
    }
    transaction.execute("UPDATE schema SET readable_from = ?1", [READABLE_FROM])?;
    Ok(transaction.pragma_update(None, "user_version", VERSION)?)
}

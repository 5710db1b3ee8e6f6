//! The tables, and the migrations of older files.

use std::path::Path;

use rusqlite::Connection;

use crate::error::{StoreError, StoreErrorKind};

/// "ELST": SQLite's `application_id`, which tells a depository from another program's file.
const APPLICATION_ID: i32 = 0x454c_5354;

/// Migration i leads from version i to i + 1. A released migration never changes.
const MIGRATIONS: [&str; 3] = [RUNS, WHAT_ELSE_IS_LEARNED, KINDS_OF_EXECUTORS];

const RUNS: &str = "
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
    CREATE TABLE series (
        run        INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
        position   INTEGER NOT NULL,
        kind       INTEGER NOT NULL,
        containers INTEGER NOT NULL,
        slots      BLOB    NOT NULL,
        PRIMARY KEY (run, position)
    ) STRICT;
";

/// Submissions, predictions and models have no foreign key on runs: they are saved before their run,
/// and saving a run again replaces it.
const WHAT_ELSE_IS_LEARNED: &str = "
    CREATE INDEX run_by_end ON run (ended_ms);
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
        actual_length_ms   INTEGER,
        cpu_coverage       REAL, memory_coverage    REAL,
        network_coverage   REAL, disk_coverage      REAL,
        cpu_waste          REAL, memory_waste       REAL,
        network_waste      REAL, disk_waste         REAL,
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
        recorder         BLOB
    ) STRICT;
    CREATE TABLE open_samples (
        id             INTEGER PRIMARY KEY,
        application_id TEXT    NOT NULL REFERENCES open_run ON DELETE CASCADE,
        samples        BLOB    NOT NULL
    ) STRICT;
    CREATE INDEX open_samples_by_run ON open_samples (application_id, id);
";

/// Before, every executor was of kind 1, which now is an executor of priority 0, and a recorder had
/// two kinds.
const KINDS_OF_EXECUTORS: &str = "
    ALTER TABLE open_run ADD COLUMN recorder_version INTEGER NOT NULL DEFAULT 1;
";

/// The newest schema version.
pub(crate) const KNOWN: i32 = MIGRATIONS.len() as i32;

/// The version of a depository's schema; 0 for an empty file. The file of another program or of a later
/// Elastane is refused.
pub(crate) fn version(connection: &Connection, path: &Path) -> Result<i32, StoreError> {
    // One statement sees the changes of another process whole or not at all.
    let (application_id, version, tables): (i32, i32, i64) = connection
        .query_row(
            "SELECT (SELECT application_id FROM pragma_application_id),
                    (SELECT user_version FROM pragma_user_version),
                    (SELECT count(*) FROM sqlite_master)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .map_err(|error| StoreError::refused(path, "read its version", error))?;
    let kind = match (application_id, tables) {
        (APPLICATION_ID, _) if version > KNOWN => StoreErrorKind::NewerSchema(version, KNOWN),
        (APPLICATION_ID, _) => return Ok(version),
        (0, 0) if version == 0 => return Ok(0),
        _ => StoreErrorKind::Foreign,
    };
    Err(StoreError::new(path, kind))
}

/// Migrates a file to the newest version, in one transaction.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    if version(connection, path)? == KNOWN {
        return Ok(());
    }
    let failed = |error| StoreError::refused(path, "bring its schema up to date", error);
    let transaction = connection
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .map_err(failed)?;
    // Another process may have migrated the file meanwhile.
    let done = usize::try_from(version(&transaction, path)?).unwrap_or(0);
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(migration).map_err(failed)?;
    }
    for (pragma, value) in [("application_id", APPLICATION_ID), ("user_version", KNOWN)] {
        transaction.pragma_update(None, pragma, value).map_err(failed)?;
    }
    transaction.commit().map_err(failed)
}

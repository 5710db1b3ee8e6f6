//! The tables.

use std::path::Path;

use rusqlite::Connection;

use crate::error::{StoreError, StoreErrorKind};

/// "ELST": SQLite's `application_id`, which tells a depository from another program's file.
const APPLICATION_ID: i32 = 0x454c_5354;

/// The version of the tables. Versions 1 to 6 were never released.
pub(crate) const VERSION: i32 = 7;

/// Submissions, predictions and models have no foreign key on runs: they are saved before their run,
/// and saving a run again replaces it.
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

/// Whether the file is a depository of this version; false for an empty file. The file of another
/// program, or of another version of Elastane, is refused.
pub(crate) fn is_current(connection: &Connection, path: &Path) -> Result<bool, StoreError> {
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
    let kind = match (application_id, version, tables) {
        (APPLICATION_ID, VERSION, _) => return Ok(true),
        (APPLICATION_ID, ..) => StoreErrorKind::OtherSchema(version, VERSION),
        (0, 0, 0) => return Ok(false),
        _ => StoreErrorKind::Foreign,
    };
    Err(StoreError::new(path, kind))
}

/// Makes the tables of an empty file, in one transaction.
pub(crate) fn create(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error| StoreError::refused(path, "make its tables", error);
    let transaction = connection
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .map_err(failed)?;
    // Another process may have made them meanwhile.
    if is_current(&transaction, path)? {
        return Ok(());
    }
    transaction.execute_batch(TABLES).map_err(failed)?;
    for (pragma, value) in [("application_id", APPLICATION_ID), ("user_version", VERSION)] {
        transaction.pragma_update(None, pragma, value).map_err(failed)?;
    }
    transaction.commit().map_err(failed)
}

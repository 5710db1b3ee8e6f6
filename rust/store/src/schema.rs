//! The tables, and how an older file gets them.

use std::path::Path;

use rusqlite::Connection;

use crate::error::StoreError;

/// "ELST": SQLite's `application_id` of a depository, so that another program's file is told apart.
const APPLICATION_ID: i32 = 0x454c_5354;

/// Migration i leads from version i to i + 1. What was released is never changed.
const MIGRATIONS: [&str; 1] = ["
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
"];

/// The newest schema version.
pub(crate) const KNOWN: i32 = MIGRATIONS.len() as i32;

/// What a file holds.
#[derive(Debug, PartialEq)]
pub(crate) enum State {
    /// Nothing yet.
    Empty,
    /// A depository of this version.
    Depository(i32),
}

/// Tells an empty file and a depository from the file of another program or a later Elastane.
pub(crate) fn state(connection: &Connection, path: &Path) -> Result<State, StoreError> {
    // One statement, so that what another process does meanwhile is seen as a whole or not at all.
    let (application_id, version, tables): (i32, i32, i64) = connection
        .query_row(
            "SELECT (SELECT application_id FROM pragma_application_id),
                    (SELECT user_version FROM pragma_user_version),
                    (SELECT count(*) FROM sqlite_master)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .map_err(|error| StoreError::from_sqlite(path, "read its version", error))?;
    match (application_id, tables) {
        (APPLICATION_ID, _) if version > KNOWN => Err(StoreError::NewerSchema {
            path: path.to_owned(),
            found: version,
            known: KNOWN,
        }),
        (APPLICATION_ID, _) => Ok(State::Depository(version)),
        (0, 0) if version == 0 => Ok(State::Empty),
        _ => Err(StoreError::Foreign {
            path: path.to_owned(),
        }),
    }
}

/// Brings a file up to the newest version, in one transaction.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    if state(connection, path)? == State::Depository(KNOWN) {
        return Ok(());
    }
    let failed = |error| StoreError::from_sqlite(path, "bring its schema up to date", error);
    let transaction = connection
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .map_err(failed)?;
    // Read again: another process may have been first.
    let done = match state(&transaction, path)? {
        State::Empty => 0,
        State::Depository(version) => usize::try_from(version).unwrap_or(0),
    };
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(migration).map_err(failed)?;
    }
    for (pragma, value) in [("application_id", APPLICATION_ID), ("user_version", KNOWN)] {
        transaction
            .pragma_update(None, pragma, value)
            .map_err(failed)?;
    }
    transaction.commit().map_err(failed)
}

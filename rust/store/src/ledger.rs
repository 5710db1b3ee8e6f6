//! The ledger: what applications booked and used, by hour.

use std::sync::Arc;

use elastane_runs::{HOUR_MS, LedgerEntry, LedgerSubject, LedgerSums, NodesHour};
use rusqlite::params;

use crate::depository::Depository;
use crate::error::StoreError;

/// The size of a row without its text columns, estimated for pages that are half full.
const ROW_BYTES: i64 = 200;

/// About the bytes of the ledger; ?1 is those of a row beside its texts.
const BYTES: &str = "
    SELECT coalesce(sum(?1 + length(application_id) + length(queue) + length(application_key)
        + length(application_name) + length(user)), 0) FROM ledger";

/// The ledger takes at most this part of the depository's bound.
const PART_OF_BOUND: u64 = 4;

/// Hours that one transaction removes, since another process that writes waits for it.
const HOURS_AT_ONCE: i64 = 6;

const ADD_APPLICATION: &str = "
    INSERT INTO ledger (hour_ms, application_id, queue, application_key, application_name, user, containers,
        booked_vcore_s, booked_byte_s, measured_vcore_s, measured_byte_s, used_core_s, used_byte_s, core_cost, memory_cost,
        largest_request_bytes, largest_use_bytes)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
    ON CONFLICT DO UPDATE SET
        containers = containers + excluded.containers,
        booked_vcore_s = booked_vcore_s + excluded.booked_vcore_s,
        booked_byte_s = booked_byte_s + excluded.booked_byte_s,
        measured_vcore_s = measured_vcore_s + excluded.measured_vcore_s,
        measured_byte_s = measured_byte_s + excluded.measured_byte_s,
        used_core_s = used_core_s + excluded.used_core_s,
        used_byte_s = used_byte_s + excluded.used_byte_s,
        core_cost = core_cost + excluded.core_cost,
        memory_cost = memory_cost + excluded.memory_cost,
        largest_request_bytes = max(largest_request_bytes, excluded.largest_request_bytes),
        largest_use_bytes = max(largest_use_bytes, excluded.largest_use_bytes)";

const ADD_NODES: &str = "
    INSERT INTO nodes_hour (hour_ms, node_s, physical_vcore_s, physical_byte_s, booked_byte_s, above_vcore_s,
        above_byte_s)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    ON CONFLICT DO UPDATE SET
        node_s = node_s + excluded.node_s,
        physical_vcore_s = physical_vcore_s + excluded.physical_vcore_s,
        physical_byte_s = physical_byte_s + excluded.physical_byte_s,
        booked_byte_s = booked_byte_s + excluded.booked_byte_s,
        above_vcore_s = above_vcore_s + excluded.above_vcore_s,
        above_byte_s = above_byte_s + excluded.above_byte_s";

impl Depository {
    /// Adds to the hours of applications and nodes, in one transaction.
    ///
    /// # Errors
    /// As [`Depository::forget`]; nothing was added then.
    pub fn add_to_ledger(
        &mut self,
        applications: impl Iterator<Item = LedgerEntry>,
        nodes: impl Iterator<Item = NodesHour>,
    ) -> Result<(), StoreError> {
        self.change("save what applications booked and used", |transaction| {
            let mut statement = transaction.prepare_cached(ADD_APPLICATION)?;
            for entry in applications {
                let LedgerEntry { subject, hour_ms, sums } = &entry;
                statement.execute(params![
                    hour_ms,
                    subject.application_id,
                    subject.queue,
                    subject.application_key,
                    subject.application_name,
                    subject.user,
                    sums.containers,
                    sums.booked_vcore_s,
                    sums.booked_byte_s,
                    sums.measured_vcore_s,
                    sums.measured_byte_s,
                    sums.used_core_s,
                    sums.used_byte_s,
                    sums.core_cost,
                    sums.memory_cost,
                    sums.largest_request_bytes,
                    sums.largest_use_bytes,
                ])?;
            }
            let mut statement = transaction.prepare_cached(ADD_NODES)?;
            for hour in nodes {
                statement.execute(params![
                    hour.hour_ms,
                    hour.node_s,
                    hour.physical_vcore_s,
                    hour.physical_byte_s,
                    hour.booked_byte_s,
                    hour.above_vcore_s,
                    hour.above_byte_s,
                ])?;
            }
            Ok(())
        })
    }

    /// What each application booked and used in each queue in the hours that ended after this time, in Unix
    /// milliseconds: one entry for each, with its first hour.
    ///
    /// # Errors
    /// SQLite's.
    pub fn ledger(&self, since_ms: i64) -> Result<Vec<LedgerEntry>, StoreError> {
        let statement =
            "SELECT application_id, queue, min(hour_ms), application_key, application_name, user,
                    sum(containers), sum(booked_vcore_s), sum(booked_byte_s), sum(measured_vcore_s),
                    sum(measured_byte_s), sum(used_core_s), sum(used_byte_s), sum(core_cost),
                    sum(memory_cost), max(largest_request_bytes), max(largest_use_bytes)
             FROM ledger WHERE hour_ms > ?1 GROUP BY application_id, queue
             ORDER BY application_id, queue";
        self.rows("read the ledger", statement, [since_ms.saturating_sub(HOUR_MS)], |row| {
            Ok(LedgerEntry {
                subject: Arc::new(LedgerSubject {
                    application_id: row.get(0)?,
                    queue: row.get(1)?,
                    application_key: row.get(3)?,
                    application_name: row.get(4)?,
                    user: row.get(5)?,
                }),
                hour_ms: row.get(2)?,
                sums: LedgerSums {
                    containers: row.get(6)?,
                    booked_vcore_s: row.get(7)?,
                    booked_byte_s: row.get(8)?,
                    measured_vcore_s: row.get(9)?,
                    measured_byte_s: row.get(10)?,
                    used_core_s: row.get(11)?,
                    used_byte_s: row.get(12)?,
                    core_cost: row.get(13)?,
                    memory_cost: row.get(14)?,
                    largest_request_bytes: row.get(15)?,
                    largest_use_bytes: row.get(16)?,
                },
            })
        })
    }

    /// The nodes over the hours that ended after this time, in Unix milliseconds: one sum, with the first hour; none
    /// where nothing was saved.
    ///
    /// # Errors
    /// SQLite's.
    pub fn nodes_since(&self, since_ms: i64) -> Result<Option<NodesHour>, StoreError> {
        let statement =
            "SELECT min(hour_ms), sum(node_s), sum(physical_vcore_s), sum(physical_byte_s),
                    sum(booked_byte_s), sum(above_vcore_s), sum(above_byte_s)
             FROM nodes_hour WHERE hour_ms > ?1 HAVING count(*) > 0";
        let since_ms = since_ms.saturating_sub(HOUR_MS);
        let mut found = self.rows("read the hours of nodes", statement, [since_ms], |row| {
            Ok(NodesHour {
                hour_ms: row.get(0)?,
                node_s: row.get(1)?,
                physical_vcore_s: row.get(2)?,
                physical_byte_s: row.get(3)?,
                booked_byte_s: row.get(4)?,
                above_vcore_s: row.get(5)?,
                above_byte_s: row.get(6)?,
            })
        })?;
        Ok(found.pop())
    }

    /// Removes hours that began before this time, and, above a quarter of the bound, the oldest hours: runs need the
    /// rest. Gives how many rows went, of some hours at once.
    pub(crate) fn remove_old_hours(
        &mut self,
        before_ms: i64,
        most_bytes: u64,
    ) -> Result<usize, StoreError> {
        let most_bytes = i64::try_from(most_bytes / PART_OF_BOUND).unwrap_or(i64::MAX);
        self.change("remove old hours of the ledger", |transaction| {
            transaction.execute("DELETE FROM nodes_hour WHERE hour_ms < ?1", [before_ms])?;
            let bytes: i64 = transaction.query_row(BYTES, [ROW_BYTES], |row| row.get(0))?;
            let before_ms = if bytes > most_bytes { i64::MAX } else { before_ms };
            let removed = transaction.execute(
                "DELETE FROM ledger WHERE hour_ms IN (
                     SELECT DISTINCT hour_ms FROM ledger WHERE hour_ms < ?1
                     ORDER BY hour_ms LIMIT ?2
                 )",
                [before_ms, HOURS_AT_ONCE],
            )?;
            Ok(removed)
        })
    }
}

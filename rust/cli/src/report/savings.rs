//! What was saved, and what less of a request would save.

use elastane_runs::{GB, HOUR_S, LedgerEntry, NodesHour};
use serde::Serialize;

use super::By;
use super::rows::{Less, Rows, ratio};

/// What a core-hour and a GB-hour cost in the mean of all that was booked; 0 without prices.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MeanPrices {
    core_hour: f64,
    gb_hour: f64,
}

impl MeanPrices {
    pub(super) fn of(entries: &[LedgerEntry]) -> Self {
        let sum = |amount: fn(&LedgerEntry) -> f64| entries.iter().map(amount).sum::<f64>();
        let core_s = sum(|it| it.sums.booked_vcore_s);
        let byte_s = sum(|it| it.sums.booked_byte_s);
        Self {
            core_hour: ratio(sum(|it| it.sums.core_cost), core_s) * HOUR_S,
            gb_hour: ratio(sum(|it| it.sums.memory_cost), byte_s) * HOUR_S * GB,
        }
    }
}

/// What ran beside what the nodes would hold by request.
#[derive(Debug, Serialize)]
pub(super) struct Saved {
    /// When the first hour of it began.
    pub(super) from_ms: i64,
    pub(super) node_hours: f64,
    pub(super) physical_gb_hours: f64,
    pub(super) booked_gb_hours: f64,
    /// Booked above what the nodes registered.
    pub(super) above_gb_hours: f64,
    pub(super) above_core_hours: f64,
    /// The same in nodes of the mean size.
    pub(super) saved_node_hours: f64,
    /// What is above, at the mean prices.
    pub(super) saved_cost: f64,
}

impl Saved {
    pub(super) fn of(nodes: NodesHour, prices: MeanPrices) -> Self {
        let bytes_of_node = ratio(nodes.physical_byte_s, nodes.node_s);
        let saved_node_s = ratio(nodes.above_byte_s, bytes_of_node);
        let gb_hours = |byte_s: f64| byte_s / GB / HOUR_S;
        let above_gb_hours = gb_hours(nodes.above_byte_s);
        let above_core_hours = nodes.above_vcore_s / HOUR_S;
        Self {
            from_ms: nodes.hour_ms,
            node_hours: nodes.node_s / HOUR_S,
            physical_gb_hours: gb_hours(nodes.physical_byte_s),
            booked_gb_hours: gb_hours(nodes.booked_byte_s),
            above_gb_hours,
            above_core_hours,
            saved_node_hours: saved_node_s / HOUR_S,
            saved_cost: above_gb_hours * prices.gb_hour + above_core_hours * prices.core_hour,
        }
    }
}

/// Whose requests could be smaller, those that would save most first.
#[derive(Debug, Serialize)]
pub(super) struct CouldAskLess {
    pub(super) users: Vec<CouldSave>,
    pub(super) queues: Vec<CouldSave>,
}

#[derive(Debug, Serialize)]
pub(super) struct CouldSave {
    pub(super) of: String,
    #[serde(flatten)]
    pub(super) less: Less,
}

impl CouldAskLess {
    pub(super) fn of(entries: &[LedgerEntry]) -> Self {
        let grouped = |by| {
            let rows = Rows::of(entries.iter().cloned(), by).rows;
            let mut all: Vec<CouldSave> = rows
                .into_iter()
                .filter(|row| row.less.applications > 0)
                .map(|row| CouldSave { of: row.subject.of, less: row.less })
                .collect();
            all.sort_by(|one, other| other.less.gb_hours.total_cmp(&one.less.gb_hours));
            all
        };
        Self { users: grouped(By::User), queues: grouped(By::Queue) }
    }
}

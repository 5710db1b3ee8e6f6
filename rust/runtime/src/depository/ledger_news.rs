//! What is to be added to the depository's ledger, until it is. It waits while a substitute stands for the depository.

use std::collections::BTreeMap;

use elastane_runs::{LedgerEntry, LedgerNews, NodesHour};
use elastane_store::{Depository, StoreError};

use super::outage::Outage;

/// Entries that wait while the depository cannot be written; the oldest hours go first.
const MOST_ENTRIES: usize = 100_000;

pub(super) struct WaitingNews {
    /// By hour and application.
    applications: BTreeMap<(i64, String), LedgerEntry>,
    nodes: BTreeMap<i64, NodesHour>,
    pub(super) outage: Outage,
}

impl WaitingNews {
    pub(super) fn new() -> Self {
        let outage = Outage::new("what applications booked and used");
        Self { applications: BTreeMap::new(), nodes: BTreeMap::new(), outage }
    }

    pub(super) fn add(&mut self, news: LedgerNews) {
        for entry in news.applications {
            let key = (entry.hour_ms, entry.application_id.clone());
            match self.applications.get_mut(&key) {
                Some(waiting) => {
                    waiting.sums += entry.sums;
                    waiting.queue = entry.queue;
                }
                None => drop(self.applications.insert(key, entry)),
            }
        }
        for hour in news.nodes {
            *self
                .nodes
                .entry(hour.hour_ms)
                .or_insert(NodesHour { hour_ms: hour.hour_ms, ..NodesHour::default() }) += hour;
        }
        while self.applications.len() > MOST_ENTRIES {
            self.applications.pop_first();
        }
    }

    /// Adds everything that waits in one transaction, or nothing.
    pub(super) fn save(&mut self, depository: &mut Depository) -> Result<(), StoreError> {
        if self.applications.is_empty() && self.nodes.is_empty() {
            return Ok(());
        }
        depository.add_to_ledger(self.applications.values(), self.nodes.values())?;
        self.applications.clear();
        self.nodes.clear();
        Ok(())
    }
}

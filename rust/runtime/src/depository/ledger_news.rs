//! What is to be added to the depository's ledger, until it is. It waits while a substitute stands for the depository.

use std::collections::BTreeMap;
use std::sync::Arc;

use elastane_runs::{LedgerEntry, LedgerNews, LedgerSubject, LedgerSums, NodesHour};
use elastane_store::{Depository, StoreError};

use super::outage::Outage;

/// Entries that wait while the depository cannot be written; the oldest hours go first.
const MOST_ENTRIES: usize = 100_000;

pub(super) struct WaitingNews {
    applications: BTreeMap<(i64, Arc<LedgerSubject>), LedgerSums>,
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
            *self.applications.entry((entry.hour_ms, entry.subject)).or_default() += entry.sums;
        }
        for hour in news.nodes {
            *self
                .nodes
                .entry(hour.hour_ms)
                .or_insert(NodesHour { hour_ms: hour.hour_ms, ..NodesHour::default() }) += hour;
        }
        let mut left_out = 0;
        while self.applications.len() > MOST_ENTRIES {
            self.applications.pop_first();
            left_out += 1;
        }
        if left_out > 0 {
            log::error!(
                "{left_out} hourly sums of applications are dropped from the usage ledger: too \
                 many wait for the depository"
            );
        }
    }

    /// Tries once more, where the depository is there, and says what is lost.
    pub(super) fn close(&mut self, depository: Option<&mut Depository>) {
        if let Some(depository) = depository {
            let saved = self.save(depository);
            self.outage.tell(&saved);
        }
        let lost = self.applications.len();
        if lost > 0 {
            log::error!(
                "{lost} hourly sums of applications are lost: the usage ledger could not be written"
            );
        }
    }

    /// Adds everything that waits in one transaction, or nothing.
    pub(super) fn save(&mut self, depository: &mut Depository) -> Result<(), StoreError> {
        if self.applications.is_empty() && self.nodes.is_empty() {
            return Ok(());
        }
        let of = |((hour_ms, subject), sums): (&(i64, Arc<LedgerSubject>), &LedgerSums)| {
            LedgerEntry { subject: Arc::clone(subject), hour_ms: *hour_ms, sums: *sums }
        };
        let applications = self.applications.iter().map(of);
        depository.add_to_ledger(applications, self.nodes.values().copied())?;
        self.applications.clear();
        self.nodes.clear();
        Ok(())
    }
}

//! Limits refused commits in the journal: CapacityScheduler may repeat one many times a second.

use std::collections::HashMap;

use elastane_core::Cluster;
use elastane_core::cluster::{ApplicationId, CommitRequest, Refusal};

use crate::journal::{JournalEvent, Record, Refused};

/// The least interval of one application's refusals in the journal.
const EVERY_MS: i64 = 1_000;

/// When a refusal of each application was last written.
#[derive(Default)]
pub(crate) struct Refusals {
    written_ms: HashMap<ApplicationId, i64>,
}

impl Refusals {
    /// The record of a refusal, if it is to be written.
    pub(crate) fn record(
        &mut self,
        cluster: &Cluster,
        commit: &CommitRequest<'_>,
        refusal: &Refusal,
        now_ms: i64,
    ) -> Option<Record> {
        if !self.is_due(commit.application, now_ms) {
            return None;
        }
        let application = cluster.application(commit.application).map(|it| it.id.clone());
        let node = cluster.node(commit.node).map(|it| it.name.clone());
        let event = JournalEvent::Refused(Refused {
            application: application.unwrap_or_default(),
            node: node.unwrap_or_default(),
            reason: refusal.to_string(),
        });
        Some(Record::about(cluster, commit.application, event, now_ms))
    }

    /// Whether a refusal is to be written; then it counts as written.
    fn is_due(&mut self, application: ApplicationId, now_ms: i64) -> bool {
        let due = self
            .written_ms
            .get(&application)
            .is_none_or(|last_ms| now_ms.saturating_sub(*last_ms) >= EVERY_MS);
        if due {
            self.written_ms.insert(application, now_ms);
        }
        due
    }

    pub(crate) fn forget(&mut self, application: ApplicationId) {
        self.written_ms.remove(&application);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_a_second_for_each_application() {
        let mut refusals = Refusals::default();
        let (one, other) = (ApplicationId(1), ApplicationId(2));
        assert!(refusals.is_due(one, 0));
        assert!(!refusals.is_due(one, 999));
        assert!(refusals.is_due(other, 999));
        assert!(refusals.is_due(one, 1_000));
        refusals.forget(one);
        assert!(refusals.is_due(one, 1_001));
    }
}

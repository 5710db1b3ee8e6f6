//! What is kept of applications beside their runs: the ledger, the record for a replay, and the starts of containers.

use elastane_core::Cluster;
use elastane_core::cluster::{ApplicationId, Container};
use elastane_runs::{LedgerSubject, RunSettings, SubmissionRecord};

use crate::ledger::Ledger;
use crate::past::Past;
use crate::starts::Starts;

/// All are told of starts and ends.
#[derive(Default)]
pub(crate) struct Accounts {
    pub(crate) ledger: Ledger,
    pub(crate) past: Past,
    pub(crate) starts: Starts,
}

impl Accounts {
    pub(crate) fn begin(
        &mut self,
        application: ApplicationId,
        record: &SubmissionRecord,
        user: &str,
        queue: &str,
    ) {
        let subject = LedgerSubject::of(record, user, queue);
        if self.past.since_ms().is_some() {
            self.past.submitted(application, subject.clone(), record.submitted_ms);
        }
        self.ledger.begin(application, subject, record.submitted_ms);
    }

    pub(crate) fn moved(&mut self, application: ApplicationId, queue: &str) {
        self.ledger.moved(application, queue);
        self.past.moved(application, queue);
    }

    /// A container runs from now on; see [`Ledger::runs`].
    pub(crate) fn runs(
        &mut self,
        cluster: &Cluster,
        id: &str,
        container: &Container,
        is_new: bool,
        now_ms: i64,
    ) {
        self.ledger.runs(cluster, container, is_new, now_ms);
        self.past.started(id, container);
        self.starts.started(container);
    }

    pub(crate) fn finished(
        &mut self,
        cluster: &Cluster,
        id: &str,
        container: &Container,
        now_ms: i64,
    ) {
        self.ledger.finished(cluster, container, now_ms);
        self.past.finished(id, now_ms);
        self.starts.ended(container);
    }

    /// An application with these settings ended; its samples count until `until_ms`.
    pub(crate) fn end(
        &mut self,
        application: ApplicationId,
        settings: Option<&RunSettings>,
        now_ms: i64,
        until_ms: i64,
    ) {
        self.past.ended(application, settings, now_ms);
        self.ledger.end(application, until_ms);
    }
}

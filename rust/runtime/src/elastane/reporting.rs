//! What agents report, what goes back to them, and what follows from it.

use std::sync::atomic::Ordering::Relaxed;

use elastane_protocol::{Report, decode, encode};

use super::{Elastane, State};
use crate::amounts;
use crate::journal::{PreemptionOutcome, Record};
use crate::measured::Measured;
use crate::memory_victims::PreemptionOrder;
use crate::report::{self, ReportError};
use crate::reprovisioning;
use crate::status::count;

impl Elastane {
    /// An agent's report, and the body of the reply.
    ///
    /// # Errors
    /// A report that is refused; nothing of it was taken.
    pub fn report(
        &self,
        node: &str,
        version: u16,
        body: &[u8],
        now_ms: i64,
    ) -> Result<Vec<u8>, ReportError> {
        let reply = self.take_report(node, version, body, now_ms);
        count(match reply {
            Ok(_) => &self.counters.reports,
            Err(_) => &self.counters.refused_reports,
        });
        reply
    }

    fn take_report(
        &self,
        node: &str,
        version: u16,
        body: &[u8],
        now_ms: i64,
    ) -> Result<Vec<u8>, ReportError> {
        let report: Report = decode(version, body)?;
        amounts::check(&report)?;
        let mut state = self.state.lock();
        let State {
            cluster,
            runs,
            sequences,
            measured,
            memory_victims,
            trackers,
            ..
        } = &mut *state;
        let number = cluster
            .node_named(node)
            .ok_or_else(|| ReportError::UnknownNode(node.to_owned()))?;
        cluster.reported(number, amounts::capacity(&report), now_ms);
        measured.insert(number, Measured::from(&report));
        let ingested = report::ingest(cluster, runs, sequences, number, &report, now_ms);
        let mut corrected = Vec::new();
        if self.settings.reprovision.is_some() {
            trackers.follow(cluster, &report, now_ms);
            cluster.reprovision(number, now_ms);
            corrected = reprovisioning::records(cluster, &self.counters);
        }
        let said = memory_victims.named(cluster, number, &report.memory_victims, now_ms);
        let reply = report::reply(cluster, &self.settings.plan, number, &report, now_ms);
        if self.settings.journal_usage
            && let Some(entry) = cluster.node(number)
        {
            let usage = report::node_usage(cluster, entry, &report, now_ms);
            self.journal.write(Record::Node(Box::new(usage)));
        }
        drop(state);

        self.say(said);
        self.say(corrected);
        self.counters.samples.fetch_add(ingested.samples, Relaxed);
        self.counters
            .repeated_samples
            .fetch_add(ingested.repeated, Relaxed);
        Ok(encode(&reply)?)
    }

    /// The containers that have to give way now because the memory of their nodes is short.
    ///
    /// Between telling an application master and the end of its container lie `wait_ms`. Each order
    /// is given once, and that to end a container again after 10 s while it is still there.
    pub fn preemption_orders(&self, wait_ms: i64, now_ms: i64) -> Vec<PreemptionOrder> {
        let mut state = self.state.lock();
        let State {
            cluster,
            memory_victims,
            ..
        } = &mut *state;
        let (orders, said) = memory_victims.orders(cluster, wait_ms, now_ms);
        drop(state);
        self.say(said);
        orders
    }

    /// Counts what became of containers that agents named, and writes it into the journal.
    fn say(&self, records: Vec<Record>) {
        for record in records {
            if let Record::Preemption(preemption) = &record {
                match preemption.outcome {
                    PreemptionOutcome::Preempted => count(&self.counters.memory_preemptions),
                    PreemptionOutcome::Spared => count(&self.counters.spared_memory_victims),
                    PreemptionOutcome::Refused => count(&self.counters.refused_memory_victims),
                    PreemptionOutcome::Told | PreemptionOutcome::Observed => {}
                }
            }
            self.journal.write(record);
        }
    }
}

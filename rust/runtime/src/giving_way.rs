//! Containers that have to give way on nodes short of memory: an executor may leave by itself, everything else is preempted.
//! On nodes that are being decommissioned executors leave, and nothing is preempted.

use elastane_core::cluster::{Cluster, NodeId};
use elastane_protocol::Report;

use crate::drains;
use crate::journal::{MigrationCause, Record};
use crate::memory_victims::{MemoryVictims, PreemptionOrder};
use crate::migrations::Migrations;

#[derive(Default)]
pub(crate) struct GivingWay {
    victims: MemoryVictims,
    migrations: Migrations,
}

impl GivingWay {
    /// Takes what a report says of them; gives the executors that the agent is to tell to leave, if
    /// `decommissions_first`, and records for the journal.
    pub(crate) fn reported(
        &mut self,
        cluster: &Cluster,
        node: NodeId,
        report: &Report,
        decommissions_first: bool,
        now_ms: i64,
    ) -> (Vec<String>, Vec<Record>) {
        let Self { victims, migrations } = self;
        let mut records = migrations.reported(cluster, node, &report.decommissioned, now_ms);
        records.extend(victims.named(cluster, migrations, node, &report.memory_victims, now_ms));
        let mut leave = Vec::new();
        if decommissions_first
            && let Some((container, reason)) = victims.to_leave(cluster, node, now_ms)
            && migrations.ask(cluster, container, MigrationCause::ShortOfMemory, &reason, now_ms)
        {
            leave.push(container.to_owned());
        }
        // While another executor leaves, nobody is chosen to give way on a node short of memory.
        if decommissions_first && report.memory_victims.is_empty() {
            leave.extend(drains::ask_next(cluster, migrations, node, now_ms));
        }
        (leave, records)
    }

    /// See [`MemoryVictims::orders`].
    pub(crate) fn orders(
        &mut self,
        cluster: &Cluster,
        wait_ms: i64,
        now_ms: i64,
    ) -> (Vec<PreemptionOrder>, Vec<Record>) {
        self.victims.orders(cluster, &self.migrations, wait_ms, now_ms)
    }

    /// A node and its containers are gone from the cluster.
    pub(crate) fn node_removed(&mut self, node: NodeId) {
        self.victims.forget(node);
        self.migrations.node_removed(node);
    }

    /// A container of a node ended.
    pub(crate) fn finished(&mut self, node: NodeId, container: &str, now_ms: i64) {
        self.victims.finished(node, container, now_ms);
        self.migrations.finished(container, now_ms);
    }
}

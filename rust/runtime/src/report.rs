//! An agent's report: its samples go to runs and cluster.

use std::collections::HashMap;
use std::sync::Arc;

use elastane_core::cluster::{Cluster, NodeEntry, NodeId};
use elastane_protocol::{BodyError, Report};

use crate::amounts::{AmountError, used, used_by_others};
use crate::foresight::Foresight;
use crate::journal::{ContainerUsage, JournalEvent, NodeUsage, Record};
use crate::ledger::Ledger;
use crate::measured_container::MeasuredContainer;
use crate::node_cpu::NodeCpu;
use crate::runs::Runs;

/// Why a report was refused; nothing of it was taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    /// A node that did not register.
    #[error("node {0} is not registered")]
    UnknownNode(String),
    /// A body that cannot be read.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// A number that no sensor can have measured.
    #[error(transparent)]
    Amount(#[from] AmountError),
}

/// The newest sample of each agent that has arrived.
#[derive(Default)]
pub(crate) struct Sequences {
    /// The run of each agent, and its newest sequence number.
    newest: HashMap<NodeId, (u64, u64)>,
}

impl Sequences {
    /// Takes the sequence of a report; gives the newest before it, 0 for the first of an agent's run.
    fn arrived(&mut self, node: NodeId, report: &Report) -> u64 {
        let newest = match self.newest.get(&node) {
            Some((run, sequence)) if *run == report.agent_run => *sequence,
            _ => 0,
        };
        let sequence = report.sequence.max(newest);
        self.newest.insert(node, (report.agent_run, sequence));
        newest
    }

    pub(crate) fn forget(&mut self, node: NodeId) {
        self.newest.remove(&node);
    }
}

/// What the samples of a report gave.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Ingested {
    /// The number of new samples.
    pub samples: u64,
    /// The number of those that had arrived before.
    pub repeated: u64,
    /// The new ones beside what was predicted.
    pub foresight: Foresight,
    /// Containers that were named to give way and do not run on the node.
    pub unknown_victims: u64,
}

/// Whether a container runs on this node: an agent says nothing of others.
pub(crate) fn runs_on(cluster: &Cluster, node: NodeId, container: &str) -> bool {
    cluster.container(container).is_some_and(|known| known.node == node)
}

/// Adds samples to the runs and accounts of their containers.
pub(crate) fn ingest(
    cluster: &mut Cluster,
    runs: &mut Runs,
    ledger: &mut Ledger,
    sequences: &mut Sequences,
    node: NodeId,
    report: &Report,
    now_ms: i64,
) -> Ingested {
    if !report.memory_victims.is_empty() {
        cluster.ran_short(node, now_ms);
    }
    let newest = sequences.arrived(node, report);
    let node_cpu = NodeCpu::of(report);
    let mut ingested = Ingested::default();
    let on_node = |cluster: &Cluster, runs: &Runs, id: &str| {
        let known = cluster.named_container(id).or_else(|| runs.departed(id));
        let (id, container) = known.filter(|(_, container)| container.node == node)?;
        Some((Arc::clone(id), container.clone()))
    };
    for victim in &report.memory_victims {
        ingested.unknown_victims += u64::from(on_node(cluster, runs, &victim.container).is_none());
    }
    for samples in &report.containers {
        let Some((id, container)) = on_node(cluster, runs, &samples.container) else {
            continue;
        };
        for sample in &samples.samples {
            if sample.sequence <= newest {
                ingested.repeated += 1;
                continue;
            }
            let end_ms = now_ms - i64::from(sample.age_ms);
            runs.add(&id, &container, sample, end_ms, &node_cpu);
            ledger.measured(&container, sample);
            ingested.foresight.add(cluster, &container, sample, end_ms);
            ingested.samples += 1;
        }
        if let Some(stages) = samples.stages {
            runs.stages_told(&id, &container, stages, now_ms);
        }
        if let Some(last) = samples.samples.last() {
            cluster.measured_memory(&id, last.usage.memory_bytes as f64);
        }
    }
    ingested
}

/// The journal's record of a report.
pub(crate) fn node_usage(
    cluster: &Cluster,
    entry: &NodeEntry,
    report: &Report,
    now_ms: i64,
) -> Record {
    let containers = report
        .containers
        .iter()
        .filter_map(|samples| {
            let container = cluster.container(&samples.container)?;
            let running = entry.node.get(container.executor)?;
            Some(ContainerUsage {
                container: samples.container.clone(),
                planned: running.expected_at(now_ms),
                measured: MeasuredContainer::of(samples)?,
            })
        })
        .collect();
    let usage = NodeUsage {
        node: entry.name.clone(),
        used: used(&report.containers_usage),
        used_by_others: used_by_others(report),
        pressure: report.pressure,
        planned: entry.node.expected_at(now_ms),
        physical: entry.node.capacity,
        booked_memory_bytes: entry.booked.memory_bytes,
        booked_vcores: entry.booked.vcores,
        containers,
    };
    Record { time_ms: now_ms, queue: None, event: JournalEvent::Node(Box::new(usage)) }
}

//! Containers that give way when a node runs short of memory.
//!
//! The agent names containers. One of them is preempted if the core's own books agree: its application
//! master is told, and after CapacityScheduler's wait the container ends, unless the agent stopped
//! naming it.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use elastane_core::cluster::{Cluster, Container, NodeEntry, NodeId};
use elastane_protocol::MemoryVictim;
use serde::Serialize;

use crate::journal::{JournalEvent, MemoryPreemption, Preemption, PreemptionOutcome, Record};
use crate::migrations::Migrations;
use crate::report::runs_on;

/// One container of a node at a time, and the next after this time: the memory of a process that ends
/// shows one or two reports later, and sooner two would end where one is enough.
const BETWEEN_ORDERS_MS: i64 = 10_000;
/// A container counts as ended when the ResourceManager orders it. Then the NodeManager kills its processes, and the agent
/// measures.
const SHOWS_WITHIN_MS: i64 = 5_000;
/// The journal gets no second record of why a container stays within this time: an agent may name it in every other report.
const JOURNALED_AGAIN_MS: i64 = 60_000;
/// An executor that was told leaves even if the shortage ends. A shortage of one report's length costs nobody an executor.
const LEAVES_AFTER_MS: i64 = 6_000;

/// An order to the ResourceManager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreemptionOrder {
    /// YARN's container id.
    pub container: String,
    /// Whether the container is to end now; otherwise its application master is told.
    pub kill: bool,
    /// The reason, in a sentence.
    pub reason: String,
}

/// The nodes that are short of memory.
#[derive(Default)]
pub(crate) struct MemoryVictims {
    nodes: BTreeMap<NodeId, Short>,
}

#[derive(Default)]
struct Short {
    chosen: Option<Chosen>,
    next_order_ms: i64,
    named_ms: i64,
    /// When the journal got the record of a container that stays.
    journaled: HashMap<String, i64>,
}

struct Chosen {
    victim: MemoryVictim,
    /// When its application master was told.
    told_ms: Option<i64>,
    /// When it was last to end.
    killed_ms: Option<i64>,
}

impl MemoryVictims {
    /// Takes the containers that a report names; gives records for the journal.
    pub(crate) fn named(
        &mut self,
        cluster: &Cluster,
        migrations: &Migrations,
        node: NodeId,
        victims: &[MemoryVictim],
        now_ms: i64,
    ) -> Vec<Record> {
        let mut records = Vec::new();
        let here = running_on(cluster, node, victims);
        if here.is_empty() && !self.nodes.contains_key(&node) {
            return records;
        }
        let short = self.nodes.entry(node).or_default();
        let mut log = |victim: &MemoryVictim, outcome, reason: String| {
            records.push(record(cluster, node, victim, outcome, reason, now_ms));
        };
        short.named_ms = now_ms;
        short.journaled.retain(|id, journaled_ms| {
            let is_recent = now_ms.saturating_sub(*journaled_ms) < JOURNALED_AGAIN_MS;
            is_recent || here.iter().any(|victim| victim.container == *id)
        });
        if let Some((spared, why)) = short.drop_settled(cluster, node, victims)
            && !migrations.leaves(&spared.container, now_ms)
        {
            log(&spared, PreemptionOutcome::Spared, why.to_owned());
        }
        let acts = may_act(cluster, node, now_ms);
        let mut choice = None;
        for victim in here.iter().copied() {
            let (outcome, reason) = match judge(cluster, node, &victim.container) {
                Ok(_) if acts => {
                    choice.get_or_insert(victim);
                    continue;
                }
                Ok(reason) => (PreemptionOutcome::Observed, reason),
                Err(why) => (PreemptionOutcome::Refused, why.to_owned()),
            };
            if let Entry::Vacant(unsaid) = short.journaled.entry(victim.container.clone()) {
                unsaid.insert(now_ms);
                log(victim, outcome, reason);
            }
        }
        if let Some(victim) = choice
            && short.chosen.is_none()
            && now_ms >= short.next_order_ms
            && !migrations.any_leaves(node, now_ms)
        {
            short.next_order_ms = now_ms.saturating_add(BETWEEN_ORDERS_MS);
            short.chosen = Some(Chosen { victim: victim.clone(), told_ms: None, killed_ms: None });
        }
        if here.is_empty() && short.journaled.is_empty() && now_ms >= short.next_order_ms {
            self.nodes.remove(&node);
        }
        records
    }

    /// The container of a node whose executor is to leave now: its application master was told some time ago, and it has to
    /// give way still.
    pub(crate) fn to_leave(
        &self,
        cluster: &Cluster,
        node: NodeId,
        now_ms: i64,
    ) -> Option<(&str, String)> {
        let chosen = self.nodes.get(&node)?.chosen.as_ref()?;
        let is_due = now_ms >= chosen.told_ms?.saturating_add(LEAVES_AFTER_MS);
        let container = chosen.victim.container.as_str();
        let reason = in_words(&chosen.victim, &judge(cluster, node, container).ok()?);
        (is_due && may_act(cluster, node, now_ms)).then_some((container, reason))
    }

    /// The orders that are due now, with `wait_ms` between telling an application master and ending its
    /// container, and longer for an executor that leaves by itself; and records for the journal.
    pub(crate) fn orders(
        &mut self,
        cluster: &Cluster,
        migrations: &Migrations,
        wait_ms: i64,
        now_ms: i64,
    ) -> (Vec<PreemptionOrder>, Vec<Record>) {
        let (mut orders, mut records) = (Vec::new(), Vec::new());
        let fresh_for_ms = cluster.settings().fresh_for_ms;
        for (node, short) in &mut self.nodes {
            let Some(chosen) = &mut short.chosen else {
                continue;
            };
            let is_fresh = now_ms.saturating_sub(short.named_ms) <= fresh_for_ms;
            // Containers may have started or ended since the report.
            let judged = judge(cluster, *node, &chosen.victim.container);
            if is_fresh
                && may_act(cluster, *node, now_ms)
                && let Ok(reason) = judged
                && let Some(kill) = chosen.next_step(cluster, migrations, wait_ms, now_ms)
            {
                let victim = &chosen.victim;
                orders.push(PreemptionOrder {
                    container: victim.container.clone(),
                    kill,
                    reason: in_words(victim, &reason),
                });
                let outcome =
                    if kill { PreemptionOutcome::Preempted } else { PreemptionOutcome::Told };
                records.push(record(cluster, *node, victim, outcome, reason, now_ms));
            }
        }
        (orders, records)
    }

    pub(crate) fn forget(&mut self, node: NodeId) {
        self.nodes.remove(&node);
    }

    /// A container ended; another one may be chosen once its memory shows in a report.
    pub(crate) fn finished(&mut self, node: NodeId, container: &str, now_ms: i64) {
        if let Some(short) = self.nodes.get_mut(&node)
            && let Some(chosen) = &short.chosen
            && chosen.victim.container == container
        {
            short.chosen = None;
            let shows_ms = now_ms.saturating_add(SHOWS_WITHIN_MS);
            short.next_order_ms = short.next_order_ms.max(shows_ms);
        }
    }
}

impl Short {
    /// Updates the chosen container; gives it, and the reason, where it no longer has to give way.
    fn drop_settled(
        &mut self,
        cluster: &Cluster,
        node: NodeId,
        victims: &[MemoryVictim],
    ) -> Option<(MemoryVictim, &'static str)> {
        let chosen = self.chosen.as_mut()?;
        let is_it = |victim: &&MemoryVictim| victim.container == chosen.victim.container;
        let why = match victims.iter().find(is_it) {
            None => "the agent no longer asks that it give way",
            Some(named) => {
                chosen.victim = named.clone();
                judge(cluster, node, &named.container).err()?
            }
        };
        self.chosen.take().map(|chosen| (chosen.victim, why))
    }
}

impl Chosen {
    /// Whether the container is to end; none when nothing is due now.
    fn next_step(
        &mut self,
        cluster: &Cluster,
        migrations: &Migrations,
        wait_ms: i64,
        now_ms: i64,
    ) -> Option<bool> {
        let Some(told_ms) = self.told_ms else {
            self.told_ms = Some(now_ms);
            return Some(false);
        };
        let due_ms = match self.killed_ms {
            None => migrations.until_ms(
                cluster,
                &self.victim.container,
                told_ms.saturating_add(wait_ms),
            ),
            Some(killed_ms) => killed_ms.saturating_add(BETWEEN_ORDERS_MS),
        };
        (now_ms >= due_ms).then(|| {
            self.killed_ms = Some(now_ms);
            true
        })
    }
}

fn in_words(victim: &MemoryVictim, reason: &str) -> String {
    format!("the node is short of {} bytes of memory: {reason}", victim.short_bytes)
}

/// Whether a container may be preempted there: the core decides, or did so when it booked more than there is.
fn may_act(cluster: &Cluster, node: NodeId, now_ms: i64) -> bool {
    let holds_too_much = cluster.node(node).is_some_and(NodeEntry::has_come_down_overbooked);
    cluster.decides(node, now_ms) || holds_too_much
}

/// The named containers that run on the node, each once. An agent may name others without end, so nothing is kept or
/// journaled of them; [`ingest`](crate::report::ingest) counts them.
fn running_on<'a>(
    cluster: &Cluster,
    node: NodeId,
    victims: &'a [MemoryVictim],
) -> Vec<&'a MemoryVictim> {
    let mut seen = HashSet::new();
    let is_new_here = |victim: &&'a MemoryVictim| {
        runs_on(cluster, node, &victim.container) && seen.insert(victim.container.as_str())
    };
    victims.iter().filter(is_new_here).collect()
}

/// The reason why a container may be preempted, or why not.
fn judge(cluster: &Cluster, node: NodeId, container: &str) -> Result<String, &'static str> {
    if !runs_on(cluster, node, container) {
        return Err("it does not run on this node");
    }
    let overcommitted = cluster.overcommitted(node);
    let is_it = |(id, _): &&(&str, &Container)| *id == container;
    let Some((_, victim)) = overcommitted.iter().find(is_it) else {
        let why = "its request and those of containers that started earlier fit the node's \
                   registered memory";
        return Err(why);
    };
    let is_master = |container: &Container| container.kind.is_application_master();
    if is_master(victim) && overcommitted.iter().any(|(_, other)| !is_master(other)) {
        let why = "it is an application master, and other containers exceed the node's registered \
                   memory";
        return Err(why);
    }
    let entry = cluster.node(node);
    let registered_bytes = entry.map_or(0, |entry| entry.registered.memory_bytes);
    Ok(format!(
        "containers that started earlier leave no room for its request of {} bytes in the node's \
         registered {registered_bytes} bytes",
        victim.request.memory_bytes
    ))
}

fn record(
    cluster: &Cluster,
    node: NodeId,
    victim: &MemoryVictim,
    outcome: PreemptionOutcome,
    reason: String,
    now_ms: i64,
) -> Record {
    let node = cluster.node(node);
    let container = cluster.container(&victim.container);
    let application = container.and_then(|it| cluster.application(it.application));
    let preemption = MemoryPreemption {
        node: node.map(|entry| entry.name.clone()).unwrap_or_default(),
        container: victim.container.clone(),
        application: application.map(|application| application.id.clone()),
        outcome,
        resident_bytes: victim.resident_bytes,
        short_bytes: victim.short_bytes,
        reason,
    };
    let event = JournalEvent::Preemption(Box::new(Preemption::ForMemory(preemption)));
    let queue = application.map(|application| application.queue.to_string());
    Record { time_ms: now_ms, queue, event }
}

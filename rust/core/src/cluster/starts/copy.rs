//! The copy of the cluster that a search of starts reads.

use std::collections::HashMap;

use super::search::{NodeToPlan, PLANNED_AHEAD_SLOTS, StartSearch, ToStart};
use crate::by_plan::ByPlan;
use crate::cluster::Cluster;
use crate::cluster::bookable::at_limit;
use crate::cluster::patience::{urgency, waits_for_others};
use crate::cluster::ranking::{Contender, Contest, Scores};
use crate::cluster::state::{ApplicationId, NodeId, Observed};
use crate::cluster::waiting::{Line, Note, Row, Screened};
use crate::left_sums::LeftSums;
use crate::slot_of;
use crate::timeline::overdue_by;

/// Number of applications of one queue that are planned. The first of them hold their starts against those
/// behind ([`ByPlan::planned_ahead`]).
const APPLICATIONS_OF_A_QUEUE: usize = 32;

/// Number of applications that are planned.
const APPLICATIONS: usize = 256;

/// An application that CapacityScheduler has skipped for this long, and placed nowhere, is kept from nodes by
/// something that the core does not know, such as limits, locality or blacklists.
const IN_VAIN_AFTER_MS: i64 = 10_000;

impl StartSearch {
    /// What a search that begins now reads; none if the policy does not plan, or nothing changed since the
    /// latest search.
    pub fn of(cluster: &mut Cluster, now_ms: i64) -> Option<Self> {
        let by = cluster.policy.by_plan().filter(|by| by.plans_starts())?;
        let compared = cluster.starts.begin(&cluster.state, &cluster.waiting, now_ms)?;
        let mut nodes = Vec::with_capacity(compared.len());
        for node in compared {
            if cluster.decides(node, now_ms)
                && let Some(entry) = cluster.state.nodes.get_mut(node).filter(|it| !it.is_draining)
            {
                entry.plan.refresh_left(&mut entry.node, now_ms);
                let running = entry.node.running();
                nodes.push(NodeToPlan {
                    node,
                    free: entry.free(cluster.settings.virtual_cores_count),
                    capacity: entry.node.capacity,
                    left: LeftSums::up_to(PLANNED_AHEAD_SLOTS, entry.plan.left()),
                    overdue: running.filter_map(|it| overdue_by(it, slot_of(now_ms))).collect(),
                });
            }
        }
        let on = nodes.first().map(|on| on.node);
        let contenders = on.and_then(|on| in_order(cluster, by, on, now_ms)).unwrap_or_default();
        let waiting = to_start(cluster, by, &contenders, &nodes, now_ms);
        Some(Self { now_ms, slot: slot_of(now_ms), peaks: by.peaks, nodes, waiting })
    }
}

/// The first applications of each queue, with their places in it: the first of all queues, then the second of all,
/// and so on. `on` is the node by whose size they are ranked.
fn in_order(
    cluster: &mut Cluster,
    by: ByPlan,
    on: NodeId,
    now_ms: i64,
) -> Option<Vec<(usize, Contender)>> {
    let Cluster { settings, state, waiting, .. } = cluster;
    let entry = state.nodes.get(on)?;
    let short_of_memory = waiting.queues_short_of_memory();
    let mut contest = Contest::new(APPLICATIONS_OF_A_QUEUE, waiting.queue_count());
    let Screened { lines, predicted, screen, .. } = waiting.screened(entry, by.peaks);
    let scores = Scores::new(by, entry.plan.left(), screen);
    let may_start = |row: Row, line: &Line| {
        let is_in_vain = line
            .skipped_since_ms
            .is_some_and(|since_ms| now_ms.saturating_sub(since_ms) >= IN_VAIN_AFTER_MS);
        let life = || screen.life(row);
        line.is_ordered
            && !line.asks_countables
            && !line.user_at_limit
            && !is_in_vain
            && life().is_some()
            && !waits_for_others(line, short_of_memory.as_deref(), settings, life, now_ms)
    };
    for (row, line) in lines.iter().enumerate().filter(|(row, line)| may_start(*row, line)) {
        let urgency = urgency(line, || screen.life(row), now_ms);
        let need = || entry.need(predicted[row].as_ref(), line.request);
        contest.offer(row, line, urgency, &scores, need);
    }
    let mut places: HashMap<usize, usize> = HashMap::new();
    let of_queue = contest.in_order().into_iter().map(|contender| {
        let place = places.entry(contender.queue).or_default();
        *place += 1;
        (*place, contender)
    });
    let mut in_order: Vec<_> = of_queue.collect();
    in_order.sort_unstable();
    in_order.truncate(APPLICATIONS);
    Some(in_order)
}

fn to_start(
    cluster: &Cluster,
    by: ByPlan,
    contenders: &[(usize, Contender)],
    nodes: &[NodeToPlan],
    now_ms: i64,
) -> Vec<ToStart> {
    let kept = cluster.keeper.kept(&cluster.waiting);
    let resting: Vec<Vec<ApplicationId>> = nodes
        .iter()
        .map(|node| cluster.skips.resting(node.node, &cluster.waiting, now_ms))
        .collect();
    let to_start = contenders.iter().filter_map(|(place, contender)| {
        let application = contender.application();
        let line = cluster.waiting.line(contender.row);
        let predicted = cluster.state.applications.get(&application)?.demands.of(line.kind)?;
        let mut limits = Limits::new(cluster, application);
        let may_go_to = nodes.iter().zip(&resting).map(|(node, resting)| {
            let rests = resting.binary_search(&application).is_ok();
            let is_kept_for_another =
                kept.is_some_and(|kept| kept.node == node.node && kept.application != application);
            let is_kept_out = cluster.node(node.node).is_some_and(|entry| {
                entry.keeps_out(Observed::default(), line.request, now_ms).is_some()
            });
            !rests && !is_kept_for_another && !is_kept_out && limits.admit(line, node.node)
        });
        Some(ToStart {
            contender: *contender,
            predicted: predicted.clone(),
            request: line.request,
            containers: line.executors,
            may_go_to: may_go_to.collect(),
            is_first: *place <= by.planned_ahead as usize,
        })
    });
    to_start.collect()
}

/// The limits that the core knows of one application.
struct Limits<'a> {
    cluster: &'a Cluster,
    application: ApplicationId,
    /// Whether it is at a limit on nodes with this label.
    by_label: Vec<(&'a str, bool)>,
}

impl<'a> Limits<'a> {
    fn new(cluster: &'a Cluster, application: ApplicationId) -> Self {
        Self { cluster, application, by_label: Vec::new() }
    }

    /// Whether the next container may run on a node, by its size, its label and the limits.
    fn admit(&mut self, line: &Line, node: NodeId) -> bool {
        let Cluster { settings, state, bookable, waiting, .. } = self.cluster;
        let Some(entry) = state.nodes.get(node) else {
            return false;
        };
        if !line.request.fits_into(entry.registered_size(settings.virtual_cores_count)) {
            return false;
        }
        let label = &*entry.label;
        let asked = state.applications.get(&self.application).map_or("", |it| &*it.label);
        // CapacityScheduler lends nodes with a label that is not exclusive to those that ask for none.
        let is_lent = asked.is_empty() && bookable.shares.is_label_shared(label);
        if asked != label && !is_lent {
            return false;
        }
        let known = self.by_label.iter().find(|(known, _)| *known == label);
        let is_at_limit = known.map(|(_, is_at_limit)| *is_at_limit).unwrap_or_else(|| {
            let shares = &bookable.shares;
            let note = at_limit(settings, shares, state, waiting, self.application, node);
            // A queue yields for now, and on full nodes only.
            let is_at_limit = note.is_some_and(|note| !matches!(note, Note::Yields { .. }));
            self.by_label.push((label, is_at_limit));
            is_at_limit
        });
        !is_at_limit
    }
}

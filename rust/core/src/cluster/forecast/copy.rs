//! Takes the copy that a forecast reads.

use std::cmp::Reverse;

use super::room::{Load, Room};
use super::{End, ExpectedStart, StartForecast, Waits};
use crate::amounts::Amounts;
use crate::cluster::Cluster;
use crate::cluster::bookable::{
    Booked, held_and_guaranteed, left_for_queues, left_for_user, next_of,
};
use crate::cluster::starts::{LATE_PART, PlannedStart};
use crate::cluster::state::{Application, ApplicationId, Ask, NodeEntry, NodeId, Request};
use crate::fit::Peaks;
use crate::running::Running;

/// The shortest time for which a container without a predicted end is expected to go on, in milliseconds.
const SHORTEST_ROUGH_MS: i64 = 60_000;

/// More than any amount, where CapacityScheduler does not count one.
const UNCOUNTED: i64 = i64::MAX / 4;

impl StartForecast {
    /// The whole copy at once, for owners without other threads.
    pub fn of(cluster: &Cluster, now_ms: i64) -> Self {
        let mut forecast = Self::new(cluster, now_ms);
        cluster.nodes().for_each(|(node, _)| forecast.add_node(cluster, node));
        for (id, application) in cluster.applications() {
            if let Some(ask) = application.waiting.or(application.held) {
                forecast.add_waiting(cluster, id, &ask);
            }
        }
        forecast
    }

    /// Adds a node and what runs there. Nodes come before what waits.
    pub fn add_node(&mut self, cluster: &Cluster, node: NodeId) {
        let Some(entry) = cluster.node(node) else {
            return;
        };
        let counts = cluster.settings.virtual_cores_count;
        let room = self.rooms.len();
        let label = self.accounts.label(&entry.label);
        if label == self.examples.len() {
            self.examples.push(node);
        }
        let shares = &cluster.bookable.shares;
        let is_open = entry.label.is_empty() || shares.is_label_shared(&entry.label);
        let mut left = cluster.decides(node, self.now_ms).then(|| {
            let peaks = cluster.policy.by_plan().map_or(Peaks::Strict, |by| by.peaks);
            let capacity = Amounts::rounded_down(entry.node.capacity);
            capacity.plus(peaks.allowed_excess_of(capacity))
        });
        for (_, container) in cluster.state.containers_on(entry) {
            let Some(running) = entry.node.get(container.executor) else {
                continue;
            };
            let queue = self.accounts.queue(&container.taken_by.queue);
            let account = self.open(cluster, &container.taken_by.queue, queue, (label, entry));
            let user = self.accounts.user(queue, &container.taken_by.user);
            let booked = container.request.bookable(counts).into();
            let load = Load { booked, mean: container.taken_by.planned };
            left = left.map(|left| left.minus(load.mean));
            let (at_ms, is_rough) = end_of(running, self.now_ms);
            let is_master = container.kind.is_application_master();
            self.ends.push(End { at_ms, is_rough, room, load, account, user, is_master });
        }
        // Below zero where more is booked than the node's size by now.
        let unbooked = |size: Request| {
            let booked = Booked::from(entry.booked.bookable(counts));
            Booked::from(size.bookable(counts)).minus(booked)
        };
        self.rooms.push(Room {
            label,
            is_open,
            is_draining: entry.is_draining,
            free: unbooked(entry.bookable_size(counts)),
            registered: unbooked(entry.registered),
            left,
            rough: Load::default(),
        });
    }

    /// Adds an application that waits or is held, with what its queue and its user may still take on nodes like the
    /// first of each label.
    pub fn add_waiting(&mut self, cluster: &Cluster, id: ApplicationId, ask: &Ask) {
        let Some(application) = cluster.application(id) else {
            return;
        };
        if !application.countables.is_empty() {
            return;
        }
        let label = match &application.label {
            none if none.is_empty() => None,
            label => match self.accounts.known_label(label) {
                // No node has it.
                None => return,
                known => known,
            },
        };
        let queue = self.accounts.queue(&application.queue);
        let user = self.accounts.user(queue, &application.user);
        let predicted = application.demands.of(ask.kind);
        let mut load = None;
        for label in 0..self.examples.len() {
            if let Some(entry) = cluster.node(self.examples[label]) {
                let account = self.open(cluster, &application.queue, queue, (label, entry));
                self.open_user(cluster, (application, ask), entry, (account, user));
                load.get_or_insert_with(|| Load {
                    booked: ask.request.bookable(cluster.settings.virtual_cores_count).into(),
                    mean: entry.planned_mean(predicted, ask.request),
                });
            }
        }
        let Some(load) = load else {
            return;
        };
        let planned = PlannedStart::of(cluster, id).map(|start| {
            let at_ms = start.first_ms.max(self.now_ms);
            ExpectedStart { at_ms, is_rough: false }
        });
        let planned_ms = planned.map_or(i64::MAX, |start| start.at_ms);
        self.waiting.push(Waits {
            application: id,
            rank: (Reverse(ask.priority), planned_ms, application.submitted_ms, id),
            planned,
            since_ms: application.waiting_since_ms,
            load,
            label,
            containers: ask.count,
            length_ms: predicted.and_then(|it| it.demand.duration_ms()),
            queue,
            user,
            is_held: application.held.is_some(),
            is_master: ask.kind.is_application_master(),
        });
    }

    /// The account of a leaf queue on nodes with the label of this one.
    fn open(
        &mut self,
        cluster: &Cluster,
        path: &str,
        queue: usize,
        (label, entry): (usize, &NodeEntry),
    ) -> usize {
        self.accounts.known(queue, label).unwrap_or_else(|| {
            let shares = &cluster.bookable.shares;
            let held = held_and_guaranteed(shares, path, &entry.label);
            let left = left_for_queues(shares, path, &entry.label);
            let left = left.map(|(path, left)| (path, counted(cluster, left)));
            self.accounts.open((queue, label), held, left)
        })
    }

    fn open_user(
        &mut self,
        cluster: &Cluster,
        (application, ask): (&Application, &Ask),
        entry: &NodeEntry,
        account_and_user: (usize, usize),
    ) {
        let Cluster { settings, bookable, waiting, .. } = cluster;
        self.accounts.open_user(account_and_user, || {
            let next = next_of(settings, waiting, application, ask, entry);
            left_for_user(&bookable.shares, &next).map(|left| counted(cluster, left))
        });
    }
}

/// Without the limit of what CapacityScheduler does not count.
fn counted(cluster: &Cluster, left: Booked) -> Booked {
    match cluster.settings.virtual_cores_count {
        true => left,
        false => Booked { millivcores: UNCOUNTED, ..left },
    }
}

/// When a container ends, and whether that is not predicted: then it is taken to be in the middle of its life.
fn end_of(running: &Running, now_ms: i64) -> (i64, bool) {
    let has_run_ms = now_ms.saturating_sub(running.start_ms).max(0);
    let Some(length_ms) = running.demand.duration_ms() else {
        return (now_ms.saturating_add(has_run_ms.max(SHORTEST_ROUGH_MS)), true);
    };
    let left_ms = length_ms.saturating_sub(has_run_ms);
    (now_ms.saturating_add(left_ms.max(-left_ms / LATE_PART as i64).max(1)), false)
}

//! The ResourceManager: reports events to the core and places the containers that the core names.

mod following;
mod waking;

use std::collections::VecDeque;
use std::sync::Arc;

use elastane_core::cluster::{
    Application, ApplicationId, Ask, Commit, CommitRequest, NodeId, Predicted, Request,
};
use elastane_core::fit::Peaks;
use elastane_core::{Cluster, ContainerKind};

use super::agenda::Piece;
use super::corrections::Corrections;
use super::earliest::Earliest;
use super::kinds::Kinds;
use super::machine::Machine;
use super::outlook::Computed;
use super::policies::PolicyToSimulate;
use super::room::Room;
use super::settings::Settings;
use crate::workload::{ApplicationSpec, Workload};

const QUEUE: &str = "root.default";

/// The state of the ResourceManager.
pub(super) struct ResourceManager {
    cluster: Cluster,
    nodes: Vec<NodeId>,
    /// The nodes' room by request.
    rooms: Vec<Room>,
    applications: Vec<Known>,
    /// By the core's number, the place in the workload.
    places: Vec<usize>,
    kinds: Kinds,
    earliest: Earliest,
    computed: Computed,
    bookable_ratio: f64,
    /// The rule for coinciding peaks; None if the policy does not fit by predictions.
    peaks: Option<Peaks>,
    margin: f64,
    starvation_wait_ms: i64,
    /// The number of waiting executors.
    pub(super) waiting: u64,
    /// Corrections of running containers.
    pub(super) corrections: Corrections,
}

/// One application.
#[derive(Debug, Clone, Default)]
struct Known {
    id: Option<ApplicationId>,
    /// Executors that were asked for and wait for a container.
    asked: VecDeque<Piece>,
    /// How many containers were started for it.
    containers: u32,
    since_ms: i64,
}

/// A container that was placed.
pub(super) struct Placed {
    pub(super) application: usize,
    pub(super) piece: Piece,
    pub(super) container: String,
}

impl ResourceManager {
    pub(super) fn new(workload: &Workload, policy: PolicyToSimulate, settings: &Settings) -> Self {
        let cluster_settings = settings.cluster(policy.books_as_registered);
        let policy = policy.policy;
        let peaks = policy.by_plan().map(|by| by.peaks);
        let bookable_ratio = cluster_settings.max_ratio;
        let most_booked = policy
            .most_booked()
            .map_or(bookable_ratio, |most| most.min(bookable_ratio));
        let mut cluster = Cluster::new(cluster_settings, policy);
        // Which node would be kept depends on when rounds are asked for, and some are left out.
        cluster.keep_no_nodes();
        if let Some(reprovisioning) = settings.following.reprovisioning {
            cluster.reprovision_by(reprovisioning);
        }
        let machines = workload.machines.iter().enumerate();
        let (nodes, rooms) = machines
            .map(|(number, capacity)| {
                let registered = Request {
                    memory_bytes: capacity.memory_bytes as u64,
                    vcores: capacity.cpu_cores as u32,
                };
                let node = cluster.node_added(&format!("node-{}:0", number + 1), registered);
                cluster.reported(node, *capacity, 0);
                (node, Room::new(registered, most_booked))
            })
            .unzip();
        cluster.bookable_changes(usize::MAX, 0);
        let kinds = Kinds::new(&workload.applications, settings.margin);
        // Whoever does not fit by predictions is not asked when something may.
        let kinds_known = peaks.map_or(0, |_| kinds.count());
        Self {
            cluster,
            earliest: Earliest::new(workload.machines.len(), kinds_known),
            computed: Computed::default(),
            nodes,
            rooms,
            applications: vec![Known::default(); workload.applications.len()],
            places: Vec::new(),
            kinds,
            bookable_ratio,
            peaks,
            margin: settings.margin,
            starvation_wait_ms: settings.starvation_wait_ms,
            waiting: 0,
            corrections: Corrections::default(),
        }
    }

    /// An application is submitted.
    pub(super) fn submitted(&mut self, place: usize, spec: &ApplicationSpec, now_ms: i64) {
        let predicted = spec.predicted.as_ref().map(|demand| Predicted {
            demand: demand.clone(),
            margin: self.margin,
            profile: Arc::from(spec.name.as_str()),
        });
        let demands = predicted
            .map(|predicted| (ContainerKind::DEFAULT_EXECUTOR, predicted))
            .into_iter()
            .collect();
        let id = format!("application_0_{:04}", place + 1);
        let application = Application::new(&id, &spec.name, QUEUE, demands, now_ms);
        let id = self.cluster.application_added(application);
        let number = id.0 as usize;
        if self.places.len() <= number {
            self.places.resize(number + 1, place);
        }
        self.places[number] = place;
        self.applications[place].id = Some(id);
    }

    /// The number of kinds of applications.
    pub(super) fn kinds(&self) -> usize {
        self.kinds.count()
    }

    /// Whether an application of this kind waits.
    pub(super) fn waits(&self, kind: usize) -> bool {
        self.kinds.kind(kind).waits_since_ms().is_some()
    }

    /// It asks for more executors; returns the number of its kind where none of it waited before.
    pub(super) fn asked(
        &mut self,
        place: usize,
        spec: &ApplicationSpec,
        pieces: impl IntoIterator<Item = Piece>,
        now_ms: i64,
    ) -> Option<usize> {
        let known = &mut self.applications[place];
        let before = known.asked.len();
        known.asked.extend(pieces);
        let more = known.asked.len() - before;
        self.waiting += more as u64;
        let begins = before == 0 && more > 0;
        if begins {
            known.since_ms = now_ms;
        }
        self.tell_pending(place, spec, now_ms);
        let is_new = begins && self.kinds.begins_to_wait(place, now_ms);
        is_new.then(|| self.kinds.number_of(place))
    }

    /// The next container that goes to a node, as the leaf queue walks the core's order.
    pub(super) fn assign(
        &mut self,
        node: usize,
        specs: &[ApplicationSpec],
        now_ms: i64,
    ) -> Option<Placed> {
        let id = self.nodes[node];
        let order = self.cluster.round(id, self.free(id), now_ms)?;
        for application in order {
            let place = self.places[application.0 as usize];
            let spec = &specs[place];
            let known = &mut self.applications[place];
            let container = format!("container_0_{:04}_{:06}", place + 1, known.containers + 1);
            let commit = CommitRequest {
                container: &container,
                application,
                node: id,
                kind: ContainerKind::DEFAULT_EXECUTOR,
                request: spec.request,
                may_refuse: true,
                start_ms: now_ms,
            };
            if !matches!(self.cluster.commit(commit, now_ms), Commit::Placed(_)) {
                continue;
            }
            let Some(piece) = known.asked.pop_front() else {
                self.cluster.finished(&container);
                continue;
            };
            known.containers += 1;
            let since_ms = std::mem::replace(&mut known.since_ms, now_ms);
            self.waiting -= 1;
            self.kinds.waits_no_more(place, since_ms);
            if !known.asked.is_empty() {
                self.kinds.begins_to_wait(place, now_ms);
            }
            self.tell_pending(place, spec, now_ms);
            self.rooms[node].book(spec.request);
            self.earliest.forget(node);
            return Some(Placed {
                application: place,
                piece,
                container,
            });
        }
        None
    }

    /// A node told that a container ended.
    pub(super) fn finished(&mut self, node: usize, container: &str) {
        if let Some(finished) = self.cluster.finished(container) {
            self.rooms[node].free(finished.request);
            self.earliest.forget(node);
        }
    }

    /// An application's last container ended.
    pub(super) fn ended(&mut self, place: usize) {
        if let Some(id) = self.applications[place].id.take() {
            self.cluster.application_removed(id);
        }
    }

    /// What a node's agent reports of its containers.
    pub(super) fn measured(&mut self, machine: &Machine) {
        for executor in machine.executors() {
            let memory_bytes = executor.demand.memory_bytes;
            self.cluster
                .measured_memory(&executor.container, memory_bytes);
        }
    }

    /// Whether a container's request has to fit beside what is booked, whatever else is said of it.
    pub(super) fn is_by_request(&self) -> bool {
        self.bookable_ratio <= 1.0
    }

    /// The next moment after `now_ms` at which an application will have waited for `wait_ms`.
    pub(super) fn next_waited(&self, wait_ms: i64, now_ms: i64) -> Option<i64> {
        let waits_less_from = now_ms.saturating_sub(wait_ms);
        let waiting = self.kinds.waiting();
        waiting
            .filter_map(|(_, kind)| kind.first_after_ms(waits_less_from))
            .min()
            .map(|since_ms| since_ms.saturating_add(wait_ms))
    }

    /// What CapacityScheduler may still hand out on a node.
    fn free(&self, node: NodeId) -> Request {
        let Some(entry) = self.cluster.node(node) else {
            return Request::default();
        };
        let (registered, booked) = (entry.registered, entry.booked);
        let memory_bytes = (registered.memory_bytes as f64 * self.bookable_ratio) as u64;
        let vcores = (f64::from(registered.vcores) * self.bookable_ratio) as u32;
        Request {
            memory_bytes: memory_bytes.saturating_sub(booked.memory_bytes),
            vcores: vcores.saturating_sub(booked.vcores),
        }
    }

    fn tell_pending(&mut self, place: usize, spec: &ApplicationSpec, now_ms: i64) {
        let known = &self.applications[place];
        if let Some(id) = known.id {
            let ask = Ask {
                kind: ContainerKind::DEFAULT_EXECUTOR,
                priority: 0,
                request: spec.request,
                count: known.asked.len() as u32,
            };
            self.cluster.pending(id, ask, now_ms);
        }
    }
}

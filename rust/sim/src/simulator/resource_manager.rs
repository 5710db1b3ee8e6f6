//! The ResourceManager's part: it tells the core what happens and places what the core names.

use std::collections::VecDeque;
use std::sync::Arc;

use elastane_core::cluster::{
    Application, ApplicationId, Ask, Commit, CommitRequest, Demands, NodeId, Predicted, Request,
};
use elastane_core::fit::Peaks;
use elastane_core::policy::Policy;
use elastane_core::{Cluster, Resource, SLOT_MS};

use super::agenda::Piece;
use super::kinds::{Kind, Kinds};
use super::machine::Machine;
use super::outlook::Outlook;
use super::settings::Settings;
use crate::workload::{ApplicationSpec, Workload};

const QUEUE: &str = "root.default";

/// What the ResourceManager knows.
pub(super) struct ResourceManager {
    cluster: Cluster,
    nodes: Vec<NodeId>,
    applications: Vec<Known>,
    /// By the core's number, the place in the workload.
    places: Vec<usize>,
    kinds: Kinds,
    bookable_ratio: f64,
    /// What becomes of peaks that meet; none where the policy does not fit by predictions.
    peaks: Option<Peaks>,
    margin: f64,
    starvation_wait_ms: i64,
    /// How many executors wait in all.
    pub(super) waiting: u64,
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
    pub(super) fn new(workload: &Workload, policy: Box<dyn Policy>, settings: &Settings) -> Self {
        let cluster_settings = settings.cluster(policy.as_ref());
        let peaks = policy.by_plan().map(|by| by.peaks);
        let mut cluster = Cluster::new(cluster_settings, policy);
        // Which node would be kept depends on when rounds are asked for, and some are left out.
        cluster.keep_no_nodes();
        let machines = workload.machines.iter().enumerate();
        let nodes = machines
            .map(|(number, capacity)| {
                let registered = Request {
                    memory_bytes: capacity.memory_bytes as u64,
                    vcores: capacity.cpu_cores as u32,
                };
                let node = cluster.node_added(&format!("node-{}:0", number + 1), registered);
                cluster.reported(node, *capacity, 0);
                node
            })
            .collect();
        cluster.bookable_changes(usize::MAX, 0);
        Self {
            cluster,
            nodes,
            applications: vec![Known::default(); workload.applications.len()],
            places: Vec::new(),
            kinds: Kinds::new(&workload.applications, settings.margin),
            bookable_ratio: cluster_settings.max_ratio,
            peaks,
            margin: settings.margin,
            starvation_wait_ms: settings.starvation_wait_ms,
            waiting: 0,
        }
    }

    /// An application comes.
    pub(super) fn submitted(&mut self, place: usize, spec: &ApplicationSpec, now_ms: i64) {
        let predicted = spec.predicted.as_ref().map(|demand| Predicted {
            demand: demand.clone(),
            margin: self.margin,
            profile: Arc::from(spec.name.as_str()),
        });
        let demands = Demands {
            application_master: None,
            executor: predicted,
        };
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

    /// It asks for more executors; returns whether none that is alike to a node waited before.
    pub(super) fn asked(
        &mut self,
        place: usize,
        spec: &ApplicationSpec,
        pieces: impl IntoIterator<Item = Piece>,
        now_ms: i64,
    ) -> bool {
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
        begins && self.kinds.begins_to_wait(place)
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
                application_master: false,
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
            known.since_ms = now_ms;
            self.waiting -= 1;
            if known.asked.is_empty() {
                self.kinds.waits_no_more(place);
            }
            self.tell_pending(place, spec, now_ms);
            return Some(Placed {
                application: place,
                piece,
                container,
            });
        }
        None
    }

    /// A node told that a container ended.
    pub(super) fn finished(&mut self, container: &str) {
        self.cluster.finished(container);
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

    /// From when on something that waits may go to a node; none where nothing does before something
    /// starts or ends there, or something else waits.
    pub(super) fn may_place_from(&self, node: usize, now_ms: i64) -> Option<i64> {
        self.may_take_from(node, self.kinds.waiting(), now_ms)
    }

    /// The same of one application's containers.
    pub(super) fn may_place_one_from(&self, place: usize, node: usize, now_ms: i64) -> Option<i64> {
        self.may_take_from(node, [self.kinds.of(place)], now_ms)
    }

    fn may_take_from<'a>(
        &'a self,
        node: usize,
        kinds: impl IntoIterator<Item = &'a Kind>,
        now_ms: i64,
    ) -> Option<i64> {
        let mut kinds = kinds.into_iter();
        if self.is_by_request() {
            let free = self.free(self.nodes[node]);
            let has_room = kinds.any(|kind| kind.request.fits_into(free));
            return has_room.then_some(now_ms);
        }
        let Some(peaks) = self.peaks else {
            return Some(now_ms);
        };
        let entry = self.cluster.node(self.nodes[node])?;
        let capacity = entry.node.capacity;
        let outlook = Outlook::new(&entry.node, peaks.may_pass(capacity), now_ms);
        let mut slots = outlook.end();
        let mut starves_ms = None;
        for kind in kinds {
            let Some(needed) = &kind.needed else {
                return Some(now_ms);
            };
            let cores = needed[Resource::Cpu as usize].iter();
            let most_cores = cores.copied().fold(0.0, f64::max).min(capacity.cpu_cores);
            let in_every_slot = peaks.in_every_slot(most_cores, capacity);
            slots = outlook.first_fit(needed, in_every_slot, slots);
            if slots == 0 {
                return Some(now_ms);
            }
            if entry.has_room_by_request(kind.request) {
                let of_kind = self.starves_from(kind);
                starves_ms = [starves_ms, of_kind].into_iter().flatten().min();
            }
        }
        let slot_ms = i64::from(SLOT_MS);
        let fits_ms = (now_ms.div_euclid(slot_ms) + slots as i64) * slot_ms;
        let fits_ms = (slots < outlook.end()).then_some(fits_ms);
        [fits_ms, starves_ms].into_iter().flatten().min()
    }

    /// From when on the first application of a kind passes by request.
    fn starves_from(&self, kind: &Kind) -> Option<i64> {
        let applications = self.applications.iter().enumerate();
        applications
            .filter(|(place, known)| {
                !known.asked.is_empty() && std::ptr::eq(self.kinds.of(*place), kind)
            })
            .map(|(_, known)| known.since_ms.saturating_add(self.starvation_wait_ms))
            .min()
    }

    /// The next moment after `now_ms` at which an application will have waited for `wait_ms`.
    pub(super) fn next_waited(&self, wait_ms: i64, now_ms: i64) -> Option<i64> {
        self.applications
            .iter()
            .filter(|known| !known.asked.is_empty())
            .map(|known| known.since_ms.saturating_add(wait_ms))
            .filter(|at_ms| *at_ms > now_ms)
            .min()
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
                application_master: false,
                priority: 0,
                request: spec.request,
                count: known.asked.len() as u32,
            };
            self.cluster.pending(id, ask, now_ms);
        }
    }
}

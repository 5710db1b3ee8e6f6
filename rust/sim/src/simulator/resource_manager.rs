//! The ResourceManager: passes events on to the service that production runs, and places the containers
//! that the service names.

mod agent;
mod bookable;
mod waking;

pub(super) use agent::measured;

use std::collections::{BTreeMap, VecDeque};

use elastane_core::by_plan::ByPlan;
use elastane_core::cluster::{
    ApplicationId, Ask, CommitRequest, Demands, NodeId, Request, Standing, StartNeeds, plan_starts,
    read_by_planning, read_by_round,
};
use elastane_core::reprovision::Reprovisioned;
use elastane_core::{ClusterSettings, ContainerKind};
use elastane_runs::SubmissionRecord;
use elastane_runtime::{Deadline, Service};

use super::agenda::Piece;
use super::forecasts::Forecasts;
use super::kinds::Kinds;
use super::masters::MastersLimits;
use super::policies::PolicyToSimulate;
use super::queues::Queues;
use super::settings::Settings;
use crate::workload::{ApplicationSpec, Workload};

/// More than the core allows booked requests to exceed a policy's bound, as a fraction.
const TOLERANCE: f64 = 1e-6;

/// The state of the ResourceManager.
pub(super) struct ResourceManager {
    service: Service,
    /// The policy places nothing where more than this multiple of the registered size would be booked.
    most_booked: f64,
    plans_starts: bool,
    /// Whether the nodes' bookable capacity and the queues' limits follow demand, as in production.
    follows_demand: bool,
    queues: Queues,
    /// Whether a limit or the order of queues depends on what may be booked.
    reads_bookable: bool,
    /// What the nodes may book in all, when their bookable capacity was last read.
    bookable: Request,
    applications: Vec<KnownApplication>,
    /// By the service's number, the place in the workload.
    places: Vec<usize>,
    kinds: Kinds,
    /// By machine and kind, the slot from the start of the run before which no container of the kind fits
    /// the node; 0 where no search was made. It holds until an executor starts or ends there, so that the
    /// search is not repeated whenever a kind begins to wait. Empty where the policy does not fit by the plan.
    earliest: Vec<Vec<u32>>,
    /// By kind, the needs of its containers; dropped when none of the kind waits.
    needs: Vec<StartNeeds>,
    /// The number of waiting executors.
    pub(super) waiting: u64,
    /// Corrections of running containers.
    pub(super) reprovisioned: Vec<Reprovisioned>,
    pub(super) forecasts: Forecasts,
}

/// One application.
#[derive(Debug, Clone, Default)]
struct KnownApplication {
    id: Option<ApplicationId>,
    /// Executors that were asked for and wait for a container.
    asked: VecDeque<Piece>,
    /// The number of containers that were started for it.
    containers: u32,
    since_ms: i64,
}

/// A container that was placed.
pub(super) struct PlacedPiece {
    pub(super) application: usize,
    pub(super) piece: Piece,
    pub(super) container: String,
}

impl ResourceManager {
    pub(super) fn new(workload: &Workload, policy: PolicyToSimulate, settings: &Settings) -> Self {
        let service_settings = settings.service(policy.books_as_registered);
        let queues = Queues::new(workload, settings.queues_count_vcores);
        let books_as_registered = policy.books_as_registered;
        let policy = policy.policy;
        let by_plan = policy.by_plan();
        let follows_demand =
            !workload.queues.is_empty() && by_plan.is_some() && !books_as_registered;
        let most_booked = policy.most_booked().unwrap_or(f64::INFINITY);
        let plans_starts = by_plan.is_some_and(ByPlan::plans_starts);
        let kinds = Kinds::new(&workload.applications, settings);
        let kinds_remembered = by_plan.map_or(0, |_| kinds.count());
        let mut service = Service::with_policy(service_settings, policy, Vec::new());
        for (machine, capacity) in workload.machines.iter().enumerate() {
            let registered = Request {
                memory_bytes: capacity.memory_bytes as u64,
                vcores: capacity.cpu_cores as u32,
            };
            service.node_added(&agent::name(machine), registered);
        }
        if follows_demand {
            service.cluster_mut().configure_queues(queues.shares());
        }
        Self {
            service,
            most_booked,
            plans_starts,
            follows_demand,
            reads_bookable: queues.need_bookable() || !workload.masters.is_empty(),
            queues,
            bookable: Request::default(),
            applications: vec![KnownApplication::default(); workload.applications.len()],
            places: Vec::new(),
            earliest: vec![vec![0; kinds_remembered]; workload.machines.len()],
            needs: (0..kinds.count()).map(|_| StartNeeds::default()).collect(),
            kinds,
            waiting: 0,
            reprovisioned: Vec::new(),
            forecasts: Forecasts::new(settings.forecast_every_ms),
        }
    }

    /// All agents have reported. Where capacity does not follow demand, the nodes are raised to the ceiling at once.
    pub(super) fn raise_nodes(&mut self) {
        if !self.follows_demand {
            self.service.cluster_mut().raise_to_ceiling(0);
        }
        self.read_bookable();
    }

    /// Whether the nodes' bookable capacity follows demand.
    pub(super) fn follows_demand(&self) -> bool {
        self.follows_demand
    }

    /// Has the bookable capacity follow demand. Returns the machines that may book more than before.
    pub(super) fn follow_demand(&mut self, now_ms: i64) -> Vec<usize> {
        let (changes, _) = self.service.bookable_changes(usize::MAX, now_ms);
        self.read_bookable();
        let raised = changes.into_iter().filter(|change| change.from.is_below(change.ratio));
        raised.map(|change| change.node.0 as usize).collect()
    }

    /// What the masters of an application's queue and user may take.
    pub(super) fn masters_limits(&self, place: usize) -> MastersLimits {
        self.queues.masters_limits(place, self.bookable)
    }

    /// An application is submitted, and a limit of masters holds it back. Nodes are raised for it: by one of
    /// its executors, which has a share of the master.
    pub(super) fn held(&mut self, place: usize, spec: &ApplicationSpec, now_ms: i64) {
        let id = self.register(place, spec, now_ms);
        self.queues.begins_to_be_held(place);
        self.service.cluster_mut().set_standing(id, &[], Standing::Held);
        self.service.pending(id, Ask { count: 1, ..ask_of(spec) }, now_ms);
    }

    /// An application is submitted, or held back no more.
    pub(super) fn arrived(&mut self, place: usize, spec: &ApplicationSpec, now_ms: i64) {
        match self.applications[place].id {
            Some(id) => {
                self.queues.is_held_no_more(place);
                let cluster = self.service.cluster_mut();
                cluster.set_standing(id, &[], Standing::Ordered);
            }
            None => {
                self.register(place, spec, now_ms);
            }
        }
    }

    fn register(&mut self, place: usize, spec: &ApplicationSpec, now_ms: i64) -> ApplicationId {
        let predicted = self.kinds.kind(self.kinds.number_of(place)).predicted.clone();
        let demands: Demands = predicted
            .map(|predicted| (ContainerKind::DEFAULT_EXECUTOR, predicted))
            .into_iter()
            .collect();
        let record = SubmissionRecord {
            application_id: format!("application_0_{:04}", place + 1),
            application_key: spec.name.clone(),
            application_name: spec.name.clone(),
            submitted_ms: now_ms,
            signature: Vec::new(),
            settings: BTreeMap::new(),
        };
        let queue = self.queues.path(spec.queue);
        let deadline = spec.deadline_ms.map(|at_ms| Deadline { at_ms, length_ms: None });
        let user = spec.user.as_str();
        let (submitted, _) = self.service.application_added(record, queue, user, deadline, demands);
        let number = submitted.application.0 as usize;
        if self.places.len() <= number {
            self.places.resize(number + 1, place);
        }
        self.places[number] = place;
        self.applications[place].id = Some(submitted.application);
        submitted.application
    }

    /// The number of kinds of applications.
    pub(super) fn kinds(&self) -> usize {
        self.kinds.count()
    }

    /// Whether an application of this kind waits.
    pub(super) fn waits(&self, kind: usize) -> bool {
        self.kinds.kind(kind).waits_since_ms().is_some()
    }

    /// An application asks for more executors. Returns the number of its kind if no application of the
    /// kind waited before.
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
            self.queues.begins_to_wait(place);
        }
        self.tell_pending(place, spec, now_ms);
        let is_new = begins && self.kinds.begins_to_wait(place, now_ms);
        is_new.then(|| self.kinds.number_of(place))
    }

    /// The next container that goes to a node, as the queues walk the order.
    pub(super) fn assign(
        &mut self,
        machine: usize,
        specs: &[ApplicationSpec],
        now_ms: i64,
    ) -> Option<PlacedPiece> {
        let node = node_of(machine);
        let free = self.free(machine, self.cluster_settings().max_ratio);
        let mut order = self.service.round(node, free, now_ms)?;
        let place_of = |application: &ApplicationId| self.places[application.0 as usize];
        self.queues.order(&mut order, self.bookable, place_of);
        for application in order {
            let place = self.places[application.0 as usize];
            let spec = &specs[place];
            // A round also names whom CapacityScheduler may reserve the node for, and it places nobody by that.
            if !spec.request.fits_into(free) {
                continue;
            }
            if !self.queues.may_have(place, self.bookable) {
                continue;
            }
            let known = &mut self.applications[place];
            let container = format!("container_0_{:04}_{:06}", place + 1, known.containers + 1);
            let commit = CommitRequest {
                container: &container,
                application,
                node,
                kind: ContainerKind::DEFAULT_EXECUTOR,
                request: spec.request,
                may_refuse: true,
                start_ms: now_ms,
            };
            if !self.service.commit(commit, now_ms).is_admitted {
                continue;
            }
            let Some(piece) = known.asked.pop_front() else {
                self.service.finished(&container, now_ms);
                continue;
            };
            self.forecasts.started(place, now_ms);
            known.containers += 1;
            let since_ms = std::mem::replace(&mut known.since_ms, now_ms);
            self.waiting -= 1;
            self.queues.started(place);
            let was_last = self.kinds.waits_no_more(place, since_ms);
            if known.asked.is_empty() {
                self.queues.waits_no_more(place);
                if was_last {
                    self.needs[self.kinds.number_of(place)] = StartNeeds::default();
                }
            } else {
                self.kinds.begins_to_wait(place, now_ms);
            }
            self.tell_pending(place, spec, now_ms);
            self.changed(machine);
            return Some(PlacedPiece { application: place, piece, container });
        }
        None
    }

    /// A node told that a container of an application ended.
    pub(super) fn finished(
        &mut self,
        machine: usize,
        application: usize,
        container: &str,
        now_ms: i64,
    ) {
        self.service.finished(container, now_ms);
        self.queues.ended(application);
        self.changed(machine);
    }

    /// An application's last container ended.
    pub(super) fn ended(&mut self, place: usize, now_ms: i64) {
        if let Some(id) = self.applications[place].id.take() {
            self.service.application_removed(id, true, now_ms);
            // Nothing is learned from simulated runs.
            self.service.due(now_ms);
        }
    }

    /// The machines whose state the next look at one of them reads.
    pub(super) fn read_by_look(&self, machine: usize, now_ms: i64) -> Vec<usize> {
        let nodes = read_by_round(self.service.cluster(), node_of(machine), now_ms);
        nodes.into_iter().map(|node| node.0 as usize).collect()
    }

    pub(super) fn plans_starts(&self) -> bool {
        self.plans_starts
    }

    /// The machines whose state the next [`Self::plan_starts`] reads.
    pub(super) fn read_by_planning(&self, now_ms: i64) -> Vec<usize> {
        let nodes = read_by_planning(self.service.cluster(), now_ms);
        nodes.into_iter().map(|node| node.0 as usize).collect()
    }

    /// Plans the starts of what waits.
    pub(super) fn plan_starts(&mut self, now_ms: i64) {
        plan_starts(self.service.cluster_mut(), now_ms);
        let place_of = |application: ApplicationId| self.places[application.0 as usize];
        self.forecasts.look(self.service.cluster(), place_of, now_ms);
    }

    /// When the application that has waited longest begins to starve, or began to.
    pub(super) fn starves_from(&self) -> Option<i64> {
        let since_ms = self.kinds.waits_since_ms()?;
        Some(since_ms.saturating_add(self.cluster_settings().starvation_wait_ms))
    }

    fn cluster_settings(&self) -> &ClusterSettings {
        self.service.cluster().settings()
    }

    /// What may still be booked on a node; where capacity does not follow demand, up to this multiple of the
    /// registered size.
    fn free(&self, machine: usize, ratio: f64) -> Request {
        let entry = self.service.cluster().node(node_of(machine));
        match entry.filter(|_| self.follows_demand) {
            Some(entry) => entry.free(self.cluster_settings().virtual_cores_count),
            None => self.room(machine, ratio),
        }
    }

    /// This multiple of a node's registered size, less the booked requests.
    fn room(&self, machine: usize, ratio: f64) -> Request {
        let Some(entry) = self.service.cluster().node(node_of(machine)) else {
            return Request::default();
        };
        let (registered, booked) = (entry.registered, entry.booked);
        let memory_bytes = (registered.memory_bytes as f64 * ratio) as u64;
        let vcores = (f64::from(registered.vcores) * ratio) as u32;
        Request {
            memory_bytes: memory_bytes.saturating_sub(booked.memory_bytes),
            vcores: vcores.saturating_sub(booked.vcores),
        }
    }

    fn tell_pending(&mut self, place: usize, spec: &ApplicationSpec, now_ms: i64) {
        let known = &self.applications[place];
        if let Some(id) = known.id {
            let count = known.asked.len() as u32;
            self.service.pending(id, Ask { count, ..ask_of(spec) }, now_ms);
        }
    }
}

fn ask_of(spec: &ApplicationSpec) -> Ask {
    let kind = ContainerKind::DEFAULT_EXECUTOR;
    Ask { kind, priority: 0, request: spec.request, count: 0 }
}

/// The service numbers nodes in the order in which they register.
fn node_of(machine: usize) -> NodeId {
    NodeId(machine as u32)
}

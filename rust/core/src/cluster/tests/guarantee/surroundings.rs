//! What CapacityScheduler does around the core: it offers nodes, keeps its limits by request, and its monitor preempts.

use std::collections::{BTreeMap, BTreeSet};

use super::setups::{ApplicationSetup, MB, NODE_CORES, NODE_VCORES, QueueSetup};
use super::*;
use crate::resources::Resource;

/// `yarn.resourcemanager.monitor.capacity.preemption.monitoring_interval`.
const MONITOR_EVERY_MS: i64 = 3_000;
/// `max_wait_before_kill`.
const MAX_WAIT_MS: i64 = 15_000;

/// A queue and the place of one of its applications.
type Place = (usize, usize);

/// A running container.
#[derive(Debug, Clone)]
struct Runs {
    name: String,
    node: NodeId,
    of: Place,
    size_mb: u64,
}

/// Nodes, the applications of each queue, and what CapacityScheduler does around the core.
pub(super) struct Surroundings {
    cluster: Cluster,
    nodes: Vec<NodeId>,
    node_mb: u64,
    /// `total_preemption_per_round`, in hundredths.
    percent_per_round: u64,
    pub(super) queues: Vec<QueueSetup>,
    applications: BTreeMap<ApplicationId, Place>,
    /// In order of start.
    running: Vec<Runs>,
    started: usize,
    /// When the monitor first told each container's application that the container will be preempted.
    marked_ms: BTreeMap<String, i64>,
    rounds: u32,
    now_ms: i64,
}

impl Surroundings {
    /// Without `enforce` CapacityScheduler decides alone.
    pub(super) fn new(
        enforce: bool,
        node_mb: u64,
        nodes: usize,
        queues: Vec<QueueSetup>,
        percent_per_round: u64,
    ) -> Self {
        let ceiling = ClusterSettings { enforce, max_ratio: 4.0, ..settings() };
        let peaks = Peaks::Strict;
        let mut cluster = Cluster::new(ceiling, Box::new(MinFrag { peaks }));
        let size = Request { memory_bytes: node_mb * MB, vcores: NODE_VCORES };
        let nodes = (0..nodes).map(|number| cluster.node_added(&format!("node-{number}:1"), size));
        let nodes = nodes.collect();
        let shares = queues.iter().map(|queue| QueueShare {
            preempted_within_ms: Some(MONITOR_EVERY_MS + MAX_WAIT_MS),
            ..share(&queue.name, queue.capacity, queue.maximum)
        });
        cluster.configure_queues(shares.collect());
        let mut applications = BTreeMap::new();
        for (number, queue) in queues.iter().enumerate() {
            for (place, setup) in queue.applications.iter().enumerate() {
                let demands =
                    setup.known_ratio.map_or_else(Demands::default, |ratio| setup.demands(ratio));
                let (id, name) = (format!("{number}.{place}"), &queue.name);
                let application = Application::new(&id, &id, name, demands, 0);
                applications.insert(cluster.application_added(application), (number, place));
            }
        }
        let mut surroundings = Self {
            cluster,
            nodes,
            node_mb,
            percent_per_round,
            queues,
            applications,
            running: Vec::new(),
            started: 0,
            marked_ms: BTreeMap::new(),
            rounds: 0,
            now_ms: 0,
        };
        surroundings.run_pasts();
        surroundings
    }

    /// For an hour each queue with a past has one container on each node, and then none.
    fn run_pasts(&mut self) {
        let mut names = Vec::new();
        for queue in &self.queues {
            let Some(ratio) = queue.past_ratio else {
                continue;
            };
            let setup = ApplicationSetup {
                known_ratio: Some(ratio),
                request_mb: 1_000,
                between_peaks: 1.0,
                cpu_cores: 0.01,
                asks: [0, 0],
            };
            let id = format!("past of {}", queue.name);
            let application = Application::new(&id, &id, &queue.name, setup.demands(ratio), 0);
            let application = self.cluster.application_added(application);
            let request = Request { memory_bytes: setup.request_mb * MB, vcores: 1 };
            for node in self.nodes.clone() {
                self.cluster.pending(application, Ask { request, ..ask(1, 1) }, 0);
                names.push(format!("{id} on {node:?}"));
                place(&mut self.cluster, &names[names.len() - 1], application, node, 0);
            }
            self.cluster.application_removed(application);
        }
        if names.is_empty() {
            return;
        }
        for _ in 0..60 {
            self.now_ms += 60_000;
            self.follow();
        }
        names.iter().for_each(|name| {
            self.cluster.finished(name);
        });
    }

    /// Reports of all nodes, and the bookable capacity.
    fn follow(&mut self) {
        let physical = Resources::from_array([NODE_CORES, (self.node_mb * MB) as f64, 0.0, 0.0]);
        for node in self.nodes.clone() {
            self.cluster.reported(node, physical, self.now_ms);
        }
        self.cluster.bookable_changes(usize::MAX, self.now_ms);
    }

    fn waits(&self, application: ApplicationId) -> bool {
        self.cluster.application(application).unwrap().waiting.is_some()
    }

    fn setup(&self, (queue, place): Place) -> &ApplicationSetup {
        &self.queues[queue].applications[place]
    }

    /// Each application asks for this many containers more.
    pub(super) fn ask_for_more(&mut self, count: impl Fn(Place, &ApplicationSetup) -> u32) {
        for (application, place) in self.applications.clone() {
            let more = count(place, self.setup(place));
            let waits = self.cluster.application(application).unwrap().waiting;
            self.ask(application, waits.map_or(0, |ask| ask.count) + more);
        }
    }

    /// An application asks for this many containers in all.
    fn ask(&mut self, application: ApplicationId, count: u32) {
        let memory_bytes = self.setup(self.applications[&application]).request_mb * MB;
        let request = Request { memory_bytes, vcores: 1 };
        self.cluster.pending(application, Ask { count, request, ..ask(1, 1) }, self.now_ms);
    }

    /// One second: reports, the bookable capacity, the monitor, a heartbeat of each node. So what the monitor frees
    /// is offered before the bookable capacity follows.
    pub(super) fn second(&mut self) {
        self.now_ms += 1_000;
        self.follow();
        if self.now_ms % MONITOR_EVERY_MS == 0 {
            self.rounds += 1;
            self.preempt();
        }
        for node in self.nodes.clone() {
            self.heartbeat(node);
        }
    }

    /// CapacityScheduler offers the node to the least served queue first, in the core's order and with
    /// its own limit by request.
    fn heartbeat(&mut self, node: NodeId) {
        let entry = self.cluster.node(node).unwrap();
        let free = entry.free(true);
        let ordered = self.cluster.round(node, free, self.now_ms);
        let mut named = ordered.unwrap_or_else(|| {
            self.applications.keys().copied().filter(|it| self.waits(*it)).collect()
        });
        named.sort_by(|one, other| {
            let served = |application| self.served(self.applications[application].0);
            served(one).total_cmp(&served(other))
        });
        for application in named {
            let of @ (queue, _) = self.applications[&application];
            let waits = self.cluster.application(application).unwrap().waiting.unwrap();
            let limit = self.queues[queue].maximum * self.bookable_mb() as f64;
            // CapacityScheduler would reserve the node for what it has no room for.
            let has_room = waits.request.fits_into(free);
            if self.used_mb(queue) as f64 >= limit || !has_room {
                continue;
            }
            self.started += 1;
            let name = self.started.to_string();
            let placed = place(&mut self.cluster, &name, application, node, self.now_ms);
            if matches!(placed, Commit::Placed(_)) {
                let size_mb = self.setup(of).request_mb;
                self.running.push(Runs { name, node, of, size_mb });
                self.ask(application, waits.count - 1);
                return;
            }
        }
    }

    /// A round of the monitor, as `ProportionalCapacityPreemptionPolicy`: each one chooses anew, and ends those
    /// of the chosen containers that were marked long enough ago.
    fn preempt(&mut self) {
        for Runs { name, node, of: (queue, _), .. } in self.chosen() {
            let now_ms = self.now_ms;
            let marked_ms = *self.marked_ms.entry(name.clone()).or_insert(now_ms);
            if now_ms - marked_ms < MAX_WAIT_MS {
                continue;
            }
            self.marked_ms.remove(&name);
            let queue = &self.queues[queue].name;
            if self.cluster.may_preempt(Preemption { node, queue }, now_ms) {
                self.cluster.finished(&name);
                self.running.retain(|running| running.name != name);
            }
        }
        let forgotten_ms = self.now_ms - 2 * MAX_WAIT_MS;
        self.marked_ms.retain(|_, marked_ms| *marked_ms >= forgotten_ms);
    }

    /// What queues below their guarantee wait for and find no free space for is taken from queues above theirs:
    /// the latest containers of the most served queue first. The monitor knows sizes and requests alone.
    fn chosen(&self) -> Vec<Runs> {
        let bookable_mb = self.bookable_mb();
        let queues = 0..self.queues.len();
        let guaranteed =
            |queue: usize| (self.queues[queue].capacity * bookable_mb as f64).round() as u64;
        let mut left: Vec<_> = queues.clone().map(|queue| self.used_mb(queue)).collect();
        let lacks = |queue| guaranteed(queue).saturating_sub(self.used_mb(queue));
        let wanted: u64 =
            queues.clone().map(|queue| lacks(queue).min(self.pending_mb(queue))).sum();
        let mut wanted = wanted.saturating_sub(bookable_mb.saturating_sub(left.iter().sum()));
        let at_most = bookable_mb * self.percent_per_round / 100;
        let mut chosen: Vec<Runs> = Vec::new();
        let (mut names, mut chosen_mb) = (BTreeSet::new(), 0);
        while wanted > 0 {
            let over = queues.clone().filter(|queue| left[*queue] > guaranteed(*queue));
            let served = |queue: &usize| left[*queue] as f64 / self.queues[*queue].capacity;
            let Some(queue) = over.max_by(|a, b| served(a).total_cmp(&served(b))) else {
                break;
            };
            let mut latest = self.running_of(queue).rev();
            let Some(runs) = latest.find(|runs| !names.contains(&runs.name)) else {
                break;
            };
            // One container is taken however small the cluster is.
            if chosen_mb > 0 && chosen_mb + runs.size_mb > at_most {
                break;
            }
            names.insert(runs.name.clone());
            chosen_mb += runs.size_mb;
            left[queue] -= runs.size_mb;
            wanted = wanted.saturating_sub(runs.size_mb);
            chosen.push(runs.clone());
        }
        chosen
    }

    /// Rounds of the monitor until a queue uses this much, or, where Elastane decides, its share of the CPU; none if it
    /// does not within `at_most` of them.
    pub(super) fn rounds_until(
        &mut self,
        queue: usize,
        wanted_mb: u64,
        at_most: u32,
    ) -> Option<u32> {
        let from = self.rounds;
        while self.used_mb(queue) < wanted_mb
            && !(self.cluster.settings.enforce && self.uses_its_cpu(queue))
        {
            if self.rounds - from >= at_most {
                return None;
            }
            self.second();
            self.check_limits();
        }
        Some(self.rounds - from)
    }

    fn running_of(&self, queue: usize) -> impl DoubleEndedIterator<Item = &Runs> {
        self.running.iter().filter(move |it| it.of.0 == queue)
    }

    pub(super) fn used_mb(&self, queue: usize) -> u64 {
        self.running_of(queue).map(|it| it.size_mb).sum()
    }

    /// Whether a queue uses its share of the CPU, but for less than a container on each node and of the share, and
    /// waits for more.
    fn uses_its_cpu(&mut self, queue: usize) -> bool {
        let cores = |it: &ApplicationSetup| it.planned_cores();
        let used: f64 = self.running_of(queue).map(|it| cores(self.setup(it.of))).sum();
        let largest = self.queues[queue].applications.iter().map(cores).fold(0.0, f64::max);
        let nodes = self.nodes.len() as f64;
        let share = self.queues[queue].capacity * NODE_CORES * nodes;
        let own = self.applications.iter().filter(|(_, of)| of.0 == queue);
        let own: Vec<_> = own.map(|(id, _)| *id).collect();
        let mut lacks_cpu = |id| {
            let reason = self.cluster.wait_reason(id, self.now_ms);
            matches!(reason, Some(WaitReason::NoFit { resource: Resource::Cpu, .. }))
        };
        used > share - largest * (nodes + 1.0) && own.into_iter().any(&mut lacks_cpu)
    }

    fn served(&self, queue: usize) -> f64 {
        self.used_mb(queue) as f64 / self.queues[queue].capacity
    }

    fn demanded_mb(&self, queue: usize) -> f64 {
        let ratio = |of| self.setup(of).known_ratio.unwrap_or(1.0);
        self.running_of(queue).map(|it| it.size_mb as f64 * ratio(it.of)).sum()
    }

    fn pending_mb(&self, queue: usize) -> u64 {
        let of_it = self.applications.iter().filter(|(_, of)| of.0 == queue);
        let waiting = of_it.filter_map(|(id, of)| {
            let ask = self.cluster.application(*id)?.waiting?;
            Some(u64::from(ask.count) * self.setup(*of).request_mb)
        });
        waiting.sum()
    }

    pub(super) fn bookable_mb(&self) -> u64 {
        let nodes = self.cluster.nodes().map(|(_, entry)| entry.bookable_size(true));
        nodes.map(|size| size.memory_bytes / MB).sum()
    }

    pub(super) fn physical_mb(&self) -> u64 {
        self.node_mb * self.nodes.len() as u64
    }

    /// About how many times the monitor has to choose until a queue that uses this much fits all nodes: whole
    /// containers, the latest first, of whichever queue.
    pub(super) fn preemptions_for(&self, queue: usize, wanted_mb: u64) -> u32 {
        let others = self.running.iter().filter(|it| it.of.0 != queue);
        let booked_mb: u64 = others.clone().map(|it| it.size_mb).sum();
        let mut to_free_mb = (booked_mb + wanted_mb).saturating_sub(self.physical_mb());
        let at_once_mb = self.physical_mb() * self.percent_per_round / 100;
        let (mut times, mut chosen_mb) = (0, 0);
        for Runs { size_mb, .. } in others.rev() {
            if to_free_mb == 0 {
                break;
            }
            if chosen_mb == 0 || chosen_mb + size_mb > at_once_mb {
                (times, chosen_mb) = (times + 1, 0);
            }
            chosen_mb += size_mb;
            to_free_mb = to_free_mb.saturating_sub(*size_mb);
        }
        times
    }

    pub(super) fn check_limits(&self) {
        for (number, queue) in self.queues.iter().enumerate() {
            let largest = queue.applications.iter().map(|it| it.request_mb).max().unwrap_or(0);
            let limit = queue.maximum * self.physical_mb() as f64 + largest as f64;
            let (used, demanded) = (self.used_mb(number) as f64, self.demanded_mb(number));
            // What fits all machines does not exceed a maximum that is all of them.
            assert!(
                queue.maximum == 1.0 || used.min(demanded) <= limit + 1e-3,
                "{queue:?}: {used} {demanded} {limit}"
            );
        }
        for (_, entry) in self.cluster.nodes() {
            let taken = entry.node.expected_at(self.now_ms).memory_bytes;
            assert!(taken <= entry.node.capacity.memory_bytes * (1.0 + 1e-6), "above physical");
        }
    }

    /// For messages.
    pub(super) fn state(&self) -> String {
        let queues = (0..self.queues.len()).map(|queue| {
            format!(
                "{} used {} demanded {:.0} pending {}",
                self.queues[queue].name,
                self.used_mb(queue),
                self.demanded_mb(queue),
                self.pending_mb(queue)
            )
        });
        let queues: Vec<_> = queues.collect();
        format!(
            "{} s, {} MB, bookable {} MB: {queues:?}",
            self.now_ms / 1_000,
            self.physical_mb(),
            self.bookable_mb()
        )
    }
}

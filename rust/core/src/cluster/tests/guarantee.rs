//! With CapacityScheduler's limits and its preemption monitor around the core, every queue gets its
//! guarantee and none takes more than its maximum.

use proptest::prelude::*;

use super::*;

const NODE_GB: u64 = 32;
const MONITOR_EVERY_MS: i64 = 3_000;
/// By then the idle queue must have its guarantee: 20 rounds of the monitor.
const DELIVERED_MS: i64 = 60_000;

#[derive(Debug, Clone)]
struct QueueSetup {
    name: String,
    capacity: f64,
    maximum: f64,
    /// Demand over request of its application; none where it is not known.
    known_ratio: Option<f64>,
    request_gb: u64,
}

/// Nodes, one application in each queue, and what CapacityScheduler does around the core.
struct Surroundings {
    cluster: Cluster,
    nodes: Vec<NodeId>,
    queues: Vec<QueueSetup>,
    applications: Vec<Option<ApplicationId>>,
    /// In order of start: name, queue and size.
    running: Vec<(String, usize, u64)>,
    started: usize,
    now_ms: i64,
}

impl Surroundings {
    fn new(nodes: usize, queues: Vec<QueueSetup>) -> Self {
        let ceiling = ClusterSettings { max_ratio: 4.0, ..settings() };
        let peaks = Peaks::Strict;
        let mut cluster = Cluster::new(ceiling, Box::new(MinFrag { peaks }));
        let nodes = (0..nodes)
            .map(|number| cluster.node_added(&format!("node-{number}:1"), request(NODE_GB, 512)));
        let nodes = nodes.collect();
        let share = |queue: &QueueSetup| QueueShare {
            queue: queue.name.clone(),
            is_label_shared: false,
            label: String::new(),
            is_leaf: true,
            capacity: queue.capacity,
            maximum: queue.maximum,
            guaranteed: None,
            at_most: None,
        };
        cluster.configure_queues(queues.iter().map(share).collect());
        let applications = vec![None; queues.len()];
        Self { cluster, nodes, queues, applications, running: Vec::new(), started: 0, now_ms: 0 }
    }

    /// The queue's application asks for this many containers.
    fn ask(&mut self, queue: usize, count: u32) {
        let QueueSetup { name, known_ratio, request_gb, .. } = self.queues[queue].clone();
        let demands = known_ratio.map_or_else(Demands::default, |ratio| {
            learned(&[0.01; 2_000], request_gb as f64 * ratio)
        });
        let application = *self.applications[queue].get_or_insert_with(|| {
            self.cluster.application_added(Application::new(&name, &name, &name, demands, 0))
        });
        self.cluster.pending(application, Ask { count, ..ask(request_gb, 1) }, self.now_ms);
    }

    /// One second: reports, the bookable capacity, a heartbeat of each node, the monitor.
    fn second(&mut self) {
        self.now_ms += 1_000;
        let physical = Resources::from_array([64.0, NODE_GB as f64 * 1e9, 0.0, 0.0]);
        for node in self.nodes.clone() {
            self.cluster.reported(node, physical, self.now_ms);
        }
        self.cluster.bookable_changes(usize::MAX, self.now_ms);
        for node in self.nodes.clone() {
            self.heartbeat(node);
        }
        if self.now_ms % MONITOR_EVERY_MS == 0 {
            self.preempt();
        }
    }

    /// CapacityScheduler offers the node to the least served queue first, in the core's order and with
    /// its own limit by request.
    fn heartbeat(&mut self, node: NodeId) {
        let free = self.cluster.node(node).unwrap().free(true);
        let mut named = self.cluster.round(node, free, self.now_ms).unwrap_or_default();
        let queue_of = |of: &Self, application| {
            of.applications.iter().position(|it| *it == Some(application)).unwrap()
        };
        named.sort_by(|one, other| {
            let served = |application| {
                let queue = queue_of(self, application);
                self.used_gb(queue) as f64 / self.queues[queue].capacity
            };
            served(*one).total_cmp(&served(*other))
        });
        for application in named {
            let queue = queue_of(self, application);
            let waits = self.cluster.application(application).unwrap().waiting.unwrap();
            let limit = self.queues[queue].maximum * self.bookable_gb();
            if self.used_gb(queue) as f64 >= limit {
                continue;
            }
            self.started += 1;
            let name = self.started.to_string();
            let placed = place(&mut self.cluster, &name, application, node, self.now_ms);
            if matches!(placed, Commit::Placed(_)) {
                self.running.push((name, queue, self.queues[queue].request_gb));
                self.ask(queue, waits.count - 1);
                return;
            }
        }
    }

    /// Takes from queues above their guarantee, the latest first, what queues below theirs wait for.
    fn preempt(&mut self) {
        let bookable_gb = self.bookable_gb();
        let guaranteed = |of: &Self, queue: usize| of.queues[queue].capacity * bookable_gb;
        let mut wanted_gb = 0.0;
        for queue in 0..self.queues.len() {
            let lacking = guaranteed(self, queue) - self.used_gb(queue) as f64;
            wanted_gb += lacking.min(self.pending_gb(queue) as f64).max(0.0);
        }
        let used: u64 = (0..self.queues.len()).map(|queue| self.used_gb(queue)).sum();
        wanted_gb -= (bookable_gb - used as f64).max(0.0);
        for (name, queue, size_gb) in self.running.clone().into_iter().rev() {
            let stays_above =
                self.used_gb(queue) as f64 - size_gb as f64 >= guaranteed(self, queue);
            if wanted_gb > 0.0 && stays_above {
                self.cluster.finished(&name);
                self.running.retain(|(running, ..)| *running != name);
                wanted_gb -= size_gb as f64;
            }
        }
    }

    fn used_gb(&self, queue: usize) -> u64 {
        self.running.iter().filter(|it| it.1 == queue).map(|it| it.2).sum()
    }

    fn demanded_gb(&self, queue: usize) -> f64 {
        self.used_gb(queue) as f64 * self.queues[queue].known_ratio.unwrap_or(1.0)
    }

    fn pending_gb(&self, queue: usize) -> u64 {
        let application = self.applications[queue].and_then(|id| self.cluster.application(id));
        let waiting = application.and_then(|application| application.waiting);
        waiting.map_or(0, |ask| u64::from(ask.count) * self.queues[queue].request_gb)
    }

    fn bookable_gb(&self) -> f64 {
        let nodes = self.cluster.nodes().map(|(_, entry)| entry.bookable_size(true));
        nodes.map(|size| size.memory_bytes as f64 / GB as f64).sum()
    }

    fn physical_gb(&self) -> f64 {
        (NODE_GB * self.nodes.len() as u64) as f64
    }

    fn check_limits(&self) {
        for (number, queue) in self.queues.iter().enumerate() {
            let limit = queue.maximum * self.physical_gb() + queue.request_gb as f64;
            let (used, demanded) = (self.used_gb(number) as f64, self.demanded_gb(number));
            assert!(used.min(demanded) <= limit + 1e-6, "{queue:?}: {used} {demanded} {limit}");
        }
        for (_, entry) in self.cluster.nodes() {
            let taken = entry.node.expected_at(self.now_ms).memory_bytes;
            assert!(taken <= entry.node.capacity.memory_bytes * (1.0 + 1e-6), "above physical");
        }
    }
}

fn queues() -> impl Strategy<Value = Vec<QueueSetup>> {
    let ratio = prop::option::of(prop::sample::select(vec![0.2, 0.5, 1.0]));
    let queue = (1..4_u32, 0..3_u32, ratio, 1..3_u64);
    prop::collection::vec(queue, 2..4).prop_map(|queues| {
        let weights: u32 = queues.iter().map(|it| it.0).sum();
        let setups = queues.into_iter().enumerate().map(|(number, queue)| {
            let (weight, more, known_ratio, request_gb) = queue;
            let capacity = f64::from(weight) / f64::from(weights);
            let maximum = (capacity * f64::from(1 + more)).min(1.0);
            QueueSetup {
                name: format!("root.{number}"),
                capacity,
                maximum,
                known_ratio,
                request_gb,
            }
        });
        setups.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn an_idle_queue_gets_its_guarantee_and_no_queue_more_than_its_maximum(
        nodes in 2..5_usize,
        queues in queues(),
    ) {
        let mut surroundings = Surroundings::new(nodes, queues);
        let last = surroundings.queues.len() - 1;
        for queue in 0..last {
            surroundings.ask(queue, 500);
        }
        for _ in 0..40 {
            surroundings.second();
            surroundings.check_limits();
        }
        // The idle queue's applications are not known, and it asks for its part of the machines.
        surroundings.queues[last].known_ratio = None;
        let QueueSetup { capacity, request_gb, .. } = surroundings.queues[last];
        let guaranteed_gb = capacity * surroundings.physical_gb();
        // Less than a container may be left over on each node, and of each other queue's share.
        let left_over = 2 * (nodes + last) as u64;
        let wanted = (guaranteed_gb as u64 / request_gb * request_gb).saturating_sub(left_over);
        surroundings.ask(last, 500);
        let since_ms = surroundings.now_ms;
        while surroundings.used_gb(last) < wanted {
            surroundings.second();
            surroundings.check_limits();
            let waited_ms = surroundings.now_ms - since_ms;
            let used = surroundings.used_gb(last);
            prop_assert!(waited_ms <= DELIVERED_MS, "{} of {} GB", used, wanted);
        }
    }
}

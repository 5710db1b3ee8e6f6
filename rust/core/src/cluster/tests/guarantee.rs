//! With CapacityScheduler's limits and its preemption monitor around the core, every queue gets its
//! guarantee and none takes more than its maximum.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const NODE_GB: u64 = 32;
/// The largest container.
const LARGEST_GB: u64 = 2;
const MONITOR_EVERY_MS: i64 = 3_000;
/// By then the queue that asks for its guarantee must have it: 20 rounds of the monitor.
const DELIVERED_MS: i64 = 60_000;

#[derive(Debug, Clone)]
struct QueueSetup {
    name: String,
    capacity: f64,
    maximum: f64,
    applications: Vec<ApplicationSetup>,
}

#[derive(Debug, Clone)]
struct ApplicationSetup {
    /// Demand over request; none where it is not known.
    known_ratio: Option<f64>,
    request_gb: u64,
    /// How many containers it asks for at the beginning, and 20 s later.
    asks: [u32; 2],
}

/// A queue and the place of one of its applications.
type Place = (usize, usize);

/// A running container.
#[derive(Debug, Clone)]
struct Runs {
    name: String,
    of: Place,
    size_gb: u64,
}

/// Nodes, the applications of each queue, and what CapacityScheduler does around the core.
struct Surroundings {
    cluster: Cluster,
    nodes: Vec<NodeId>,
    queues: Vec<QueueSetup>,
    applications: BTreeMap<ApplicationId, Place>,
    /// In order of start.
    running: Vec<Runs>,
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
        let mut applications = BTreeMap::new();
        for (number, queue) in queues.iter().enumerate() {
            for (place, setup) in queue.applications.iter().enumerate() {
                let demands = setup.known_ratio.map_or_else(Demands::default, |ratio| {
                    learned(&[0.01; 2_000], setup.request_gb as f64 * ratio)
                });
                let (id, name) = (format!("{number}.{place}"), &queue.name);
                let application = Application::new(&id, &id, name, demands, 0);
                applications.insert(cluster.application_added(application), (number, place));
            }
        }
        Self { cluster, nodes, queues, applications, running: Vec::new(), started: 0, now_ms: 0 }
    }

    fn setup(&self, (queue, place): Place) -> &ApplicationSetup {
        &self.queues[queue].applications[place]
    }

    /// Each application asks for this many containers more.
    fn ask_for_more(&mut self, count: impl Fn(Place, &ApplicationSetup) -> u32) {
        for (application, place) in self.applications.clone() {
            let more = count(place, self.setup(place));
            let waits = self.cluster.application(application).unwrap().waiting;
            self.ask(application, waits.map_or(0, |ask| ask.count) + more);
        }
    }

    /// An application asks for this many containers in all.
    fn ask(&mut self, application: ApplicationId, count: u32) {
        let request_gb = self.setup(self.applications[&application]).request_gb;
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
        named.sort_by(|one, other| {
            let served = |application| {
                let (queue, _) = self.applications[application];
                self.used_gb(queue) as f64 / self.queues[queue].capacity
            };
            served(one).total_cmp(&served(other))
        });
        for application in named {
            let of @ (queue, _) = self.applications[&application];
            let waits = self.cluster.application(application).unwrap().waiting.unwrap();
            let limit = self.queues[queue].maximum * self.bookable_gb();
            if self.used_gb(queue) as f64 >= limit {
                continue;
            }
            self.started += 1;
            let name = self.started.to_string();
            let placed = place(&mut self.cluster, &name, application, node, self.now_ms);
            if matches!(placed, Commit::Placed(_)) {
                let size_gb = self.setup(of).request_gb;
                self.running.push(Runs { name, of, size_gb });
                self.ask(application, waits.count - 1);
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
        for Runs { name, of: (queue, _), size_gb } in self.running.clone().into_iter().rev() {
            let stays_above =
                self.used_gb(queue) as f64 - size_gb as f64 >= guaranteed(self, queue);
            if wanted_gb > 0.0 && stays_above {
                self.cluster.finished(&name);
                self.running.retain(|running| running.name != name);
                wanted_gb -= size_gb as f64;
            }
        }
    }

    fn running_of(&self, queue: usize) -> impl Iterator<Item = &Runs> {
        self.running.iter().filter(move |it| it.of.0 == queue)
    }

    fn used_gb(&self, queue: usize) -> u64 {
        self.running_of(queue).map(|it| it.size_gb).sum()
    }

    fn demanded_gb(&self, queue: usize) -> f64 {
        let ratio = |of| self.setup(of).known_ratio.unwrap_or(1.0);
        self.running_of(queue).map(|it| it.size_gb as f64 * ratio(it.of)).sum()
    }

    fn pending_gb(&self, queue: usize) -> u64 {
        let of_it = self.applications.iter().filter(|(_, of)| of.0 == queue);
        let waiting = of_it.filter_map(|(id, of)| {
            let ask = self.cluster.application(*id)?.waiting?;
            Some(u64::from(ask.count) * self.setup(*of).request_gb)
        });
        waiting.sum()
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
            let limit = queue.maximum * self.physical_gb() + LARGEST_GB as f64;
            let (used, demanded) = (self.used_gb(number) as f64, self.demanded_gb(number));
            assert!(used.min(demanded) <= limit + 1e-6, "{queue:?}: {used} {demanded} {limit}");
        }
        for (_, entry) in self.cluster.nodes() {
            let taken = entry.node.expected_at(self.now_ms).memory_bytes;
            assert!(taken <= entry.node.capacity.memory_bytes * (1.0 + 1e-6), "above physical");
        }
    }
}

/// Applications of a queue. Those of the last queue ask for few containers until it asks for its guarantee.
fn applications(asks: Vec<u32>) -> impl Strategy<Value = Vec<ApplicationSetup>> {
    let ratio = prop::option::of(prop::sample::select(vec![0.2, 0.5, 1.0]));
    let count = || prop::sample::select(asks.clone());
    let application =
        (ratio, 1..=LARGEST_GB, [count(), count()]).prop_map(|(known_ratio, request_gb, asks)| {
            ApplicationSetup { known_ratio, request_gb, asks }
        });
    prop::collection::vec(application, 1..4)
}

fn queues() -> impl Strategy<Value = Vec<QueueSetup>> {
    let queue = |asks| (1..4_u32, 0..3_u32, applications(asks));
    let busy = prop::collection::vec(queue(vec![0, 5, 30, 500]), 1..3);
    (busy, queue(vec![0, 2, 5])).prop_map(|(mut queues, last)| {
        queues.push(last);
        let weights: u32 = queues.iter().map(|it| it.0).sum();
        let setups = queues.into_iter().enumerate().map(|(number, queue)| {
            let (weight, more, applications) = queue;
            let capacity = f64::from(weight) / f64::from(weights);
            let maximum = (capacity * f64::from(1 + more)).min(1.0);
            QueueSetup { name: format!("root.{number}"), capacity, maximum, applications }
        });
        setups.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_queue_gets_its_guarantee_and_no_queue_more_than_its_maximum(
        nodes in 2..5_usize,
        queues in queues(),
    ) {
        let mut surroundings = Surroundings::new(nodes, queues);
        let last = surroundings.queues.len() - 1;
        for second in 0..40 {
            match second {
                0 => surroundings.ask_for_more(|_, setup| setup.asks[0]),
                20 => surroundings.ask_for_more(|_, setup| setup.asks[1]),
                _ => {}
            }
            surroundings.second();
            surroundings.check_limits();
        }
        // Every application of the last queue asks for more than all of its part of the machines.
        surroundings.ask_for_more(|(queue, _), _| if queue == last { 500 } else { 0 });
        let guaranteed_gb = surroundings.queues[last].capacity * surroundings.physical_gb();
        // Less than a container may be left over on each node, and of each queue's share.
        let left_over = LARGEST_GB * (nodes + last + 1) as u64;
        let wanted = (guaranteed_gb as u64).saturating_sub(left_over);
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

//! The nodes of a label as a cluster of their own, as CapacityScheduler counts them.

use std::collections::{BTreeMap, HashSet};

use elastane_core::Resources;
use elastane_core::cluster::{QueueShare, Request, UserLimit};
use elastane_runtime::{PastCluster, PastNode};

use crate::workload::{MastersLimit, Parts, QueueSpec};

/// Of a queue that has no part of a label's nodes.
const LEAST_PART: f64 = 1e-3;

/// The nodes of an exclusive label; or those without one, and with one that is not exclusive.
pub(super) struct Pool {
    pub(super) machines: Vec<Resources>,
    pub(super) queues: Vec<QueueSpec>,
}

/// All of them.
pub(super) struct Pools<'a> {
    /// By label. Empty is the pool of the nodes without a label and of those whose label is not exclusive, and of the
    /// containers that ask for no label or for one of these.
    pools: BTreeMap<&'a str, Pool>,
    /// Labels that are not exclusive.
    lent: HashSet<&'a str>,
}

impl<'a> Pools<'a> {
    pub(super) fn of(past: &'a PastCluster) -> Self {
        let shared = past.queues.iter().filter(|queue| queue.is_label_shared);
        let mut all =
            Self { pools: BTreeMap::new(), lent: shared.map(|it| it.label.as_str()).collect() };
        let labels = past.nodes.iter().map(|node| &*node.label);
        let used = past.applications.iter().flat_map(|it| &it.containers).map(|it| &*it.label);
        let labels: HashSet<_> = labels.chain(used).map(|label| all.label_of(label)).collect();
        for label in labels {
            let nodes = past.nodes.iter().filter(|node| all.label_of(&node.label) == label);
            let pool = Pool::of(past, label, &nodes.collect::<Vec<_>>());
            all.pools.insert(label, pool);
        }
        for application in &past.applications {
            for container in &application.containers {
                if let Some(pool) = all.pools.get_mut(all.label_of(&container.label)) {
                    pool.has_queue(&application.subject.queue);
                }
            }
        }
        all
    }

    /// The label of the pool of nodes with this one.
    pub(super) fn label_of<'b>(&self, label: &'b str) -> &'b str {
        if self.lent.contains(label) { "" } else { label }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a str, &Pool)> {
        self.pools.iter().map(|(label, pool)| (*label, pool))
    }

    pub(super) fn get(&self, label: &str) -> Option<&Pool> {
        self.pools.get(label)
    }
}

impl Pool {
    fn of(past: &PastCluster, label: &str, nodes: &[&PastNode]) -> Self {
        Self { machines: machines(past, nodes), queues: queues(past, label, nodes) }
    }

    /// The place of a queue.
    pub(super) fn queue(&self, path: &str) -> Option<usize> {
        self.queues.iter().position(|queue| queue.path == path)
    }

    fn has_queue(&mut self, path: &str) {
        if self.queue(path).is_none() {
            self.queues.push(QueueSpec::new(path, LEAST_PART));
        }
    }

    /// Whether a container of a queue may ever start here.
    pub(super) fn may_hold(&self, request: Request, queue: &str) -> bool {
        // By its own maximum and those of the queues above it.
        let holding = self.queues.iter().filter(|it| it.holds(queue));
        let most = holding.map(|it| it.maximum).fold(Parts::both(1.0), Parts::min);
        let (memory_bytes, vcores) = (request.memory_bytes as f64, f64::from(request.vcores));
        let registered: Resources = self.machines.iter().copied().sum();
        memory_bytes <= registered.memory_bytes * most.memory
            && vcores <= registered.cpu_cores * most.vcores
            && self
                .machines
                .iter()
                .any(|machine| memory_bytes <= machine.memory_bytes && vcores <= machine.cpu_cores)
    }
}

/// Sizes as registered. CPU is in virtual cores where CapacityScheduler counts them.
fn machines(past: &PastCluster, nodes: &[&PastNode]) -> Vec<Resources> {
    let counts = past.settings.cluster.virtual_cores_count;
    let machine = nodes.iter().map(|node| Resources {
        cpu_cores: if counts { f64::from(node.registered.vcores) } else { node.physical.cpu_cores },
        memory_bytes: node.registered.memory_bytes as f64,
        ..node.physical
    });
    machine.collect()
}

/// The queues below the root, as they are on nodes with this label.
fn queues(past: &PastCluster, label: &str, nodes: &[&PastNode]) -> Vec<QueueSpec> {
    let below_root = |queue: &&QueueShare| queue.label == label && queue.queue.contains('.');
    let of_all = |of: fn(&Request) -> f64| nodes.iter().map(|it| of(&it.registered)).sum::<f64>();
    let (memory_bytes, vcores) =
        (of_all(|it| it.memory_bytes as f64), of_all(|it| f64::from(it.vcores)));
    let part = |amount: Option<Request>, part: f64| {
        let of = |amount: f64, whole: f64| if whole > 0.0 { amount / whole } else { part };
        amount.map_or(Parts::both(part), |amount| Parts {
            memory: of(amount.memory_bytes as f64, memory_bytes),
            vcores: of(f64::from(amount.vcores), vcores),
        })
    };
    let allowed = |parts: Parts| Parts {
        memory: parts.memory.clamp(LEAST_PART, 1.0),
        vcores: parts.vcores.clamp(LEAST_PART, 1.0),
    };
    let queue = past.queues.iter().filter(below_root).map(|queue| {
        let capacity = part(queue.guaranteed, queue.capacity);
        QueueSpec {
            path: queue.queue.clone(),
            is_leaf: queue.is_leaf,
            capacity: allowed(capacity),
            maximum: allowed(part(queue.at_most, queue.maximum)),
            masters: queue.masters.map(|part| {
                let step = queue.user_limit.map(|it| it.minimum_allocation).unwrap_or_default();
                let step =
                    Request { memory_bytes: step.memory_bytes.max(1), vcores: step.vcores.max(1) };
                MastersLimit { part, step }
            }),
            user_limit: queue.user_limit.map(|limit| UserLimit {
                // A multiple of no guarantee is no limit.
                factor: if capacity.memory > 0.0 { limit.factor } else { -1.0 },
                ..limit
            }),
        }
    });
    queue.collect()
}

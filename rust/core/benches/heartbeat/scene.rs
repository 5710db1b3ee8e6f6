//! The measured cluster.

use elastane_core::cluster::{
    Application, ApplicationId, Ask, Basis, Commit, CommitRequest, Demands, NodeId, Predicted,
    Request, StartSearch, plan_starts,
};
use elastane_core::policy::{Favor, PolicyOptions, named};
use elastane_core::{Cluster, ClusterSettings, ContainerKind, Demand, Resources, SLOT_MS};

use crate::random::Random;
use elastane_core::fit::Peaks;

const GB: f64 = 1e9;
/// 64 cores, 256 GB, 10 Gbit/s, 2 GB/s.
const CAPACITY: Resources = Resources::from_array([64.0, 256.0 * GB, 1.25e9, 2e9]);
const REGISTERED: Request = Request { memory_bytes: 256_000_000_000, vcores: 64 };
pub const UNBOUNDED: Request = Request { memory_bytes: u64::MAX, vcores: u32::MAX };
const REQUEST: Request = Request { memory_bytes: 4_000_000_000, vcores: 1 };

/// The waiting applications of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// No application fits: memory lacks for each.
    NoneFits,
    /// Half of them fit: memory suffices for half, and CPU, network and disk for all.
    HalfFits,
    /// All fit, and no bound decides: each needs most of the memory late in its life, when only
    /// some of the running executors have ended.
    Doubtful,
    /// Half of them fit, and the others go first, so that each fitting one is checked against their planned
    /// starts.
    HeldFirst,
}

impl Case {
    pub const ALL: [Case; 4] = [Case::NoneFits, Case::HalfFits, Case::Doubtful, Case::HeldFirst];

    pub fn name(self) -> &'static str {
        match self {
            Case::NoneFits => "none_fits",
            Case::HalfFits => "half_fits",
            Case::Doubtful => "doubtful",
            Case::HeldFirst => "held_first",
        }
    }
}

/// The size of a scene.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub pending: usize,
    pub running: usize,
    pub steps: usize,
    pub other_nodes: usize,
    /// Largest completed share of the running executors' lives.
    pub passed: f64,
    /// Whether waiting applications claim what they start on later.
    pub claims: bool,
}

impl Size {
    /// The size to which the bounds apply.
    pub fn of(pending: usize) -> Self {
        Self { pending, running: 50, steps: 128, other_nodes: 0, passed: 1.0, claims: false }
    }
}

pub struct Scene {
    pub cluster: Cluster,
    pub node: NodeId,
    pub now_ms: i64,
    pub waiting: Vec<ApplicationId>,
    /// An application without an ask, to commit and finish.
    pub small: ApplicationId,
}

/// A random walk around its mean, within `spread` of it.
fn wandering(random: &mut Random, mean: Resources, spread: f64, steps: usize) -> Vec<Resources> {
    let mut level = 0.0;
    let mut slots = Vec::with_capacity(steps);
    for _ in 0..steps {
        level = (level + random.between(-0.3, 0.3)).clamp(-1.0, 1.0);
        let memory_level = 1.0 + spread * level * 0.3;
        let other_level = 1.0 + spread * level;
        let [cpu, memory, network, disk] = mean.to_array();
        slots.push(Resources::from_array([
            cpu * other_level,
            memory * memory_level,
            network * other_level * random.between(0.5, 1.5),
            disk * other_level * random.between(0.5, 1.5),
        ]));
    }
    slots
}

fn predicted(slots: &[Resources]) -> Demands {
    let predicted = |demand| Predicted::of(demand, 0.1, Basis::Profile("profile".into()));
    let demand = Demand::series(SLOT_MS, slots).ok();
    demand.map(|demand| (ContainerKind::DEFAULT_EXECUTOR, predicted(demand))).into_iter().collect()
}

/// Distinct demands of the waiting applications.
pub fn courses(case: Case, size: Size) -> Vec<Demands> {
    let mut random = Random::new(2);
    let mut course = |i: usize| {
        let cpu = random.between(0.2, 0.6);
        let mean = |memory| Resources::from_array([cpu, memory * GB, 5e6, 8e6]);
        match case {
            Case::NoneFits => {
                let memory = random.between(70.0, 120.0);
                wandering(&mut random, mean(memory), 0.5, size.steps)
            }
            Case::HalfFits => {
                let memory = random.between(2.0, 86.0);
                wandering(&mut random, mean(memory), 0.5, size.steps)
            }
            Case::Doubtful => {
                let mut slots = wandering(&mut random, mean(3.0), 0.5, size.steps);
                let late = size.steps - 1 - i % (size.steps / 16).max(1);
                slots[late].memory_bytes = random.between(140.0, 160.0) * GB;
                slots
            }
            Case::HeldFirst if i.is_multiple_of(2) => {
                let memory = random.between(66.0, 86.0);
                wandering(&mut random, mean(memory), 0.5, size.steps)
            }
            Case::HeldFirst => {
                let memory = random.between(2.0, 24.0);
                let network = 1.25e9 * random.between(0.4, 0.45);
                let mean = Resources::from_array([cpu, memory * GB, network, 8e6]);
                wandering(&mut random, mean, 0.5, size.steps)
            }
        }
    };
    (0..size.pending).map(|i| predicted(&course(i))).collect()
}

/// The measured policy.
#[derive(Debug, Clone, Copy)]
pub struct Under {
    pub name: &'static str,
    pub peaks: Peaks,
}

impl Under {
    /// The default, with planned starts.
    pub const ELASTANE: Under = Under { name: "elastane", peaks: Peaks::Soft };
    /// No planned starts, and a strict fit.
    pub const MINFRAG: Under = Under { name: "minfrag", peaks: Peaks::Strict };
}

impl Scene {
    pub fn new(under: Under, size: Size, courses: &[Demands]) -> Self {
        let settings = ClusterSettings {
            enforce: true,
            virtual_cores_count: true,
            max_ratio: 4.0,
            fresh_for_ms: i64::MAX,
            grow_every_ms: 3_000,
            starvation_wait_ms: i64::MAX,
        };
        let options = PolicyOptions { peaks: Some(under.peaks), favor: Favor::Balanced };
        let policy = match named(under.name, options) {
            Ok(policy) => policy,
            Err(error) => unreachable!("{error}"),
        };
        let mut cluster = Cluster::new(settings, policy);
        let now_ms = 1_700_000_000_000;
        let mut random = Random::new(1);
        let mut node = None;
        for number in 0..=size.other_nodes {
            let id = cluster.node_added(&format!("node-{number}:8041"), REGISTERED);
            cluster.reported(id, CAPACITY, now_ms);
            node.get_or_insert(id);
            run(&mut cluster, &mut random, id, number, size, now_ms);
        }
        let Some(node) = node else { unreachable!("there is one node at least") };
        cluster.raise_to_ceiling(now_ms);
        let waiting = courses
            .iter()
            .map(|demands| submit(&mut cluster, demands.clone(), 4, now_ms))
            .collect();
        let slots = wandering(
            &mut random,
            Resources::from_array([0.05, 0.5 * GB, 1e6, 1e6]),
            0.5,
            size.steps,
        );
        let small = submit(&mut cluster, predicted(&slots), 0, now_ms);
        if size.claims {
            plan_starts(&mut cluster, now_ms);
        }
        Self { cluster, node, now_ms, waiting, small }
    }

    pub fn round(&mut self) -> usize {
        let named = self.cluster.round(self.node, UNBOUNDED, self.now_ms);
        named.map_or(0, |named| named.len())
    }

    /// The copy that a search of starts reads.
    pub fn starts_to_plan(&mut self) -> Option<StartSearch> {
        StartSearch::of(&mut self.cluster, self.now_ms)
    }

    /// Searches the starts, and makes the result count.
    pub fn plan(&mut self, search: Option<StartSearch>) {
        if let Some(search) = search {
            search.run().put_into(&mut self.cluster);
        }
    }

    /// Number of applications that do not fit, after a round.
    pub fn refused(&mut self) -> usize {
        let now_ms = self.now_ms;
        let cluster = &mut self.cluster;
        let held = |id: &&ApplicationId| cluster.wait_reason(**id, now_ms).is_some();
        self.waiting.iter().filter(held).count()
    }

    pub fn commit(&mut self) -> bool {
        let commit = CommitRequest {
            container: "container-measured",
            application: self.small,
            node: self.node,
            kind: ContainerKind::DEFAULT_EXECUTOR,
            request: REQUEST,
            may_refuse: true,
            start_ms: self.now_ms,
        };
        matches!(self.cluster.commit(commit, self.now_ms), Commit::Placed(_))
    }

    pub fn finish(&mut self) -> bool {
        self.cluster.finished("container-measured").is_some()
    }
}

fn submit(cluster: &mut Cluster, demands: Demands, count: u32, now_ms: i64) -> ApplicationId {
    let application = Application::new("application", "name", "root.default", demands, now_ms);
    let id = cluster.application_added(application);
    let ask = Ask { kind: ContainerKind::DEFAULT_EXECUTOR, priority: 0, request: REQUEST, count };
    cluster.pending(id, ask, now_ms);
    id
}

/// Containers that fill most of a node, each at a random point of its life.
fn run(
    cluster: &mut Cluster,
    random: &mut Random,
    node: NodeId,
    number: usize,
    size: Size,
    now_ms: i64,
) {
    let share = 1.0 / size.running.max(1) as f64;
    let [cpu, memory, network, disk] = CAPACITY.to_array();
    let mean = Resources::from_array([cpu * 0.5, memory * 0.8, network * 0.5, disk * 0.5]) * share;
    for container in 0..size.running {
        let slots = wandering(random, mean, 0.6, size.steps);
        let application = submit(cluster, predicted(&slots), 0, now_ms);
        let passed = random.between(0.0, size.steps as f64 * size.passed) as i64;
        let id = format!("container-{number}-{container}");
        let commit = CommitRequest {
            container: &id,
            application,
            node,
            kind: ContainerKind::DEFAULT_EXECUTOR,
            request: REQUEST,
            may_refuse: false,
            start_ms: now_ms - passed * i64::from(SLOT_MS),
        };
        cluster.commit(commit, now_ms);
        cluster.measured_memory(&id, mean.memory_bytes * 0.9);
    }
}

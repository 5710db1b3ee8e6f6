//! Nodes and waiting applications, for `status`.

mod limit_words;
mod words;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use elastane_core::Cluster;
use elastane_core::cluster::{
    ApplicationId, Ask, ExpectedStart, LimitUse, NodeEntry, NodeId, Observed, PlannedStart,
    StartForecast, WaitReason, applications_after,
};
use serde::Serialize;

use crate::deadlines::{DeadlineStatus, Deadlines};
use crate::measured::Measured;
use crate::runs::Runs;
use words::{Words, is_limit};

const ENFORCE: &str = "enforce";
const ADVISE: &str = "advise";

/// Nodes and waiting applications.
#[derive(Debug, Serialize)]
pub struct ServiceStatus {
    mode: &'static str,
    runs_recording: usize,
    /// Runs that an earlier process began to record.
    runs_resumed: u64,
    #[serde(flatten)]
    totals: Totals,
    nodes: Vec<NodeStatus>,
    waiting: Vec<WaitingStatus>,
}

/// Numbers of all nodes and waiting applications.
#[derive(Debug, Default, Serialize)]
struct Totals {
    nodes_enforced: usize,
    /// Whose agent's report is recent enough to act on.
    agents_fresh: usize,
    /// The other nodes.
    agents_silent: usize,
    containers: usize,
    /// Planned by a profile, on nodes whose report is fresh.
    predicted_containers: usize,
    /// The mean safety margin of these, as a percentage of the demand; 0 without any.
    mean_margin_percent: f64,
    waiting_applications: usize,
    waiting_containers: u64,
}

impl Totals {
    fn of(nodes: &[(NodeId, NodeStatus)], waiting: &[WaitingSnapshot]) -> Self {
        let count = |is: fn(&NodeStatus) -> bool| nodes.iter().filter(|(_, it)| is(it)).count();
        let fresh = || nodes.iter().filter(|(_, it)| it.report_is_fresh);
        let measured = || fresh().filter_map(|(_, it)| it.measured.as_ref());
        let predicted_containers = measured().map(|it| it.predicted_containers).sum();
        let margins: f64 = measured().map(|it| it.margins).sum();
        Self {
            nodes_enforced: count(|it| it.mode == ENFORCE),
            agents_fresh: count(|it| it.report_is_fresh),
            agents_silent: count(|it| !it.report_is_fresh),
            containers: nodes.iter().map(|(_, it)| it.containers).sum(),
            predicted_containers,
            mean_margin_percent: 100.0 * margins / predicted_containers.max(1) as f64,
            waiting_applications: waiting.len(),
            waiting_containers: waiting.iter().map(|it| u64::from(it.ask.count)).sum(),
        }
    }
}

#[derive(Debug, Serialize)]
struct NodeStatus {
    node: String,
    mode: &'static str,
    /// Whether the newest report is recent enough to act on.
    report_is_fresh: bool,
    bookable_memory_ratio: f64,
    bookable_vcores_ratio: f64,
    report_age_ms: Option<i64>,
    containers: usize,
    booked_memory_bytes: u64,
    booked_vcores: u32,
    registered_memory_bytes: u64,
    registered_vcores: u32,
    /// As its agent measured it; until then a registered virtual core counts as one.
    physical_cpu_cores: f64,
    /// As its agent measured them or was told; 0 if they are not known.
    physical_network_bytes_per_s: f64,
    physical_disk_bytes_per_s: f64,
    /// From the newest report; none before the first one.
    measured: Option<Measured>,
}

impl NodeStatus {
    fn of(entry: &NodeEntry, measured: Option<Measured>, fresh_for_ms: i64, now_ms: i64) -> Self {
        Self {
            node: entry.name.clone(),
            mode: mode(entry.is_enforced),
            report_is_fresh: entry.is_fresh(fresh_for_ms, now_ms),
            bookable_memory_ratio: f64::from(entry.bookable.memory_thousandths) / 1e3,
            bookable_vcores_ratio: f64::from(entry.bookable.vcores_thousandths) / 1e3,
            report_age_ms: entry.last_report_ms.map(|last_ms| (now_ms - last_ms).max(0)),
            containers: entry.node.running_count(),
            booked_memory_bytes: entry.booked.memory_bytes,
            booked_vcores: entry.booked.vcores,
            registered_memory_bytes: entry.registered.memory_bytes,
            registered_vcores: entry.registered.vcores,
            physical_cpu_cores: entry.node.capacity.cpu_cores,
            physical_network_bytes_per_s: entry.node.capacity.network_bytes_per_s,
            physical_disk_bytes_per_s: entry.node.capacity.disk_bytes_per_s,
            measured,
        }
    }

    /// What can still be booked.
    fn free_bytes(&self) -> u64 {
        let bookable = self.registered_memory_bytes as f64 * self.bookable_memory_ratio;
        (bookable as u64).saturating_sub(self.booked_memory_bytes)
    }
}

#[derive(Debug, Serialize)]
struct WaitingStatus {
    application: String,
    /// The priority of the next container's request; an application master's has none.
    request_priority: Option<i32>,
    containers: u32,
    for_ms: i64,
    /// None without a deadline.
    deadline: Option<DeadlineStatus>,
    /// None where no plan has it: others are before it, or its end is not predicted.
    planned_start: Option<PlannedStartStatus>,
    /// None where it is not known.
    expected_start: Option<ExpectedStartStatus>,
    reason: String,
    limit_of: LimitOf,
    /// Where that is; none for all nodes.
    node: Option<String>,
}

/// Whose limit it is that an application waits for.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum LimitOf {
    /// Of queues, users and application masters, labels, constraints, and of what can be booked.
    CapacityScheduler,
    /// What is planned on nodes, or mode observe.
    Elastane,
}

impl LimitOf {
    fn why(why: Option<&WaitReason>, observed: Observed) -> Self {
        match why {
            None if observed.is_so() => Self::Elastane,
            None
            | Some(
                WaitReason::Held
                | WaitReason::Skipped { .. }
                | WaitReason::UserAtCapacityLimit { .. },
            ) => Self::CapacityScheduler,
            Some(_) => Self::Elastane,
        }
    }
}

#[derive(Debug, Serialize)]
struct PlannedStartStatus {
    /// The node of the first container.
    node: String,
    in_ms: i64,
    /// When the last planned container starts.
    last_in_ms: i64,
    /// The number of planned containers.
    containers: u32,
}

#[derive(Debug, Serialize)]
struct ExpectedStartStatus {
    in_ms: i64,
    is_rough: bool,
}

impl ExpectedStartStatus {
    fn from_now(start: ExpectedStart, now_ms: i64) -> Self {
        Self { in_ms: (start.at_ms - now_ms).max(0), is_rough: start.is_rough }
    }
}

/// Nodes that are copied before a heartbeat gets its turn, unless more than [`CONTAINERS_AT_ONCE`] run there.
const NODES_AT_ONCE: usize = 50;
const CONTAINERS_AT_ONCE: usize = 400;
/// Applications that are looked at before a heartbeat gets its turn, with the reasons of those that wait.
const APPLICATIONS_AT_ONCE: usize = 100;

/// Plain data, taken in short steps under the service's lock; it is written in words without. Heartbeats wait for a
/// step, and for neither words nor JSON. What begins or ends meanwhile may be left out.
#[derive(Debug)]
pub struct StatusSnapshot {
    mode: &'static str,
    runs_recording: usize,
    runs_resumed: u64,
    now_ms: i64,
    /// What is still to be done.
    nodes_to_copy: VecDeque<NodeId>,
    /// The last application that was looked at.
    looked_at: Option<ApplicationId>,
    nodes: Vec<(NodeId, NodeStatus)>,
    waiting: Vec<WaitingSnapshot>,
    forecast: StartForecast,
    /// Those that a reason names.
    applications: HashMap<ApplicationId, String>,
}

#[derive(Debug)]
struct WaitingSnapshot {
    id: ApplicationId,
    application: String,
    user: Arc<str>,
    queue: Arc<str>,
    ask: Ask,
    since_ms: i64,
    deadline: Option<DeadlineStatus>,
    start: Option<PlannedStart>,
    why: Option<WaitReason>,
    /// The limit that the reason is about, if it leaves no room now.
    limit: Option<LimitUse>,
    observed: Observed,
}

impl WaitingSnapshot {
    /// None where it is gone.
    fn of(
        cluster: &mut Cluster,
        deadlines: &Deadlines,
        id: ApplicationId,
        ask: Ask,
        now_ms: i64,
    ) -> Option<Self> {
        // Where CapacityScheduler decides by now, what the core found before is no reason any more.
        let why = cluster
            .wait_reason(id, now_ms)
            .filter(|why| why.node().is_none_or(|node| cluster.decides(node, now_ms)));
        let limit = why.filter(is_limit).and_then(|_| LimitUse::of(cluster, id, now_ms));
        let application = cluster.application(id)?;
        let since_ms = application.waiting_since_ms;
        let observed = application.demands.observed();
        let (user, queue) = (Arc::clone(&application.user), Arc::clone(&application.queue));
        let application = application.id.clone();
        let start = PlannedStart::of(cluster, id);
        let deadline = deadlines.status(cluster, id, now_ms);
        Some(Self {
            id,
            application,
            user,
            queue,
            ask,
            since_ms,
            deadline,
            start,
            why,
            limit,
            observed,
        })
    }
}

impl StatusSnapshot {
    /// Says what is to be copied.
    pub(crate) fn begin(cluster: &Cluster, runs: &Runs, is_advised: bool, now_ms: i64) -> Self {
        let enforces = cluster.settings().enforce;
        Self {
            mode: if is_advised { ADVISE } else { mode(enforces) },
            runs_recording: runs.recording(),
            runs_resumed: runs.resumed(),
            now_ms,
            nodes_to_copy: cluster.nodes().map(|(id, _)| id).collect(),
            looked_at: None,
            nodes: Vec::new(),
            waiting: Vec::new(),
            forecast: StartForecast::new(cluster, now_ms),
            applications: HashMap::new(),
        }
    }

    /// Copies some nodes, or asks why some applications wait; false once there is no more.
    pub(crate) fn go_on(
        &mut self,
        cluster: &mut Cluster,
        measured: &HashMap<NodeId, Measured>,
        deadlines: &Deadlines,
    ) -> bool {
        if !self.nodes_to_copy.is_empty() {
            let copied = self.forecast.container_count();
            for _ in 0..NODES_AT_ONCE {
                if self.forecast.container_count() >= copied + CONTAINERS_AT_ONCE {
                    break;
                }
                let Some(number) = self.nodes_to_copy.pop_front() else {
                    break;
                };
                if let Some(entry) = cluster.node(number) {
                    let measured = measured.get(&number).cloned();
                    let fresh_for_ms = cluster.settings().fresh_for_ms;
                    let status = NodeStatus::of(entry, measured, fresh_for_ms, self.now_ms);
                    self.nodes.push((number, status));
                    self.forecast.add_node(cluster, number);
                }
            }
            return true;
        }
        let after = applications_after(cluster, self.looked_at).take(APPLICATIONS_AT_ONCE);
        let some: Vec<_> = after.map(|(id, it)| (id, it.waiting.or(it.held))).collect();
        self.looked_at = some.last().map(|(id, _)| *id).or(self.looked_at);
        let asking = some.iter().filter_map(|(id, ask)| Some((*id, (*ask)?)));
        for (id, ask) in asking {
            self.forecast.add_waiting(cluster, id, &ask);
            let waiting = WaitingSnapshot::of(cluster, deadlines, id, ask, self.now_ms);
            let named = waiting.as_ref().and_then(|it| named_application(it.why.as_ref()?));
            let named = named.and_then(|named| Some((named, cluster.application(named)?)));
            self.applications.extend(named.map(|(named, it)| (named, it.id.clone())));
            self.waiting.extend(waiting);
        }
        !some.is_empty()
    }

    /// The same in words.
    pub fn into_status(self) -> ServiceStatus {
        let totals = Totals::of(&self.nodes, &self.waiting);
        let names = self.nodes.iter().map(|(number, status)| (*number, status.node.as_str()));
        let words = Words {
            now_ms: self.now_ms,
            nodes: names.collect(),
            applications: &self.applications,
            most_free_bytes: self.nodes.iter().map(|(_, it)| it.free_bytes()).max(),
        };
        // Where no node is in mode enforce, none is raised for anybody.
        let any_is_enforced = totals.nodes_enforced > 0;
        let expected = self.forecast.run();
        let waiting = self.waiting.into_iter().map(|waiting| {
            let observed = if any_is_enforced { waiting.observed } else { Observed::default() };
            let limit = waiting.limit.as_ref();
            let why = waiting.why.filter(|why| words.still_holds(why, limit, &waiting.ask));
            WaitingStatus {
                reason: words.reason(why, &waiting, observed),
                request_priority: waiting.ask.kind.priority(),
                containers: waiting.ask.count,
                for_ms: (self.now_ms - waiting.since_ms).max(0),
                deadline: waiting.deadline,
                planned_start: waiting.start.map(|start| words.planned(start)),
                expected_start: expected
                    .get(&waiting.id)
                    .map(|start| ExpectedStartStatus::from_now(*start, self.now_ms)),
                limit_of: LimitOf::why(why.as_ref(), observed),
                node: why.as_ref().and_then(place_of).map(|node| words.node(node).to_owned()),
                application: waiting.application,
            }
        });
        let waiting = waiting.collect();
        ServiceStatus {
            mode: self.mode,
            runs_recording: self.runs_recording,
            runs_resumed: self.runs_resumed,
            totals,
            nodes: self.nodes.into_iter().map(|(_, status)| status).collect(),
            waiting,
        }
    }
}

fn mode(enforces: bool) -> &'static str {
    if enforces { ENFORCE } else { "observe" }
}

/// The node that a reason is about; none if it is about all.
fn place_of(why: &WaitReason) -> Option<NodeId> {
    let is_of_all = matches!(why, WaitReason::UserAtCapacityLimit { .. });
    why.node().filter(|_| !is_of_all)
}

/// The application whose name a reason has.
fn named_application(why: &WaitReason) -> Option<ApplicationId> {
    match why {
        WaitReason::Behind { behind, .. } => Some(*behind),
        WaitReason::Kept(kept) => Some(kept.application),
        WaitReason::NoFit { .. }
        | WaitReason::Keeps(_)
        | WaitReason::Held
        | WaitReason::AtMaximum { .. }
        | WaitReason::UserAtLimit { .. }
        | WaitReason::Yields { .. }
        | WaitReason::RegisteredOnly { .. }
        | WaitReason::Skipped { .. }
        | WaitReason::UserAtCapacityLimit { .. } => None,
    }
}

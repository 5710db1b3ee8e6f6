//! Nodes and waiting applications, for `status`.

use std::collections::HashMap;

use elastane_core::Cluster;
use elastane_core::cluster::{ApplicationId, Ask, KeptNode, NodeId, PlannedStart, WaitReason};
use serde::Serialize;

use crate::deadlines::{DeadlineStatus, Deadlines};
use crate::measured::Measured;
use crate::runs::Runs;

const ENFORCE: &str = "enforce";

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
    /// From the newest report; none before the first one.
    measured: Option<Measured>,
}

impl NodeStatus {
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
    /// What is planned on nodes.
    Elastane,
}

impl LimitOf {
    fn why(why: Option<&WaitReason>) -> Self {
        match why {
            None | Some(WaitReason::Held | WaitReason::Skipped { .. }) => Self::CapacityScheduler,
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

/// Plain data of one moment. Its owner takes it under the service's lock, and writes it in words
/// without: heartbeats wait for neither words nor JSON.
#[derive(Debug)]
pub struct StatusSnapshot {
    enforces: bool,
    runs_recording: usize,
    runs_resumed: u64,
    now_ms: i64,
    nodes: Vec<(NodeId, NodeStatus)>,
    waiting: Vec<WaitingSnapshot>,
    /// Those that a reason names.
    applications: HashMap<ApplicationId, String>,
}

#[derive(Debug)]
struct WaitingSnapshot {
    application: String,
    ask: Ask,
    since_ms: i64,
    deadline: Option<DeadlineStatus>,
    start: Option<PlannedStart>,
    why: Option<WaitReason>,
}

impl StatusSnapshot {
    pub(crate) fn take(
        cluster: &mut Cluster,
        measured: &HashMap<NodeId, Measured>,
        runs: &Runs,
        deadlines: &Deadlines,
        now_ms: i64,
    ) -> Self {
        let fresh_for_ms = cluster.settings().fresh_for_ms;
        let nodes = cluster.nodes().map(|(number, entry)| {
            let status = NodeStatus {
                node: entry.name.clone(),
                mode: mode(entry.is_enforced),
                report_is_fresh: entry.is_fresh(fresh_for_ms, now_ms),
                bookable_memory_ratio: f64::from(entry.bookable.memory_thousandths) / 1e3,
                bookable_vcores_ratio: f64::from(entry.bookable.vcores_thousandths) / 1e3,
                report_age_ms: entry.last_report_ms.map(|last_ms| now_ms - last_ms),
                containers: entry.node.running_count(),
                booked_memory_bytes: entry.booked.memory_bytes,
                booked_vcores: entry.booked.vcores,
                registered_memory_bytes: entry.registered.memory_bytes,
                registered_vcores: entry.registered.vcores,
                measured: measured.get(&number).cloned(),
            };
            (number, status)
        });
        let nodes = nodes.collect();
        let applications = cluster.applications();
        let asking: Vec<_> =
            applications.filter_map(|(id, it)| Some((id, it.waiting.or(it.held)?))).collect();
        let waiting = asking.into_iter().filter_map(|(id, ask)| {
            // Where CapacityScheduler decides by now, what the core found before is no reason any more.
            let why = cluster
                .wait_reason(id, now_ms)
                .filter(|why| why.node().is_none_or(|node| cluster.decides(node, now_ms)));
            let application = cluster.application(id)?;
            let since_ms = application.waiting_since_ms;
            let application = application.id.clone();
            let start = PlannedStart::of(cluster, id);
            let deadline = deadlines.status(cluster, id, now_ms);
            Some(WaitingSnapshot { application, ask, since_ms, deadline, start, why })
        });
        let waiting: Vec<_> = waiting.collect();
        let named = waiting.iter().filter_map(|waiting| named_application(waiting.why.as_ref()?));
        let applications = named
            .filter_map(|named| Some((named, cluster.application(named)?.id.clone())))
            .collect();
        Self {
            enforces: cluster.settings().enforce,
            runs_recording: runs.recording(),
            runs_resumed: runs.resumed(),
            now_ms,
            nodes,
            waiting,
            applications,
        }
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
        let waiting = self.waiting.into_iter().map(|waiting| WaitingStatus {
            request_priority: waiting.ask.kind.priority(),
            containers: waiting.ask.count,
            for_ms: self.now_ms - waiting.since_ms,
            deadline: waiting.deadline,
            planned_start: waiting.start.map(|start| words.planned(start)),
            limit_of: LimitOf::why(waiting.why.as_ref()),
            node: waiting
                .why
                .as_ref()
                .and_then(WaitReason::node)
                .map(|node| words.node(node).to_owned()),
            reason: words.reason(waiting.why, &waiting.ask),
            application: waiting.application,
        });
        let waiting = waiting.collect();
        ServiceStatus {
            mode: mode(self.enforces),
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
        | WaitReason::Observed { .. }
        | WaitReason::Skipped { .. } => None,
    }
}

/// Names for the words.
struct Words<'a> {
    now_ms: i64,
    nodes: HashMap<NodeId, &'a str>,
    applications: &'a HashMap<ApplicationId, String>,
    /// The most memory that can still be booked on one node; none without nodes.
    most_free_bytes: Option<u64>,
}

impl Words<'_> {
    fn node(&self, node: NodeId) -> &str {
        self.nodes.get(&node).copied().unwrap_or("a node that is gone")
    }

    fn application(&self, application: ApplicationId) -> &str {
        self.applications.get(&application).map_or("an application that is gone", String::as_str)
    }

    fn planned(&self, start: PlannedStart) -> PlannedStartStatus {
        let from_now = |at_ms: i64| (at_ms - self.now_ms).max(0);
        PlannedStartStatus {
            node: self.node(start.node).to_owned(),
            in_ms: from_now(start.first_ms),
            last_in_ms: from_now(start.last_ms),
            containers: start.containers,
        }
    }

    fn reason(&self, why: Option<WaitReason>, ask: &Ask) -> String {
        let Some(why) = why else {
            return self.without_a_note(ask);
        };
        let (at, reason) = match why {
            WaitReason::Held => {
                return "CapacityScheduler does not let it start: the application masters of its queue or \
                        its user are at their limit (maximum-am-resource-percent), or too many \
                        applications run (max-parallel-apps)"
                    .to_owned();
            }
            WaitReason::NoFit { node, excess: Some(excess), .. } => (node, excess.to_string()),
            WaitReason::NoFit { node, resource, .. } => {
                let resource = resource.name();
                (node, format!("{resource} was short when last asked, and is not now"))
            }
            WaitReason::Behind { node, behind } => {
                let first = self.application(behind);
                (node, format!("it would delay the planned start of {first}, which goes first"))
            }
            WaitReason::Kept(kept) => {
                let (other, start) = (self.application(kept.application), self.start(&kept));
                (kept.node, format!("kept for {other}, {start}"))
            }
            WaitReason::Skipped { node } => (
                node,
                "it fits, and CapacityScheduler skipped it: a user limit, a node label, locality, a \
                 blacklist or a placement constraint"
                    .to_owned(),
            ),
            WaitReason::AtMaximum { node } => {
                (node, "its queue is at its maximum capacity by demand".to_owned())
            }
            WaitReason::UserAtLimit { node } => {
                (node, "its user is at its limit in the queue by demand".to_owned())
            }
            WaitReason::Yields { node } => (
                node,
                "its queue has its guarantee, and another queue waits for its own".to_owned(),
            ),
            WaitReason::Observed { node } => (
                node,
                "it or its queue is in mode observe, and the node's size is booked".to_owned(),
            ),
            WaitReason::Keeps(kept) => (kept.node, format!("kept for it, {}", self.start(&kept))),
        };
        format!("{}: {reason}", self.node(at))
    }

    /// No round has asked for it.
    fn without_a_note(&self, ask: &Ask) -> String {
        let asked = ask.request.memory_bytes;
        match self.most_free_bytes {
            Some(free) if free < asked => {
                let mib = |bytes: u64| bytes >> 20;
                format!(
                    "all nodes are booked: its next container requests {} MiB, and no node has more than {} MiB \
                     to book",
                    mib(asked),
                    mib(free)
                )
            }
            _ => "no node had free space by request, or none was asked yet".to_owned(),
        }
    }

    fn start(&self, kept: &KeptNode) -> String {
        match kept.start_ms {
            Some(start_ms) => {
                let seconds = (start_ms - self.now_ms).max(0) as f64 / 1e3;
                format!("which by plan goes there in {seconds:.1} s")
            }
            None => {
                "which goes there when what runs there without a predicted end has ended".to_owned()
            }
        }
    }
}

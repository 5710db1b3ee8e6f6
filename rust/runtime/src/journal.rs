//! Decisions, as records for people.

use std::borrow::Cow;

use elastane_core::cluster::{Basis, PlacedReason, Placement};
use elastane_core::{Cluster, Resources};
use elastane_protocol::Pressure;
use elastane_runs::Outcome;
use serde::{Deserialize, Serialize};

/// One line of the journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// Unix time in milliseconds. Of a correction whose window ended with its container or node: when
    /// the window opened.
    pub time_ms: i64,
    /// What happened.
    #[serde(flatten)]
    pub event: JournalEvent,
}

/// What happened, and where. Nodes and containers are named as YARN names them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum JournalEvent {
    /// A container was committed.
    Placed(Box<Placed>),
    /// The core refused a container.
    Refused(Refused),
    /// A container ended.
    Finished {
        /// YARN's container id.
        container: String,
        /// Its node.
        node: String,
    },
    /// The bookable capacity of a node changed.
    Bookable {
        /// The node.
        node: String,
        /// Bookable over registered.
        ratio: f64,
        /// Why.
        reason: Cow<'static, str>,
    },
    /// A container gives way because its node is short of memory, or was to give way and does not.
    Preemption(Box<Preemption>),
    /// The demand of a running container was corrected, or a window for a correction began or ended.
    Reprovision(Box<Reprovision>),
    /// A node's agent reported (only where `journal.usage` is set).
    #[serde(skip_deserializing)]
    Node(Box<NodeUsage>),
    /// A run was saved and its profile made anew.
    Learned {
        /// YARN's application id.
        application: String,
        /// The key of the profile.
        profile: String,
        /// How the run ended.
        outcome: Outcome,
        /// The number of runs in the profile; 0 without a profile.
        runs: usize,
    },
    /// An application with a deadline was submitted, or ended.
    Deadline(DeadlineNews),
    /// A record that is not read: [`JournalEvent::Node`], or one of a later version. Never written.
    #[serde(other)]
    Other,
}

/// What became of a deadline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeadlineNews {
    /// YARN's application id.
    pub application: String,
    /// In Unix milliseconds.
    pub deadline_ms: i64,
    /// What happened.
    pub state: DeadlineState,
    /// The probability that it is met: at the submission if all executors start now, and once their starts are
    /// planned, if they start then. None without a profile.
    pub chance: Option<f64>,
}

/// The state of a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeadlineState {
    /// The application was submitted.
    Given,
    /// A plan says when its containers start.
    Planned,
    /// It succeeded in time.
    Met,
    /// It did not.
    Missed,
}

/// A container that the core refused.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Refused {
    /// YARN's application id.
    pub application: String,
    /// The node.
    pub node: String,
    /// Which resource is short, by how much, and from when on.
    pub reason: String,
}

/// A correction of a running container's demand.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Reprovision {
    /// The node; empty where it is gone.
    pub node: String,
    /// YARN's container id.
    pub container: String,
    /// YARN's application id; empty where it is gone.
    pub application: String,
    /// `opened`, `measured`, `returned`, `too-little-left` or `unused`.
    pub what: Cow<'static, str>,
    /// The time taken over the expected time, where the container was slow.
    pub slowness: Option<f64>,
    /// The sign of slowness: `behind`, less progress than expected; `throttled`, held back by its CPU
    /// limit.
    pub slow: Option<Cow<'static, str>>,
    /// The predicted use in the window.
    pub predicted: Option<Resources>,
    /// What it was lent beyond the prediction.
    pub lent: Option<Resources>,
    /// The measured use.
    pub used: Option<Resources>,
    /// The corrected over the first predicted demand: CPU, memory, network, disk.
    pub factors: Option<[f64; 4]>,
    /// A sentence, for some corrections.
    pub reason: Option<String>,
}

/// A container that was committed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Placed {
    /// YARN's application id.
    pub application: String,
    /// The submitter's name for it.
    pub application_name: String,
    /// YARN's container id.
    pub container: String,
    /// The node.
    pub node: String,
    /// Why there.
    pub reason: PlacedReason,
    /// Whether the core decided.
    pub by_core: bool,
    /// Whether it is the application master.
    pub application_master: bool,
    /// YARN's priority of the request; an application master has none.
    pub request_priority: Option<i32>,
    /// The key of the profile of its demand; none without one.
    pub profile: Option<String>,
    /// Whether its demand is what other applications used of their requests; with neither, it is the request.
    #[serde(default)]
    pub by_others: bool,
    /// The policy's score, where the core decided.
    pub score: Option<f64>,
    /// The request, in bytes.
    pub memory_bytes: u64,
    /// The request.
    pub vcores: u32,
    /// The sum of the requests on the node, this one included, in bytes.
    pub booked_memory_bytes: u64,
    /// The sum of the requests on the node, this one included.
    pub booked_vcores: u32,
    /// The registered size of the node, in bytes.
    pub physical_memory_bytes: u64,
    /// The registered size of the node.
    pub physical_vcores: u32,
}

impl Placed {
    pub(crate) fn of(
        cluster: &Cluster,
        container: &str,
        placement: &Placement,
        now_ms: i64,
    ) -> Option<Record> {
        let Placement { reason, score, container: placed } = placement;
        let application = cluster.application(placed.application)?;
        let node = cluster.node(placed.node)?;
        let placed = Self {
            application: application.id.clone(),
            application_name: application.name.clone(),
            container: container.to_owned(),
            node: node.name.clone(),
            reason: *reason,
            by_core: reason.is_by_core(),
            application_master: placed.kind.is_application_master(),
            request_priority: placed.kind.priority(),
            profile: placed.profile().map(|key| key.to_string()),
            by_others: placed.basis == Some(Basis::Others),
            score: *score,
            memory_bytes: placed.request.memory_bytes,
            vcores: placed.request.vcores,
            booked_memory_bytes: node.booked.memory_bytes,
            booked_vcores: node.booked.vcores,
            physical_memory_bytes: node.registered.memory_bytes,
            physical_vcores: node.registered.vcores,
        };
        Some(Record { time_ms: now_ms, event: JournalEvent::Placed(Box::new(placed)) })
    }
}

/// A container that the agent named because its node's memory is short.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Preemption {
    /// The node.
    pub node: String,
    /// YARN's container id.
    pub container: String,
    /// YARN's application id; none when the container is not known.
    pub application: Option<String>,
    /// Its fate.
    pub outcome: PreemptionOutcome,
    /// Its memory, in bytes.
    pub resident_bytes: u64,
    /// The node's shortage, in bytes.
    pub short_bytes: u64,
    /// Why, in a sentence.
    pub reason: String,
}

/// The fate of a container that the agent named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PreemptionOutcome {
    /// Its application master is told that it will end.
    Told,
    /// It is ended, as preempted.
    Preempted,
    /// It runs on, though its application master was told otherwise.
    Spared,
    /// The core does not agree that it should give way.
    Refused,
    /// It would be preempted in mode `enforce`.
    Observed,
}

/// A node's measured and planned use.
#[derive(Debug, Clone, Serialize)]
pub struct NodeUsage {
    pub node: String,
    /// Measured over all containers.
    pub used: Resources,
    /// Measured over everything else.
    pub used_by_others: Resources,
    /// Shares of time in which processes waited for a resource, where the kernel reports them.
    pub pressure: Option<Pressure>,
    /// Expected over all containers.
    pub planned: Resources,
    /// The node's own size.
    pub physical: Resources,
    // The sums of the requests.
    pub booked_memory_bytes: u64,
    pub booked_vcores: u32,
    pub containers: Vec<ContainerUsage>,
}

/// A container's measured and planned use.
#[derive(Debug, Clone, Serialize)]
pub struct ContainerUsage {
    pub container: String,
    /// Measured in the newest sample.
    pub used: Resources,
    /// The time that this sample covers, in milliseconds.
    pub sample_ms: u32,
    /// Expected now.
    pub planned: Resources,
    /// The share of time in which its CPU was throttled, 0 to 1.
    pub cpu_throttled: f32,
    /// Threads that were ready to run and had no core, on average.
    pub cpu_waited_cores: f32,
    pub anonymous_bytes: u64,
    /// Page cache.
    pub file_bytes: u64,
    /// The used part of the heaps of its JVMs.
    pub heap_used_bytes: u64,
    /// The committed size of the heaps of its JVMs.
    pub heap_committed_bytes: u64,
    // The limits in force.
    pub limit_weight_cores: Option<f32>,
    pub limit_cap_cores: Option<f32>,
    pub limit_memory_bytes: Option<u64>,
    pub limit_disk_bytes_per_s: Option<u64>,
    /// The weight of what is sent.
    pub limit_network_weight_bytes_per_s: Option<u64>,
    pub limit_network_bytes_per_s: Option<u64>,
}

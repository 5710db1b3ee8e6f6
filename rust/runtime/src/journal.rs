//! Decisions, as records for people.

mod placed;
mod preemption;

use std::borrow::Cow;

use elastane_core::Resources;
use elastane_core::cluster::{ApplicationId, BookableChange, Cluster};
use elastane_protocol::Pressure;
use elastane_runs::Outcome;
use serde::{Deserialize, Serialize};

use crate::measured_container::MeasuredContainer;
pub use placed::{ConsideredApplication, Placed};
pub use preemption::{
    CapacityPreemption, CapacityPreemptionCause, CapacityPreemptionOutcome, MemoryPreemption,
    Preemption, PreemptionOutcome,
};

/// One line of the journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// Unix time in milliseconds. Of a correction whose window ended with its container or node: when
    /// the window opened.
    pub time_ms: i64,
    /// The path of the application's leaf queue at that time. None where it is about a node alone, where the application
    /// was no longer known, and in a record of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub event: JournalEvent,
}

impl Record {
    /// About an application, with the queue that it is in now.
    pub(crate) fn about(
        cluster: &Cluster,
        application: ApplicationId,
        event: JournalEvent,
        time_ms: i64,
    ) -> Self {
        let queue = cluster.application(application).map(|it| it.queue.to_string());
        Self { time_ms, queue, event }
    }

    /// Whether its application is in this queue or one below it.
    pub fn is_within_queue(&self, path: &str) -> bool {
        let below = self.queue.as_deref().and_then(|queue| queue.strip_prefix(path));
        below.is_some_and(|below| below.is_empty() || below.starts_with('.'))
    }

    /// A change of a node's bookable capacity.
    pub(crate) fn bookable(cluster: &Cluster, change: &BookableChange, now_ms: i64) -> Self {
        let node = cluster.node(change.node).map(|node| node.name.clone());
        let event = JournalEvent::Bookable {
            node: node.unwrap_or_default(),
            ratio: f64::from(change.ratio.memory_thousandths) / 1e3,
            reason: change.reason().into(),
        };
        Self { time_ms: now_ms, queue: None, event }
    }
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
        /// Its application; empty in a record of an earlier version.
        #[serde(default)]
        application: String,
    },
    /// A node was raised above its registered size, went back to it, or was resized for an overdue guarantee.
    Bookable {
        /// The node.
        node: String,
        /// Bookable over registered memory.
        ratio: f64,
        /// Why.
        reason: Cow<'static, str>,
    },
    /// A container is preempted, or was to be.
    Preemption(Box<Preemption>),
    /// An executor is to leave by itself.
    Migration(Box<Migration>),
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
    /// An application with a deadline was submitted, got planned starts, or ended.
    Deadline(DeadlineNews),
    /// A record that is not read: [`JournalEvent::Node`], or one of a later version. Never written.
    #[serde(other)]
    Other,
}

impl JournalEvent {
    /// As records have it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Placed(_) => "placed",
            Self::Refused(_) => "refused",
            Self::Finished { .. } => "finished",
            Self::Bookable { .. } => "bookable",
            Self::Preemption(_) => "preemption",
            Self::Migration(_) => "migration",
            Self::Reprovision(_) => "reprovision",
            Self::Node(_) => "node",
            Self::Learned { .. } => "learned",
            Self::Deadline(_) => "deadline",
            Self::Other => "other",
        }
    }

    /// YARN's id of the application that it is about; none if it is about a node.
    pub fn application(&self) -> Option<&str> {
        match self {
            Self::Placed(placed) => Some(&placed.application),
            Self::Refused(refused) => Some(&refused.application),
            Self::Finished { application, .. } | Self::Learned { application, .. } => {
                Some(application)
            }
            Self::Preemption(preemption) => preemption.application(),
            Self::Migration(migration) => Some(&migration.application),
            Self::Reprovision(reprovision) => Some(&reprovision.application),
            Self::Deadline(news) => Some(&news.application),
            Self::Bookable { .. } | Self::Node(_) | Self::Other => None,
        }
    }

    /// YARN's id of the container that it is about.
    pub fn container(&self) -> Option<&str> {
        match self {
            Self::Placed(placed) => Some(&placed.container),
            Self::Finished { container, .. } => Some(container),
            Self::Preemption(preemption) => Some(preemption.container()),
            Self::Migration(migration) => Some(&migration.container),
            Self::Reprovision(reprovision) => Some(&reprovision.container),
            _ => None,
        }
    }

    /// YARN's name of the node where it happened.
    pub fn node(&self) -> Option<&str> {
        match self {
            Self::Placed(placed) => Some(&placed.node),
            Self::Refused(refused) => Some(&refused.node),
            Self::Finished { node, .. } | Self::Bookable { node, .. } => Some(node),
            Self::Preemption(preemption) => Some(preemption.node()),
            Self::Migration(migration) => Some(&migration.node),
            Self::Reprovision(reprovision) => Some(&reprovision.node),
            Self::Node(usage) => Some(&usage.node),
            Self::Learned { .. } | Self::Deadline(_) | Self::Other => None,
        }
    }
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
    /// Why, in a sentence: the resource that is short, or the limit, queue or mode that keeps the container out.
    pub reason: String,
}

/// A correction of a running container's demand.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Reprovision {
    /// The node; empty where it is gone.
    pub node: String,
    /// YARN's container id.
    pub container: String,
    /// YARN's application id.
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

/// An executor that is to leave by itself: it takes no more tasks, and moves its blocks.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Migration {
    /// The node that it is to leave.
    pub node: String,
    /// YARN's container id.
    pub container: String,
    /// YARN's application id.
    pub application: String,
    /// What became of it.
    pub state: MigrationState,
    /// Why it is to leave; a record of an earlier version has none, and its node was short of memory.
    #[serde(default)]
    pub cause: MigrationCause,
    /// Why it is to leave, in a sentence.
    pub reason: String,
}

/// The state of a migration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MigrationState {
    /// The executor was signalled: it takes no more tasks.
    Leaves,
    /// The executor stays: it does not handle the signal, as without `spark.decommission.enabled`.
    NotHandled,
    /// The container stays: no process of it is a Spark executor.
    NoExecutor,
    /// The container stays: its processes could not be examined or signalled.
    Failed,
}

/// Why an executor is to leave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MigrationCause {
    /// Its node is short of memory.
    #[default]
    ShortOfMemory,
    /// Its node is being decommissioned.
    NodeDrained,
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
    /// Expected now.
    pub planned: Resources,
    #[serde(flatten)]
    pub measured: MeasuredContainer,
}

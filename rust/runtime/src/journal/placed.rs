//! The record of a container that was committed, and of what else was considered.

use std::borrow::Cow;

use elastane_core::Cluster;
use elastane_core::cluster::{Basis, Considered, NodeEntry, PlacedReason, Placement, Verdict};
use serde::{Deserialize, Serialize};

use super::{JournalEvent, Record};

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
    /// The first that the last round on the node compared: up to six applications that might go there, and three that
    /// might not. This one may be behind them. Empty where the core did not choose, or long before.
    #[serde(default)]
    pub considered: Vec<ConsideredApplication>,
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

/// An application that was considered for a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConsideredApplication {
    /// YARN's application id; none where a reader may not see it.
    pub application: Option<String>,
    /// The policy's score in that round; the smallest goes first, behind priority, starvation and deadlines.
    pub score: f64,
    /// Whether it might go there.
    pub verdict: Cow<'static, str>,
}

impl ConsideredApplication {
    /// Of a round just before.
    fn all(cluster: &Cluster, node: &NodeEntry, reason: PlacedReason, now_ms: i64) -> Vec<Self> {
        let considered = node.considered(now_ms);
        if !reason.is_by_core() {
            return Vec::new();
        }
        let of = |one: &Considered| {
            Some(Self {
                application: Some(cluster.application(one.application)?.id.clone()),
                score: one.score,
                verdict: Cow::Borrowed(match one.verdict {
                    Verdict::MayGo => "may-go",
                    Verdict::WouldDelay(_) => "would-delay-another",
                    Verdict::AtLimit => "at-limit",
                }),
            })
        };
        considered.iter().filter_map(of).collect()
    }
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
        let queue = Some(application.queue.to_string());
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
            considered: ConsideredApplication::all(cluster, node, *reason, now_ms),
            memory_bytes: placed.request.memory_bytes,
            vcores: placed.request.vcores,
            booked_memory_bytes: node.booked.memory_bytes,
            booked_vcores: node.booked.vcores,
            physical_memory_bytes: node.registered.memory_bytes,
            physical_vcores: node.registered.vcores,
        };
        Some(Record { time_ms: now_ms, queue, event: JournalEvent::Placed(Box::new(placed)) })
    }
}

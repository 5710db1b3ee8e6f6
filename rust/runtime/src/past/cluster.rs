//! What a replay begins with.

use std::sync::Arc;

use elastane_core::cluster::{Demands, NodeId, QueueShare, Request};
use elastane_core::{ContainerKind, Resources};
use elastane_runs::{LedgerSubject, RunSeries};

use crate::settings::ServiceSettings;

/// What happened in a cluster over some time.
#[derive(Debug, Clone)]
pub struct PastCluster {
    /// From when on, in Unix milliseconds.
    pub since_ms: i64,
    /// Until when, in Unix milliseconds.
    pub until_ms: i64,
    /// The nodes as they are at the end.
    pub nodes: Vec<PastNode>,
    /// The queues as they are at the end.
    pub queues: Vec<QueueShare>,
    /// In no order.
    pub applications: Vec<PastApplication>,
    /// How the cluster is scheduled.
    pub settings: ServiceSettings,
}

/// A node.
#[derive(Debug, Clone, PartialEq)]
pub struct PastNode {
    /// Its label; empty for none.
    pub label: Arc<str>,
    /// The size that the NodeManager registered.
    pub registered: Request,
    /// The physical size; 0 where no agent has measured it.
    pub physical: Resources,
}

/// An application, and what is known of it at the end.
#[derive(Debug, Clone)]
pub struct PastApplication {
    /// Whose it is.
    pub subject: LedgerSubject,
    /// When it was submitted, in Unix milliseconds.
    pub submitted_ms: i64,
    /// When it ended, in Unix milliseconds; none while it runs.
    pub ended_ms: Option<i64>,
    /// In the order of their starts.
    pub containers: Vec<PastContainer>,
    /// What its containers used, as on free nodes.
    pub series: Vec<RunSeries>,
    /// What its next run would be planned by.
    pub demands: Demands,
    /// The number of its runs that are known.
    pub runs: usize,
}

/// A container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastContainer {
    /// Its kind.
    pub kind: ContainerKind,
    /// Its node.
    pub node: NodeId,
    /// The label of its node; empty for none.
    pub label: Arc<str>,
    /// Its request.
    pub request: Request,
    /// When it was asked for, in Unix milliseconds.
    pub asked_ms: i64,
    /// When it started, in Unix milliseconds.
    pub started_ms: i64,
    /// When it ended, in Unix milliseconds; none while it runs.
    pub ended_ms: Option<i64>,
}

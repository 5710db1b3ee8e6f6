//! When each waiting application is expected to start its next container.
//!
//! The plan of starts ([`crate::cluster::StartSearch`]) covers the first applications, on nodes where the core decides,
//! by demand over time. The forecast covers the others: it lets the containers that run end when they are predicted to, and
//! lets those that wait start in the order of their queues, on any node with room by request and, where the core decides,
//! for the mean of their demand. It holds back nobody. Where thousands wait, it is stopped after a number of steps, and the
//! others have rough starts. Of the forecast and the plan, the earlier counts.
//! `docs/decisions/0052` has the reasons.
//!
//! It reads a copy that is taken in short steps, and runs without the cluster.

mod accounts;
mod copy;
mod flow;
mod queue;
mod room;
mod rough;

use std::cmp::Reverse;

use crate::cluster::Cluster;
use crate::cluster::state::ApplicationId;
use crate::ids::NodeId;
use accounts::Accounts;
#[cfg(test)]
pub(in crate::cluster) use flow::Steps;
use room::{Load, Room};

/// A copy of what runs and waits.
#[derive(Debug)]
pub struct StartForecast {
    now_ms: i64,
    rooms: Vec<Room>,
    ends: Vec<End>,
    waiting: Vec<Waits>,
    accounts: Accounts,
    /// By the number of a label, a node with it.
    examples: Vec<NodeId>,
    /// After this wait an application is placed by request.
    starvation_wait_ms: i64,
}

/// When an application's next container is expected to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedStart {
    /// In Unix milliseconds.
    pub at_ms: i64,
    /// Whether it depends on the end of a container whose length is not predicted, or is extrapolated.
    pub is_rough: bool,
}

/// A container that runs.
#[derive(Debug, Clone)]
struct End {
    at_ms: i64,
    is_rough: bool,
    /// The place of its node.
    room: usize,
    load: Load,
    account: usize,
    user: usize,
    is_master: bool,
}

/// What an application waits for.
#[derive(Debug)]
struct Waits {
    application: ApplicationId,
    /// The smallest goes first in its queue.
    rank: (Reverse<i32>, i64, i64, ApplicationId),
    planned: Option<ExpectedStart>,
    since_ms: i64,
    load: Load,
    /// The number of the node label that it asks for; none if it asks for none.
    label: Option<usize>,
    containers: u32,
    /// None where it is not predicted.
    length_ms: Option<i64>,
    queue: usize,
    user: usize,
    /// Whether its queue has no more application masters to start.
    is_held: bool,
    is_master: bool,
}

impl StartForecast {
    /// The number of containers that were copied.
    pub fn container_count(&self) -> usize {
        self.ends.len()
    }

    /// Nothing runs and nothing waits. Room for all of it is made here: a column that grows would copy what it has in
    /// one step, while the caller holds the cluster. What begins or ends between two steps of the copy makes the forecast wrong by that.
    pub fn new(cluster: &Cluster, now_ms: i64) -> Self {
        Self {
            now_ms,
            rooms: Vec::new(),
            ends: Vec::with_capacity(cluster.state.containers.len()),
            waiting: Vec::with_capacity(cluster.waiting.lines().len()),
            accounts: Accounts::default(),
            examples: Vec::new(),
            starvation_wait_ms: cluster.settings.starvation_wait_ms,
        }
    }
}

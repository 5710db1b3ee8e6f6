//! The plan of starts that counts now, and which nodes the next one compares.

use std::collections::HashMap;

use super::{Claim, ClaimsOnNode, StartSearch};
use crate::cluster::Cluster;
use crate::cluster::as_of::AsOf;
use crate::cluster::state::{ApplicationId, NodeId, Nodes, PlanState, State};
use crate::cluster::waiting::WaitingTable;

/// Number of nodes compared. Of more nodes, the others are compared in turn.
const NODES_COMPARED: usize = 64;

/// Number of nodes that stay compared because of their claims.
const CLAIMED_COMPARED: usize = 48;

/// Number of claims on one node: each costs a heartbeat there some time. Who comes later claims nothing.
const CLAIMS_OF_A_NODE: usize = 16;

/// Where and when the containers that an application waits for start, by plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedStart {
    /// The node of the first one.
    pub node: NodeId,
    /// When the first one starts, in Unix milliseconds.
    pub first_ms: i64,
    /// When the last of [`PlannedStart::containers`] starts.
    pub last_ms: i64,
    /// The number of planned containers; the others start later.
    pub containers: u32,
}

/// Where and when the first waiting containers start.
#[derive(Debug, Default)]
pub struct StartPlan {
    as_of_ms: i64,
    /// By node, in the order of the plan.
    claims: HashMap<NodeId, ClaimsOnNode>,
    starts: HashMap<ApplicationId, PlannedStart>,
}

impl StartPlan {
    pub(super) fn as_of(as_of_ms: i64) -> Self {
        Self { as_of_ms, ..Self::default() }
    }

    /// The time of the copy that was searched, in Unix milliseconds.
    pub fn as_of_ms(&self) -> i64 {
        self.as_of_ms
    }

    /// The next container of an application starts on a node at this time. The containers of one application
    /// come in the order of their starts.
    pub(super) fn add_start(&mut self, application: ApplicationId, node: NodeId, at_ms: i64) {
        let first = PlannedStart { node, first_ms: at_ms, last_ms: at_ms, containers: 0 };
        let start = self.starts.entry(application).or_insert(first);
        start.last_ms = start.last_ms.max(at_ms);
        start.containers += 1;
    }

    pub(super) fn claim(&mut self, node: NodeId, claim: Claim) {
        let claims = self.claims.entry(node).or_default();
        if claims.len() < CLAIMS_OF_A_NODE {
            claims.push(claim);
        }
    }

    /// Makes the plan count until the next one does.
    pub fn put_into(self, cluster: &mut Cluster) {
        // The policy may be another one than when the search began.
        if cluster.policy.by_plan().is_some_and(|by| by.plans_starts()) {
            cluster.starts.plan = self;
        }
    }
}

impl PlannedStart {
    /// None where the application waits for nothing, or its start is not known: it has no predicted end, too many
    /// are before it, or it fits by demand and CapacityScheduler has no free space for it.
    pub fn of(cluster: &Cluster, application: ApplicationId) -> Option<Self> {
        cluster.waiting.row_of(application)?;
        cluster.starts.plan.starts.get(&application).copied()
    }
}

/// Plans the starts of a cluster anew if something changed. For owners without other threads; the others take
/// the three steps themselves.
pub fn plan_starts(cluster: &mut Cluster, now_ms: i64) {
    if let Some(search) = StartSearch::of(cluster, now_ms) {
        search.run().put_into(cluster);
    }
}

/// The nodes whose plans the next search of starts reads; none if there is none.
pub fn read_by_planning(cluster: &Cluster, now_ms: i64) -> Vec<NodeId> {
    let Cluster { starts, state, waiting, .. } = cluster;
    match cluster.policy.by_plan() {
        Some(by) if by.plans_starts() && starts.is_due(state, waiting, now_ms) => {
            starts.compared(&state.nodes).0
        }
        _ => Vec::new(),
    }
}

/// Keeps the plan of starts, and when and for which nodes it is made.
#[derive(Debug, Default)]
pub(crate) struct StartPlanner {
    plan: StartPlan,
    as_of: Option<AsOf>,
    /// The last node compared in turn, not because of a claim. The next search continues behind it.
    last: Option<NodeId>,
}

impl StartPlanner {
    fn is_due(&self, state: &State, waiting: &WaitingTable, now_ms: i64) -> bool {
        !waiting.lines().is_empty() && self.as_of != Some(AsOf::now(state, waiting, now_ms))
    }

    /// The nodes to be compared by a search that begins now, in order; none if the plan is as new as can be, or
    /// nothing waits.
    pub(super) fn begin(
        &mut self,
        state: &State,
        waiting: &WaitingTable,
        now_ms: i64,
    ) -> Option<Vec<NodeId>> {
        if waiting.lines().is_empty() {
            self.plan = StartPlan::default();
        }
        if !self.is_due(state, waiting, now_ms) {
            return None;
        }
        self.as_of = Some(AsOf::now(state, waiting, now_ms));
        let (compared, last) = self.compared(&state.nodes);
        self.last = last.or(self.last);
        Some(compared)
    }

    /// The nodes compared by the next search, in order, and the last of those that are compared in turn.
    fn compared(&self, nodes: &Nodes) -> (Vec<NodeId>, Option<NodeId>) {
        let claimed = self.plan.claims.keys().copied();
        let mut compared: Vec<_> = claimed.filter(|node| nodes.get(*node).is_some()).collect();
        compared.sort_unstable();
        compared.truncate(CLAIMED_COMPARED);
        let others = nodes.around(self.last.unwrap_or(NodeId(0))).map(|(id, _)| id);
        let others = others.filter(|node| compared.binary_search(node).is_err());
        let others: Vec<_> = others.take(NODES_COMPARED.saturating_sub(compared.len())).collect();
        compared.extend(&others);
        compared.sort_unstable();
        (compared, others.last().copied())
    }

    pub(crate) fn has_claims(&self, node: NodeId) -> bool {
        self.plan.claims.contains_key(&node)
    }

    /// The claims on a node whose plan is in this state.
    pub(crate) fn claims_on(
        &mut self,
        node: NodeId,
        plan: PlanState,
        waiting: &WaitingTable,
    ) -> Option<&ClaimsOnNode> {
        let claims = self.plan.claims.get_mut(&node)?;
        claims.update(|application| waiting.row_of(application).is_some(), plan);
        Some(claims)
    }
}

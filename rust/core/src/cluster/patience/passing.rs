//! Passing: an application waits a bounded time for a node that delays its executor less (delay
//! scheduling: Zaharia et al., EuroSys 2010, with delay in the place of locality).

use std::collections::HashMap;

use crate::cluster::ranking::{Judge, Prospect};
use crate::cluster::settings::ClusterSettings;
use crate::cluster::state::{ApplicationId, NodeEntry, NodeId, Nodes, State};
use crate::windows::WindowSet;

/// Number of other nodes compared in a round: the next ones in the order of registration. The best
/// of a few random nodes is nearly as good as the best of all, at a bounded cost (Mitzenmacher,
/// "The Power of Two Choices in Randomized Load Balancing", IEEE TPDS 2001).
const NODES_COMPARED: usize = 8;

/// An application that passed in vain does not pass again for this multiple of the wait that it lost.
const REST_AFTER_IN_VAIN: i64 = 10;

/// The applications that have passed on a node.
#[derive(Debug, Default)]
pub(crate) struct Passing {
    by_application: HashMap<ApplicationId, Passed>,
}

#[derive(Debug)]
struct Passed {
    /// The better node at the application's latest pass.
    better: Option<BetterNode>,
    /// Start of the current wait; none while the application does not pass.
    since_ms: Option<i64>,
    /// Earliest time of the next pass, set when a wait was in vain.
    may_from_ms: i64,
}

/// A node that would delay the executor less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BetterNode {
    pub(crate) node: NodeId,
    /// By how much sooner the executor finishes its work there.
    pub(crate) gain_ms: i64,
}

impl Passing {
    /// Lets an application wait for a better node, for at most `pass_ms`. Returns whether the
    /// application passes.
    pub(crate) fn try_pass(
        &mut self,
        application: ApplicationId,
        better: BetterNode,
        pass_ms: i64,
        now_ms: i64,
    ) -> bool {
        let entry = self.by_application.entry(application);
        let passed =
            entry.or_insert(Passed { better: None, since_ms: None, may_from_ms: i64::MIN });
        if now_ms < passed.may_from_ms {
            return false;
        }
        let since_ms = *passed.since_ms.get_or_insert(now_ms);
        if now_ms.saturating_sub(since_ms) < pass_ms {
            passed.better = Some(better);
            return true;
        }
        passed.since_ms = None;
        passed.may_from_ms = now_ms.saturating_add(pass_ms.saturating_mul(REST_AFTER_IN_VAIN));
        false
    }

    /// Whether an application waits for a better node now.
    pub(crate) fn is_passing(&self, application: ApplicationId, pass_ms: i64, now_ms: i64) -> bool {
        let passed = self.by_application.get(&application);
        let since_ms = passed.and_then(|passed| passed.since_ms);
        since_ms.is_some_and(|since_ms| now_ms.saturating_sub(since_ms) < pass_ms)
    }

    /// The better node at an application's latest pass.
    pub(crate) fn passed_for(&self, application: ApplicationId) -> Option<BetterNode> {
        self.by_application.get(&application)?.better
    }

    /// An application got a container, which ends its wait.
    pub(crate) fn granted(&mut self, application: ApplicationId) {
        if let Some(passed) = self.by_application.get_mut(&application) {
            passed.since_ms = None;
        }
    }

    pub(crate) fn forget(&mut self, application: ApplicationId) {
        self.by_application.remove(&application);
    }
}

/// The search for a better node than `here`, the one that heartbeats. The first search refreshes
/// the other nodes.
pub(crate) struct BetterNodes<'a> {
    pub(crate) settings: &'a ClusterSettings,
    pub(crate) judge: Judge<'a>,
    pub(crate) here: NodeId,
    pub(crate) now_ms: i64,
    /// None before the first search.
    pub(crate) others: Option<Vec<NodeId>>,
}

impl BetterNodes<'_> {
    /// The node that delays the application's next executor least. None unless the executor
    /// finishes its work there sooner by more than the longest wait. `delayed_here_in` are the
    /// windows in which this node would delay the executor.
    pub(crate) fn better(
        &mut self,
        state: &mut State,
        application: ApplicationId,
        delayed_here_in: WindowSet,
    ) -> Option<BetterNode> {
        let pass_ms = self.settings.pass_ms;
        let (judge, now_ms) = (self.judge, self.now_ms);
        let entry = state.nodes.get_mut(self.here)?;
        entry.plan.refresh_left(&mut entry.node, self.now_ms);
        let here = Prospect::next_of(judge, state, self.here, application, now_ms)?;
        let delay_here_ms = here.delay_ms(delayed_here_in);
        if delay_here_ms <= pass_ms {
            return None;
        }
        if self.others.is_none() {
            self.others = Some(self.refresh_others(state));
        }
        let state: &State = state;
        let request = state.applications.get(&application)?.waiting?.request;
        let mut best: Option<BetterNode> = None;
        for node in self.others.iter().flatten().copied() {
            if best.is_some_and(|best| best.gain_ms >= delay_here_ms) {
                break; // No gain exceeds the whole delay.
            }
            let has_room = state.nodes.get(node).is_some_and(|entry| {
                request.fits_into(entry.free(self.settings.virtual_cores_count))
            });
            if !has_room {
                continue;
            }
            let there = Prospect::next_of(judge, state, node, application, now_ms);
            let Some(prospect) = there else {
                continue;
            };
            let gain_ms = delay_here_ms - prospect.delay_ms(WindowSet::ALL);
            if gain_ms > best.map_or(pass_ms, |best| best.gain_ms) && prospect.fits().is_ok() {
                best = Some(BetterNode { node, gain_ms });
            }
        }
        best
    }

    fn refresh_others(&self, state: &mut State) -> Vec<NodeId> {
        let others: Vec<_> = compared_with(&state.nodes, self.here)
            .filter(|(_, entry)| entry.is_decided(self.settings, self.now_ms))
            .map(|(id, _)| id)
            .collect();
        for id in &others {
            if let Some(entry) = state.nodes.get_mut(*id) {
                self.judge.refresh(entry, self.now_ms);
                entry.plan.refresh_left(&mut entry.node, self.now_ms);
            }
        }
        others
    }
}

/// The nodes that a round on `here` compares with `here`.
pub(crate) fn compared_with(
    nodes: &Nodes,
    here: NodeId,
) -> impl Iterator<Item = (NodeId, &NodeEntry)> {
    let others = nodes.around(here).filter(move |(id, _)| *id != here);
    others.take(NODES_COMPARED)
}

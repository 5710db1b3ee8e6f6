//! A round of allocation: which applications' next container may go to this node, best first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::Cluster;
use super::admission::{Admitted, Prospect, admit};
use super::application::{Application, ApplicationId, Ask, Held};
use super::elsewhere::Elsewhere;
use super::node_entry::{NodeId, Request};
use crate::policy::{Turn, Waiting};
use crate::resources::Resource;

/// At most so many applications of one queue are named in a round.
pub const ROUND_LIMIT: usize = 16;

/// Scores that differ by less than this are equal; then the application that came first goes first,
/// as CapacityScheduler has it, so that an application gets all its executors before the next one
/// gets its first.
const SAME_SCORE: f64 = 1e-9;

impl Cluster {
    /// The applications whose next container fits `node` now and over time, in the order in which
    /// they are to be tried; none where CapacityScheduler is to decide.
    ///
    /// The order is YARN's application priority, then those that waited too long, then the policy's
    /// score. An application master goes to no node while an application of its queue that runs
    /// already waits for memory: the two would take from each other what both need. It is held
    /// back no longer than a starving application. An application that another node would delay
    /// clearly less is left out for a bounded time. An application whose ask does not fit `free` is
    /// left out: CapacityScheduler would reserve the node for it and place nothing else there.
    pub fn round(
        &mut self,
        node: NodeId,
        free: Request,
        now_ms: i64,
    ) -> Option<Vec<ApplicationId>> {
        if !self.decides(node, now_ms) {
            return None;
        }
        let entry = self.nodes.get(&node)?;
        let available = entry.node.available(now_ms);
        let place = entry.place(&available, now_ms);
        let (policy, settings) = (self.policy.as_ref(), &self.settings);
        let turns = self.turns(now_ms);
        let short_of_memory = queues_short_of_memory(&self.applications);
        let mut elsewhere = Elsewhere::new(&self.nodes, node, policy, settings, now_ms);

        let mut fitting = Vec::new();
        for (id, application) in &mut self.applications {
            let Some(ask) = application.waiting else {
                continue;
            };
            let turn = turns.get(id).copied().unwrap_or(Turn::Usual);
            if turn == Turn::NotNow || !ask.request.fits_into(free) {
                continue;
            }
            if ask.application_master
                && application.waited_ms(now_ms) < settings.starvation_wait_ms
                && short_of_memory.contains(&application.queue)
            {
                continue;
            }
            let predicted = application.demands.of(ask.application_master);
            let Ok(prospect) = Prospect::new(entry, predicted, ask.request) else {
                continue;
            };
            let candidate = prospect.candidate(application.as_waiting(self.registered));
            let request = ask.request;
            let admitted = admit(
                policy,
                settings,
                entry,
                &place,
                application,
                request,
                &candidate,
            );
            let starves = match admitted {
                Ok(admitted) => admitted == Admitted::Starving,
                Err(excess) => {
                    application.held = Some(Held::NoFit { node, excess });
                    continue;
                }
            };
            if !starves
                && let Some(better) = elsewhere.better(application, ask, &available, &candidate)
                && application.may_pass(settings.pass_ms, now_ms)
            {
                application.held = Some(Held::Passed {
                    node,
                    better: better.node,
                    gain_ms: better.gain_ms,
                });
                continue;
            }
            let score = policy.score(&place, &candidate);
            let key = (
                Reverse(ask.priority),
                !starves,
                turn,
                (score / SAME_SCORE).round() as i64,
                *id,
            );
            fitting.push((key, application.queue.as_str()));
        }
        fitting.sort_unstable();

        let mut named: HashMap<&str, usize> = HashMap::new();
        let order = fitting
            .into_iter()
            .filter(|(_, queue)| {
                let count = named.entry(queue).or_default();
                *count += 1;
                *count <= ROUND_LIMIT
            })
            .map(|((.., id), _)| id)
            .collect();
        Some(order)
    }

    /// Whose turn it is by the policy, where it is not everybody's.
    fn turns(&self, now_ms: i64) -> HashMap<ApplicationId, Turn> {
        if !self.policy.needs_gangs() {
            return HashMap::new();
        }
        let (ids, waiting): (Vec<_>, Vec<_>) = self
            .applications
            .iter()
            .filter_map(|(id, application)| {
                let ask = application.waiting?;
                let whole = self.has_room_for(ask);
                let waiting = application.as_waiting(self.registered);
                Some((*id, Waiting { whole, ..waiting }))
            })
            .unzip();
        let turns = self.policy.turns(&waiting, now_ms);
        ids.into_iter().zip(turns).collect()
    }

    /// Whether all containers of an ask would find room by request at once.
    fn has_room_for(&self, ask: Ask) -> bool {
        let mut left = u64::from(ask.count);
        for entry in self.nodes.values() {
            left = left.saturating_sub(entry.room_for(ask.request));
            if left == 0 {
                return true;
            }
        }
        false
    }
}

/// The queues in which an application that runs waits, and was refused memory by the core when last
/// looked at.
fn queues_short_of_memory(applications: &BTreeMap<ApplicationId, Application>) -> HashSet<String> {
    let waits_as = |application: &Application, application_master: bool| {
        application
            .waiting
            .is_some_and(|ask| ask.application_master == application_master)
    };
    if !applications.values().any(|one| waits_as(one, true)) {
        return HashSet::new();
    }
    let refused_memory = |application: &&Application| {
        matches!(
            application.held,
            Some(Held::NoFit { excess, .. }) if excess.resource == Resource::Memory
        )
    };
    applications
        .values()
        .filter(|application| waits_as(application, false))
        .filter(refused_memory)
        .map(|application| application.queue.clone())
        .collect()
}

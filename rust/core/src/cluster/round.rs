//! A round of allocation: which applications' next container may go to this node, best first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::Cluster;
use super::admission::{Admitted, Refusal, weigh};
use super::application::{Application, ApplicationId, Held};
use super::elsewhere::Elsewhere;
use super::node_entry::{NodeId, Request};
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
        let settings = &self.settings;
        let short_of_memory = queues_short_of_memory(&self.applications);
        let mut elsewhere = Elsewhere::new(&self.nodes, node, settings, now_ms);

        let mut fitting = Vec::new();
        for (id, application) in &mut self.applications {
            let Some(ask) = application.waiting else {
                continue;
            };
            if !ask.request.fits_into(free) {
                continue;
            }
            if ask.application_master
                && application.waited_ms(now_ms) < settings.starvation_wait_ms
                && short_of_memory.contains(&application.queue)
            {
                continue;
            }
            let weighed = weigh(
                entry,
                &available,
                application,
                ask.application_master,
                ask.request,
                settings,
                now_ms,
            );
            let weighed = match weighed {
                Ok(weighed) => weighed,
                Err(Refusal::Excess(excess)) => {
                    application.held = Some(Held::NoFit { node, excess });
                    continue;
                }
                Err(Refusal::Demand(_)) => continue,
            };
            let starves = weighed.admitted == Admitted::Starving;
            if !starves
                && let Some(better) =
                    elsewhere.better(application, ask, &available, &weighed.demand)
                && application.may_pass(settings.pass_ms, now_ms)
            {
                application.held = Some(Held::Passed {
                    node,
                    better: better.node,
                    gain_ms: better.gain_ms,
                });
                continue;
            }
            let score = self.policy.score(&available, &weighed.demand).value;
            let key = (
                Reverse(ask.priority),
                !starves,
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

//! A round of allocation: which applications' next container may go to this node, best first.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::Cluster;
use super::admission::{Admitted, admit, demand_on, is_starving};
use super::application::{Application, ApplicationId};
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
    /// back no longer than a starving application. An application whose ask does not fit `free` is
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
        let starvation_wait_ms = self.settings.starvation_wait_ms;
        let peaks = self.settings.peaks;
        let short_of_memory: HashSet<String> = self
            .applications
            .values()
            .filter(|application| waits_for_memory(application))
            .map(|application| application.queue.clone())
            .collect();

        let mut fitting = Vec::new();
        for (id, application) in &mut self.applications {
            let Some(ask) = application.waiting else {
                continue;
            };
            if !ask.request.fits_into(free) {
                continue;
            }
            let waited_ms = now_ms.saturating_sub(application.waiting_since_ms);
            if ask.application_master
                && waited_ms < starvation_wait_ms
                && short_of_memory.contains(&application.queue)
            {
                continue;
            }
            let predicted = application.demands.of(ask.application_master);
            let Ok((demand, margin)) = demand_on(entry, predicted, ask.request) else {
                continue;
            };
            let starving = is_starving(entry, application, ask.request, starvation_wait_ms, now_ms);
            match admit(&available, &demand, margin, peaks, starving) {
                Err(excess) => application.last_excess = Some((node, excess)),
                Ok(admitted) => {
                    let score = self.policy.score(&available, &demand).value;
                    let key = (
                        Reverse(ask.priority),
                        admitted != Admitted::Starving,
                        (score / SAME_SCORE).round() as i64,
                        *id,
                    );
                    fitting.push((key, application.queue.as_str()));
                }
            }
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

/// Whether an application that runs waits, and was refused memory by the core when last looked at.
fn waits_for_memory(application: &Application) -> bool {
    let refused_memory = application
        .last_excess
        .is_some_and(|(_, excess)| excess.resource == Resource::Memory);
    application
        .waiting
        .is_some_and(|ask| !ask.application_master)
        && refused_memory
}

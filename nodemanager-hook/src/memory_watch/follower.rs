//! Brings wakes to the agent. While the agent is busy, memory limits rise without it.

use std::{collections::BTreeMap, io, mem, time::Duration};

use parking_lot::Mutex;

use super::{Cause, MemoryWatch, UrgentRaises, Wake, WatchId};

/// How long a limit waits for the agent. The memory of a fast container grows by some 10 MiB meanwhile.
const PATIENCE: Duration = Duration::from_millis(5);

/// The wakes that the agent has not got yet.
#[derive(Debug)]
pub struct Follower<'a, Agent> {
    watch: &'a MemoryWatch,
    raises: &'a UrgentRaises,
    agent: &'a Mutex<Agent>,
    waiting: BTreeMap<WatchId, Cause>,
}

impl<'a, Agent> Follower<'a, Agent> {
    pub fn new(watch: &'a MemoryWatch, raises: &'a UrgentRaises, agent: &'a Mutex<Agent>) -> Self {
        Self { watch, raises, agent, waiting: BTreeMap::new() }
    }

    /// Waits for wakes, at most for `timeout`, and gives them to the agent. If the agent is busy, raises limits and returns;
    /// the next step tries again. Returns whether the agent got wakes.
    pub fn step(
        &mut self,
        timeout: Duration,
        take: impl FnOnce(&mut Agent, Vec<Wake>),
    ) -> io::Result<bool> {
        let timeout = if self.waiting.is_empty() { timeout } else { Duration::ZERO };
        let wakes = self.watch.wait(timeout)?;
        self.waiting.extend(wakes.into_iter().map(|wake| (wake.id, wake.cause)));
        if self.waiting.is_empty() {
            return Ok(false);
        }
        let Some(mut agent) = self.agent.try_lock_for(PATIENCE) else {
            // Again with each step: nothing wakes for a limit that rose.
            for (id, cause) in &self.waiting {
                if matches!(cause, Cause::NearLimit { .. }) {
                    self.raises.raise(*id);
                }
            }
            return Ok(false);
        };
        let waiting = mem::take(&mut self.waiting).into_iter();
        take(&mut agent, waiting.map(|(id, cause)| Wake { id, cause }).collect());
        Ok(true)
    }
}

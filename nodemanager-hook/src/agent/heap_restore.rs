//! Restores the flags of JVMs: when they have no target any more, and when the agent stops or was
//! killed.

use std::time::{Duration, Instant};

use elastane_protocol::Limits;

use super::{Agent, limits::planned_limits};
use crate::{audit::Reason, container_id::ContainerId, jvm::Wish, sensors::ProcessKey};

/// How long a stopping agent waits for JVMs.
const RESTORE_WITHIN: Duration = Duration::from_secs(3);

impl Agent {
    /// Restores the JVMs that a killed agent left changed.
    pub(super) fn restore_heaps_left_behind(&mut self, now: Instant) {
        self.restore_heaps(now, Some(Reason::LeftBehind));
        self.advance_heaps(Duration::ZERO, now);
    }

    /// Restores all JVMs and waits a moment. Returns how many are not restored.
    pub(super) fn restore_heaps_at_stop(&mut self) -> usize {
        let begun = Instant::now();
        let deadline = begun + RESTORE_WITHIN;
        loop {
            let now = Instant::now();
            let left = deadline.saturating_duration_since(now);
            self.restore_heaps(now, Some(Reason::AgentStops));
            self.advance_heaps(Duration::ZERO, now);
            if !self.heaps.wishes.are_open() || left.is_zero() {
                break;
            }
            self.advance_heaps(left, now);
        }
        let left = self.actuator.journal.jvms().len();
        if left > 0 {
            log::warn!("{left} JVMs did not answer: their flags are not restored");
        }
        left
    }

    /// Restores the changed JVMs whose container has no target; with a reason, all changed JVMs.
    pub(super) fn restore_heaps(&mut self, now: Instant, why: Option<Reason>) {
        let journal = &self.actuator.journal;
        let changed = journal.jvms().map(|(id, jvm)| (id.clone(), jvm));
        for (id, jvm) in changed.collect::<Vec<_>>() {
            if self.heaps.wishes.restores(jvm, now) {
                continue;
            }
            let container = self.containers.get(&id);
            let (planned, why_not_planned) = planned_limits(self.plan.as_ref(), &id, now);
            let has_target = container.is_some_and(|container| {
                let target = container.heap_target(&planned, self.heaps_follow_plan());
                container.pids.contains(&jvm.pid) && target.is_some()
            });
            if why.is_none() && has_target {
                continue;
            }
            let is_limited = planned != Limits::default();
            let reason = why.unwrap_or(match container {
                None => Reason::ContainerGone,
                Some(container) if container.gave_back_for_node && is_limited => {
                    Reason::NodeNotShort
                }
                Some(_) => why_not_planned,
            });
            self.restore_heap(&id, jvm, reason);
        }
        let journal = &self.actuator.journal;
        for (id, container) in &mut self.containers {
            if container.gave_back_for_node && container.smaller_bytes.is_none() {
                container.gave_back_for_node = journal.jvms().any(|(changed, _)| changed == id);
            }
        }
    }

    fn restore_heap(&mut self, id: &ContainerId, jvm: ProcessKey, reason: Reason) {
        match self.heaps.control_of(jvm) {
            Ok(Some(control)) => self.heaps.wishes.want(id, control, Wish::Restore, reason),
            // The JVM has ended.
            Ok(None) => {
                let saved = self.actuator.journal.forget_jvm(jvm);
                self.troubles.check("journal", saved);
            }
            Err(error) => self.troubles.warn("heaps not changed", error),
        }
    }
}

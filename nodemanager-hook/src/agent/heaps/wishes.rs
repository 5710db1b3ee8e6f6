//! Pending wishes for JVMs. Other threads carry them out, one at a time for each JVM and two for each container.
//!
//! The journal keeps a JVM's former flags from before the first wish until the JVM is restored.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    agent::actuator::Actuator,
    audit::Reason,
    container_id::ContainerId,
    jvm::{
        AttachError, Attempts, Control, ControlError, Done, JvmAnswer, JvmCommand, JvmJob, JvmTask,
        Wish,
    },
    sensors::ProcessKey,
    troubles::Troubles,
    workers::Workers,
};

/// Jobs that wait for a thread or whose result was not collected.
const MAX_JOBS: usize = 256;
/// Fewer than there are threads, so that the JVMs of one container do not hang up all of them.
const MOST_OF_CONTAINER: usize = 2;
/// A recipe takes a second or two; a JVM that does not answer is given up after ten.
const LATE_AFTER: Duration = Duration::from_secs(30);
/// The pause before another attempt to restore a JVM.
const RESTORE_AGAIN_AFTER: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub struct HeapWishes {
    /// Started with the first wish.
    workers: Option<Workers<JvmJob, Done>>,
    jvms: BTreeMap<ProcessKey, JvmWishes>,
}

#[derive(Debug)]
struct JvmWishes {
    container: ContainerId,
    control: Control,
    waiting: Option<Pending>,
    /// Handed to a thread.
    open: Option<Pending>,
    /// Whether a command to it was counted as late, and has not ended since.
    is_late: bool,
    /// The newest commands. The same commands again are not recorded as a change.
    sent: Vec<JvmCommand>,
    /// When to try again to restore the JVM.
    restore_at: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
struct Pending {
    wish: Wish,
    reason: Reason,
    /// When it began to wait for a thread, or for its end. None if nobody has looked since.
    since: Option<Instant>,
}

impl HeapWishes {
    /// Replaces the wish that waits for a JVM.
    pub fn want(&mut self, container: &ContainerId, control: Control, wish: Wish, reason: Reason) {
        let asked = self.jvms.entry(control.key()).or_insert_with(|| JvmWishes {
            container: container.clone(),
            control,
            waiting: None,
            open: None,
            is_late: false,
            sent: Vec::new(),
            restore_at: None,
        });
        // It keeps its turn.
        let since = asked.waiting.and_then(|former| former.since);
        asked.waiting = Some(Pending { wish, reason, since });
    }

    /// Whether a JVM is being restored, or waits for the next attempt.
    pub fn restores(&self, jvm: ProcessKey, now: Instant) -> bool {
        self.jvms.get(&jvm).is_some_and(|asked| {
            let waits = asked.restore_at.is_some_and(|at| at > now);
            let mut wishes = asked.waiting.iter().chain(&asked.open);
            waits || wishes.any(|pending| pending.wish == Wish::Restore)
        })
    }

    pub fn control_of(&self, jvm: ProcessKey) -> Option<Control> {
        self.jvms.get(&jvm).map(|asked| asked.control.clone())
    }

    /// Takes the threads' results, waiting up to `within`, and submits the next jobs.
    pub fn advance(&mut self, within: Duration, actuator: &mut Actuator, now: Instant) {
        let workers = self.workers.as_ref();
        for done in workers.map_or_else(Vec::new, |workers| workers.collect_all(within)) {
            self.take(done, actuator, now);
        }
        self.submit_all(actuator, now);
        self.warn_of_late(&actuator.troubles, now);
        let journal = &actuator.journal;
        self.jvms.retain(|key, asked| {
            let is_asked = asked.open.is_some() || asked.waiting.is_some();
            is_asked || journal.former_flags(*key).is_some()
        });
    }

    pub fn are_open(&self) -> bool {
        self.jvms.values().any(|asked| asked.open.is_some())
    }

    fn take(&mut self, done: Done, actuator: &mut Actuator, now: Instant) {
        let key = done.jvm;
        let troubles = &actuator.troubles;
        let Some(asked) = self.jvms.get_mut(&key) else {
            return;
        };
        let Some(open) = asked.open.take() else {
            return;
        };
        let (wanted, reason) = (open.wish, open.reason);
        asked.is_late = false;
        let container = &asked.container;
        let sent = match done.result {
            Ok(JvmAnswer::Remembered(former)) => {
                let saved = actuator.journal.remember_jvm(container, former);
                if troubles.check("journal", saved).is_some() {
                    asked.waiting = asked.waiting.or(Some(open));
                }
                return;
            }
            Ok(JvmAnswer::CarriedOut(wish, sent)) => {
                if wish == Wish::Restore {
                    troubles.check("journal", actuator.journal.forget_jvm(key));
                }
                sent
            }
            // A later reading repeats the failed wish.
            Err(ControlError { sent, source }) => {
                if wanted == Wish::Restore {
                    asked.restore_at = Some(now + RESTORE_AGAIN_AFTER);
                }
                match source {
                    // The end of a JVM is no fault.
                    AttachError::Gone { .. } => {
                        troubles.check("journal", actuator.journal.forget_jvm(key));
                    }
                    // A pause follows a failure that was already logged.
                    AttachError::BackedOff { .. } => {}
                    _ => troubles.warn("heaps not changed", format!("{container}: {source}")),
                }
                sent
            }
        };
        if sent.is_empty() || sent == asked.sent {
            return;
        }
        let texts: Vec<String> = sent.iter().map(JvmCommand::to_string).collect();
        let event = json!({ "pid": key.pid, "sent": texts });
        actuator.audit.record(container, reason, event);
        asked.sent = sent;
    }

    fn submit_all(&mut self, actuator: &Actuator, now: Instant) {
        let troubles = &actuator.troubles;
        let is_needed = |asked: &JvmWishes| asked.open.is_none() && asked.waiting.is_some();
        if self.workers.is_none() && self.jvms.values().any(is_needed) {
            let attempts = Attempts::default();
            let started = Workers::start("jvm", MAX_JOBS, move |job| attempts.make(&job));
            self.workers = troubles.check("heaps not changed", started);
        }
        let Some(workers) = &self.workers else {
            return;
        };
        let mut open_of: BTreeMap<ContainerId, usize> = BTreeMap::new();
        for asked in self.jvms.values().filter(|asked| asked.open.is_some()) {
            *open_of.entry(asked.container.clone()).or_default() += 1;
        }
        let waiting = self.jvms.iter_mut().filter(|(_, asked)| asked.open.is_none());
        let waiting = waiting.filter_map(|(key, asked)| {
            let pending = asked.waiting.as_mut()?;
            pending.since.get_or_insert(now);
            Some((*pending, *key, asked))
        });
        let mut longest_first: Vec<_> = waiting.collect();
        longest_first.sort_by_key(|(pending, key, _)| (pending.since, *key));
        for (pending, key, asked) in longest_first {
            let open = open_of.entry(asked.container.clone()).or_default();
            if *open >= MOST_OF_CONTAINER {
                continue;
            }
            let task = match (actuator.journal.former_flags(key), pending.wish) {
                (Some(former), wish) => JvmTask::CarryOut { wish, former: former.clone() },
                (None, Wish::Shrink { .. }) => JvmTask::Remember,
                // The JVM is unchanged.
                (None, Wish::Hold | Wish::Grow { .. } | Wish::Restore) => {
                    asked.waiting = None;
                    continue;
                }
            };
            let control = asked.control.clone();
            let submitted = workers.submit(JvmJob { control, task });
            if troubles.check("heaps not changed", submitted).is_none() {
                return;
            }
            *open += 1;
            asked.waiting = None;
            asked.open = Some(Pending { since: Some(now), ..pending });
        }
    }

    /// Counts each command that hangs, and each that waits behind such ones, once.
    fn warn_of_late(&mut self, troubles: &Troubles, now: Instant) {
        for (key, asked) in self.jvms.iter_mut().filter(|(_, asked)| !asked.is_late) {
            let Some(since) = asked.open.or(asked.waiting).and_then(|pending| pending.since) else {
                continue;
            };
            asked.is_late = now.saturating_duration_since(since) >= LATE_AFTER;
            if asked.is_late {
                let does = if asked.open.is_some() {
                    "hangs"
                } else {
                    "waits behind commands to other JVMs"
                };
                let (container, pid) = (&asked.container, key.pid);
                let message = format!("{container}: a command to the JVM with pid {pid} {does}");
                troubles.warn("heaps not changed", message);
            }
        }
    }
}

#[cfg(test)]
mod tests;

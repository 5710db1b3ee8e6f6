//! Pending wishes for JVMs. A separate thread carries them out, one at a time for each JVM.
//!
//! The journal keeps a JVM's former flags from before the first wish until the JVM is restored.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::{Actuator, warnings};
use crate::{
    audit::Reason,
    container_id::ContainerId,
    jvm::{Answer, AttachError, Control, ControlError, Done, Job, JvmCommand, Task, Wish, Worker},
    once::Once,
    sensors::ProcessKey,
};

/// Jobs that wait for the thread or whose result was not collected.
const MAX_JOBS: usize = 256;
/// The pause before another attempt to restore a JVM.
const RESTORE_AGAIN_AFTER: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
pub(super) struct HeapWishes {
    /// Started with the first wish.
    worker: Option<Worker>,
    jvms: BTreeMap<ProcessKey, JvmWishes>,
}

/// The wishes for one JVM.
#[derive(Debug)]
struct JvmWishes {
    container: ContainerId,
    control: Control,
    waiting: Option<ReasonedWish>,
    /// Handed to the thread.
    open: Option<ReasonedWish>,
    /// The newest commands. The same commands again are not recorded as a change.
    sent: Vec<JvmCommand>,
    /// When to try again to restore the JVM.
    restore_at: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ReasonedWish {
    wish: Wish,
    reason: Reason,
}

impl HeapWishes {
    /// Replaces the wish that waits for a JVM.
    pub fn want(&mut self, container: &ContainerId, control: Control, wish: Wish, reason: Reason) {
        let asked = self.jvms.entry(control.key()).or_insert_with(|| JvmWishes {
            container: container.clone(),
            control,
            waiting: None,
            open: None,
            sent: Vec::new(),
            restore_at: None,
        });
        asked.waiting = Some(ReasonedWish { wish, reason });
    }

    /// Whether a JVM is being restored, or waits for the next attempt.
    pub fn restores(&self, jvm: ProcessKey, now: Instant) -> bool {
        self.jvms.get(&jvm).is_some_and(|asked| {
            let is_restore = |wanted: Option<ReasonedWish>| {
                wanted.is_some_and(|wanted| wanted.wish == Wish::Restore)
            };
            let waits = asked.restore_at.is_some_and(|at| at > now);
            waits || is_restore(asked.waiting) || is_restore(asked.open)
        })
    }

    /// The control of a JVM that has wishes.
    pub fn control_of(&self, jvm: ProcessKey) -> Option<Control> {
        self.jvms.get(&jvm).map(|asked| asked.control.clone())
    }

    /// Takes the thread's results, waiting up to `within`, and submits the next jobs. Returns the
    /// containers whose flags changed, and why.
    pub fn advance(
        &mut self,
        within: Duration,
        actuator: &mut Actuator,
        now: Instant,
        troubles: &mut Once,
    ) -> Vec<(ContainerId, Reason)> {
        let done = match &self.worker {
            Some(worker) if within.is_zero() => worker.collect(),
            Some(worker) => worker.collect_all(within),
            None => Vec::new(),
        };
        let taken = done.into_iter();
        let changed = taken.filter_map(|done| self.take(done, actuator, now, troubles));
        let changed = changed.collect();
        self.submit_all(actuator, troubles);
        let journal = &actuator.journal;
        self.jvms.retain(|key, asked| {
            let is_asked = asked.open.is_some() || asked.waiting.is_some();
            is_asked || journal.former_flags(*key).is_some()
        });
        changed
    }

    /// Whether the thread has jobs.
    pub fn are_open(&self) -> bool {
        self.jvms.values().any(|asked| asked.open.is_some())
    }

    fn take(
        &mut self,
        done: Done,
        actuator: &mut Actuator,
        now: Instant,
        troubles: &mut Once,
    ) -> Option<(ContainerId, Reason)> {
        let key = done.jvm;
        let asked = self.jvms.get_mut(&key)?;
        let wanted = asked.open.take()?;
        let container = asked.container.clone();
        let sent = match done.result {
            Ok(Answer::Remembered(former)) => {
                match actuator.journal.remember_jvm(&container, former) {
                    Ok(()) => asked.waiting = asked.waiting.or(Some(wanted)),
                    Err(error) => troubles.warn("journal", error),
                }
                return None;
            }
            Ok(Answer::CarriedOut(wish, sent)) => {
                if wish == Wish::Restore {
                    warnings::journal(troubles, actuator.journal.forget_jvm(key));
                }
                sent
            }
            Err(ControlError { sent, source }) => {
                asked.fail(wanted, &source, now, troubles);
                if matches!(source, AttachError::Gone { .. }) {
                    warnings::journal(troubles, actuator.journal.forget_jvm(key));
                }
                sent
            }
        };
        if sent.is_empty() || sent == asked.sent {
            return None;
        }
        let audit = &mut actuator.audit;
        let written = audit.jvm_changed(&container, wanted.reason, key.pid, &sent);
        warnings::audit(troubles, written);
        asked.sent = sent;
        Some((container, wanted.reason))
    }

    fn submit_all(&mut self, actuator: &Actuator, troubles: &mut Once) {
        let is_needed = |asked: &JvmWishes| asked.open.is_none() && asked.waiting.is_some();
        if self.worker.is_none() && self.jvms.values().any(is_needed) {
            let worker = Worker::start(MAX_JOBS);
            let failed = |error: &_| troubles.warn("heaps not changed", error);
            self.worker = worker.inspect_err(failed).ok();
        }
        let Some(worker) = &self.worker else {
            return;
        };
        for (key, asked) in &mut self.jvms {
            let (Some(wanted), None) = (asked.waiting, asked.open) else {
                continue;
            };
            let task = match (actuator.journal.former_flags(*key), wanted.wish) {
                (Some(former), wish) => Task::CarryOut {
                    wish,
                    former: former.clone(),
                },
                (None, Wish::Shrink { .. }) => Task::Remember,
                // The JVM is unchanged.
                (None, Wish::Hold | Wish::Grow { .. } | Wish::Restore) => {
                    asked.waiting = None;
                    continue;
                }
            };
            let control = asked.control.clone();
            match worker.submit(Job { control, task }) {
                Ok(()) => asked.open = asked.waiting.take(),
                Err(error) => {
                    troubles.warn("heaps not changed", error);
                    return;
                }
            }
        }
    }
}

impl JvmWishes {
    /// A later reading repeats the failed wish.
    fn fail(
        &mut self,
        wanted: ReasonedWish,
        source: &AttachError,
        now: Instant,
        troubles: &mut Once,
    ) {
        if wanted.wish == Wish::Restore {
            self.restore_at = Some(now + RESTORE_AGAIN_AFTER);
        }
        // The end of a JVM is no fault, and a pause follows a failure that was already logged.
        let is_quiet = matches!(
            source,
            AttachError::Gone { .. } | AttachError::BackedOff { .. }
        );
        if !is_quiet {
            let message = format!("{}: {source}", self.container);
            troubles.warn("heaps not changed", message);
        }
    }
}

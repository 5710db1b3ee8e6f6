//! JVMs that failed are left alone for a while, longer after each failure.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use crate::sensors::ProcessKey;

const FIRST: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(300);
/// The age at which an entry must be of a JVM that is no longer asked.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(3600);

#[derive(Debug, Default)]
pub struct Backoff {
    failed: HashMap<ProcessKey, Pause>,
}

#[derive(Debug, Clone, Copy)]
struct Pause {
    until: Instant,
    length: Duration,
}

impl Backoff {
    /// How much longer a JVM is left alone.
    pub fn left(&self, jvm: ProcessKey, now: Instant) -> Option<Duration> {
        let pause = self.failed.get(&jvm)?;
        let left = pause.until.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }

    pub fn succeeded(&mut self, jvm: ProcessKey) {
        self.failed.remove(&jvm);
    }

    pub fn failed(&mut self, jvm: ProcessKey, now: Instant) {
        self.failed.retain(|_, pause| now.saturating_duration_since(pause.until) < FORGOTTEN_AFTER);
        let before = self.failed.get(&jvm);
        let length = before.map_or(FIRST, |pause| (pause.length * 2).min(LONGEST));
        let until = now + length;
        self.failed.insert(jvm, Pause { until, length });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JVM: ProcessKey = key(7, 1000);

    const fn key(pid: u32, start_ticks: u64) -> ProcessKey {
        ProcessKey { pid, start_ticks }
    }

    #[test]
    fn a_pause_doubles_up_to_five_minutes_and_ends_with_success() {
        let mut now = Instant::now();
        let mut backoff = Backoff::default();
        assert_eq!(backoff.left(JVM, now), None);
        for seconds in [10, 20, 40, 80, 160, 300, 300] {
            backoff.failed(JVM, now);
            let pause = Duration::from_secs(seconds);
            assert_eq!(backoff.left(JVM, now), Some(pause));
            assert_eq!(backoff.left(key(7, 2000), now), None);
            now += pause;
            assert_eq!(backoff.left(JVM, now), None);
        }
        backoff.succeeded(JVM);
        backoff.failed(JVM, now);
        assert_eq!(backoff.left(JVM, now), Some(FIRST));
    }

    #[test]
    fn an_entry_that_is_not_used_any_more_is_dropped() {
        let now = Instant::now();
        let mut backoff = Backoff::default();
        backoff.failed(JVM, now);
        backoff.failed(key(8, 1), now + 2 * FORGOTTEN_AFTER);
        assert_eq!(backoff.failed.len(), 1);
    }
}

//! JVMs that failed are left alone for a while, longer after each failure.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

const FIRST: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(300);
/// The age at which an entry must be of a JVM that is no longer asked.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(3600);

/// A pid and the start of its process, in ticks since boot.
pub type Name = (u32, u64);

#[derive(Debug, Default)]
pub struct Backoff {
    failed: HashMap<Name, Pause>,
}

#[derive(Debug, Clone, Copy)]
struct Pause {
    until: Instant,
    length: Duration,
}

impl Backoff {
    /// How much longer a JVM is left alone.
    pub fn left(&self, name: Name, now: Instant) -> Option<Duration> {
        let pause = self.failed.get(&name)?;
        let left = pause.until.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }

    pub fn succeeded(&mut self, name: Name) {
        self.failed.remove(&name);
    }

    pub fn failed(&mut self, name: Name, now: Instant) {
        self.failed
            .retain(|_, pause| now.saturating_duration_since(pause.until) < FORGOTTEN_AFTER);
        let before = self.failed.get(&name);
        let length = before.map_or(FIRST, |pause| (pause.length * 2).min(LONGEST));
        let until = now + length;
        self.failed.insert(name, Pause { until, length });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: Name = (7, 1000);

    #[test]
    fn a_pause_doubles_up_to_five_minutes_and_ends_with_success() {
        let mut now = Instant::now();
        let mut backoff = Backoff::default();
        assert_eq!(backoff.left(NAME, now), None);
        for seconds in [10, 20, 40, 80, 160, 300, 300] {
            backoff.failed(NAME, now);
            let pause = Duration::from_secs(seconds);
            assert_eq!(backoff.left(NAME, now), Some(pause));
            assert_eq!(backoff.left((7, 2000), now), None);
            now += pause;
            assert_eq!(backoff.left(NAME, now), None);
        }
        backoff.succeeded(NAME);
        backoff.failed(NAME, now);
        assert_eq!(backoff.left(NAME, now), Some(FIRST));
    }

    #[test]
    fn an_entry_that_is_not_used_any_more_is_dropped() {
        let now = Instant::now();
        let mut backoff = Backoff::default();
        backoff.failed(NAME, now);
        backoff.failed((8, 1), now + 2 * FORGOTTEN_AFTER);
        assert_eq!(backoff.failed.len(), 1);
    }
}

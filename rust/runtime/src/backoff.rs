//! When to try again what failed.

use std::time::{Duration, Instant};

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// The next attempt: 1 s after the first failure, then twice as long each time, at most 60 s.
#[derive(Debug)]
pub(crate) struct Backoff {
    wait: Duration,
    due: Instant,
}

impl Backoff {
    /// The first attempt has failed.
    pub(crate) fn new(now: Instant) -> Self {
        Self { wait: FIRST, due: now + FIRST }
    }

    /// The time until the next attempt is due.
    pub(crate) fn left(&self, now: Instant) -> Duration {
        self.due.saturating_duration_since(now)
    }

    /// Another attempt has failed.
    pub(crate) fn failed(&mut self, now: Instant) {
        self.wait = (2 * self.wait).min(LONGEST);
        self.due = now + self.wait;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_attempt_waits_twice_as_long_up_to_a_minute() {
        let mut now = Instant::now();
        let mut backoff = Backoff::new(now);
        let mut waits = Vec::new();
        for _ in 0..8 {
            waits.push(backoff.left(now).as_secs());
            now += backoff.left(now);
            assert!(backoff.left(now).is_zero());
            backoff.failed(now);
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
    }
}

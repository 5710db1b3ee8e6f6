//! When to read and when to close a sample. The deadlines are absolute, so that delays do not add
//! up.

use std::time::{Duration, Instant};

/// A round that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueReading {
    /// Whether this is the last reading of its sample.
    pub closes_sample: bool,
    /// Rounds that passed without a reading.
    pub missed: u64,
}

/// The deadlines of all rounds.
#[derive(Debug)]
pub struct Schedule {
    start: Instant,
    interval: Duration,
    readings_per_sample: u64,
    done: u64,
}

impl Schedule {
    pub fn new(start: Instant, interval: Duration, readings_per_sample: u64) -> Self {
        Self { start, interval, readings_per_sample: readings_per_sample.max(1), done: 0 }
    }

    pub fn next_at(&self) -> Instant {
        let rounds = u32::try_from(self.done + 1).unwrap_or(u32::MAX);
        self.start + self.interval.saturating_mul(rounds)
    }

    /// Takes the latest round due at `now`, if any, and skips earlier ones.
    pub fn take(&mut self, now: Instant) -> Option<DueReading> {
        let elapsed = now.saturating_duration_since(self.start).as_nanos();
        let round = u64::try_from(elapsed / self.interval.as_nanos().max(1)).unwrap_or(u64::MAX);
        if round <= self.done {
            return None;
        }
        let missed = round - self.done - 1;
        let samples = |rounds| rounds / self.readings_per_sample;
        let closes_sample = samples(round) > samples(self.done);
        self.done = round;
        Some(DueReading { closes_sample, missed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn deadlines_do_not_drift_when_rounds_are_late() {
        let start = Instant::now();
        let mut schedule = Schedule::new(start, SECOND, 3);
        assert_eq!(schedule.take(start), None);
        assert_eq!(schedule.next_at(), start + SECOND);
        let late = start + Duration::from_millis(1400);
        assert!(schedule.take(late).is_some());
        assert_eq!(schedule.take(late), None);
        assert_eq!(schedule.next_at(), start + 2 * SECOND);
    }

    #[test]
    fn every_third_reading_closes_a_sample_even_when_some_were_missed() {
        let start = Instant::now();
        let mut schedule = Schedule::new(start, SECOND, 3);
        let mut closes = |second: u64| schedule.take(start + Duration::from_secs(second));
        let due = |closes_sample, missed| Some(DueReading { closes_sample, missed });
        assert_eq!(closes(1), due(false, 0));
        assert_eq!(closes(2), due(false, 0));
        assert_eq!(closes(3), due(true, 0));
        assert_eq!(closes(7), due(true, 3));
        assert_eq!(closes(8), due(false, 0));
        assert_eq!(closes(9), due(true, 0));
    }
}

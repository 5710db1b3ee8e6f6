//! The latest reasons for changes to a container.

use std::{collections::VecDeque, time::Instant};

use crate::audit::Reason;

/// Enough for a person to read.
const KEPT: usize = 4;

/// Oldest first.
#[derive(Debug, Default)]
pub struct History(VecDeque<(Instant, Reason)>);

impl History {
    pub fn push(&mut self, now: Instant, reason: Reason) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back((now, reason));
    }

    /// The age of each reason, in milliseconds, and the reason.
    pub fn at(&self, now: Instant) -> impl Iterator<Item = (u64, Reason)> + '_ {
        self.0.iter().map(move |(then, reason)| {
            let age = now.saturating_duration_since(*then).as_millis();
            (u64::try_from(age).unwrap_or(u64::MAX), *reason)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_newest_reasons_stay() {
        let start = Instant::now();
        let mut history = History::default();
        for second in 0..6 {
            let reason = if second < 5 { Reason::PlanStep } else { Reason::NotInPlan };
            history.push(start + Duration::from_secs(second), reason);
        }
        let all: Vec<(u64, Reason)> = history.at(start + Duration::from_secs(6)).collect();
        assert_eq!(all.len(), KEPT);
        assert_eq!(all[0], (4000, Reason::PlanStep));
        assert_eq!(all[3], (1000, Reason::NotInPlan));
    }
}

//! The latest reasons for changes to a container.

use std::collections::VecDeque;

use super::Reason;

/// Enough for a person to read.
const KEPT: usize = 4;

/// The time of each change by the wall clock, in ms, and the reason. Oldest first.
#[derive(Debug, Default)]
pub struct History(VecDeque<(u64, Reason)>);

impl History {
    pub fn push(&mut self, unix_ms: u64, reason: Reason) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back((unix_ms, reason));
    }

    /// The age of each reason in ms, and the reason.
    pub fn at(&self, unix_ms: u64) -> Vec<(u64, Reason)> {
        let age = |(then, reason): &(u64, Reason)| (unix_ms.saturating_sub(*then), *reason);
        self.0.iter().map(age).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_reasons_stay() {
        let mut history = History::default();
        for second in 0..6 {
            let reason = if second < 5 { Reason::PlanStep } else { Reason::NotInPlan };
            history.push(1000 * second, reason);
        }
        let all: Vec<(u64, Reason)> = history.at(6000);
        assert_eq!(all.len(), KEPT);
        assert_eq!(all[0], (4000, Reason::PlanStep));
        assert_eq!(all[3], (1000, Reason::NotInPlan));
    }
}

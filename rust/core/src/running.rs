//! An executor that runs, and what it is expected to use from now on.

use crate::demand::Demand;
use crate::resources::Resources;

/// One executor on a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Running {
    /// When it started, in milliseconds since the epoch.
    pub start_ms: i64,
    /// What it is expected to use.
    pub demand: Demand,
    /// What it was last seen to use; never given out again while it runs.
    pub measured_memory_bytes: f64,
}

impl Running {
    /// An executor that was not measured yet.
    #[must_use]
    pub fn new(start_ms: i64, demand: Demand) -> Self {
        Self {
            start_ms,
            demand,
            measured_memory_bytes: 0.0,
        }
    }

    /// Expected use at `at_ms`, were it to run then.
    #[must_use]
    pub fn expected_at(&self, at_ms: i64) -> Resources {
        self.with_memory_in_use(self.demand.at(at_ms.saturating_sub(self.start_ms)))
    }

    /// Its predicted end in milliseconds from `now_ms`; none without one, or past it.
    pub(crate) fn end_from(&self, now_ms: i64) -> Option<i64> {
        let elapsed_ms = now_ms.saturating_sub(self.start_ms);
        self.demand
            .duration_ms()
            .map(|duration_ms| duration_ms.saturating_sub(elapsed_ms))
            .filter(|left_ms| *left_ms > 0)
    }

    /// Appends each change of its expected use after `now_ms` and returns the use at `now_ms`.
    pub(crate) fn changes_from(
        &self,
        now_ms: i64,
        changes: &mut Vec<(i64, Resources)>,
    ) -> Resources {
        let elapsed_ms = now_ms.saturating_sub(self.start_ms).max(0);
        let slot_ms = i64::from(self.demand.slot_ms());
        let now_slot = self.demand.slot_at(elapsed_ms);
        let now = self.with_memory_in_use(self.demand.slots()[now_slot]);

        let mut last = now;
        for (slot, amounts) in self.demand.slots().iter().enumerate().skip(now_slot + 1) {
            let amounts = self.with_memory_in_use(*amounts);
            if amounts != last {
                changes.push((slot as i64 * slot_ms - elapsed_ms, amounts - last));
                last = amounts;
            }
        }
        if let Some(duration_ms) = self.demand.duration_ms() {
            let left_ms = duration_ms - elapsed_ms;
            let end_ms = if left_ms > 0 { left_ms } else { slot_ms };
            changes.push((end_ms, last * -1.0));
        }
        now
    }

    fn with_memory_in_use(&self, amounts: Resources) -> Resources {
        Resources {
            memory_bytes: amounts.memory_bytes.max(self.measured_memory_bytes),
            ..amounts
        }
    }
}

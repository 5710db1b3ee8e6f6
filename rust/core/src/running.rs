//! A running executor and its expected use.

use crate::demand::Demand;
use crate::resources::Resources;

/// A running executor.
#[derive(Debug, Clone, PartialEq)]
pub struct Running {
    /// When it started, in milliseconds since the epoch.
    pub start_ms: i64,
    /// Its demand.
    pub demand: Demand,
    /// Its latest measured memory, which is available to nobody else while it runs.
    pub measured_memory_bytes: f64,
}

impl Running {
    /// An executor without a measurement.
    pub fn new(start_ms: i64, demand: Demand) -> Self {
        Self { start_ms, demand, measured_memory_bytes: 0.0 }
    }

    /// Expected use at `at_ms`, if it still runs then.
    pub fn expected_at(&self, at_ms: i64) -> Resources {
        self.with_memory_in_use(self.demand.at(at_ms.saturating_sub(self.start_ms)))
    }

    /// Milliseconds from `now_ms` to its predicted end; none without an end, or past it.
    pub fn end_from(&self, now_ms: i64) -> Option<i64> {
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
        Resources { memory_bytes: amounts.memory_bytes.max(self.measured_memory_bytes), ..amounts }
    }
}

//! The starts of what waits are planned every second, as in production.

use super::Engine;
use crate::simulator::SimulationError;
use crate::simulator::agenda::Event;

const SECOND_MS: i64 = 1_000;

impl Engine<'_> {
    /// Plans the starts, and again in the next second while something waits.
    pub(super) fn plan_starts(&mut self, now_ms: i64) -> Result<(), SimulationError> {
        self.is_planning = false;
        for machine in self.manager.read_by_planning(now_ms) {
            self.come_to(machine, now_ms as f64);
            self.report(machine, now_ms)?;
        }
        self.manager.plan_starts(now_ms);
        if self.manager.waiting > 0 {
            self.expect_planning(now_ms + 1);
        }
        Ok(())
    }

    /// Something waits.
    pub(super) fn expect_planning(&mut self, from_ms: i64) {
        if self.manager.plans_starts() && !self.is_planning {
            self.is_planning = true;
            let seconds = from_ms.saturating_add(SECOND_MS - 1) / SECOND_MS;
            self.agenda.add(seconds.saturating_mul(SECOND_MS) as f64, Event::Planning);
        }
    }
}

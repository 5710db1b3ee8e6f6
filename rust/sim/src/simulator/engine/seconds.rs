//! What happens every second while something waits, as in production: bookable capacity follows demand, and
//! the starts are planned.

use super::Engine;
use crate::simulator::SimulationError;
use crate::simulator::agenda::Event;

const SECOND_MS: i64 = 1_000;

impl Engine<'_> {
    /// Expects the next second while something waits.
    pub(super) fn second(&mut self, now_ms: i64) -> Result<(), SimulationError> {
        self.expects_second = false;
        if self.manager.follows_demand() {
            self.read(0..self.nodes.len(), now_ms)?;
            for machine in self.manager.follow_demand(now_ms) {
                self.wake(machine, now_ms);
            }
            self.start_masters(now_ms);
        } else {
            self.read(self.manager.read_by_planning(now_ms), now_ms)?;
        }
        self.manager.plan_starts(now_ms);
        if self.manager.waiting > 0 || self.masters.any_waits() {
            self.expect_second(now_ms + 1);
        }
        Ok(())
    }

    /// Something waits.
    pub(super) fn expect_second(&mut self, from_ms: i64) {
        let manager = &self.manager;
        let is_needed = manager.plans_starts() || manager.follows_demand();
        if (is_needed || self.settings.forecast_every_ms.is_some()) && !self.expects_second {
            self.expects_second = true;
            let seconds = from_ms.saturating_add(SECOND_MS - 1) / SECOND_MS;
            self.agenda.add(seconds.saturating_mul(SECOND_MS) as f64, Event::Second);
        }
    }
}

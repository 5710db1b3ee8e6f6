//! Nodes' agents report what their containers use, and get limits for it.

use elastane_core::Progress;

use super::Engine;
use crate::simulator::settings::ProgressSource;

/// How often agents report: one sample.
const EVERY_MS: i64 = elastane_core::SLOT_MS as i64;

/// When they first do, apart from the slots of plans, as on a real cluster.
pub(super) const FIRST_MS: i64 = 1_000;

impl Engine<'_> {
    /// Has all agents report once, if that is due by `until_ms`; false where it is not.
    pub(super) fn report_until(&mut self, until_ms: f64) -> bool {
        let due = self
            .next_report_ms
            .filter(|at_ms| *at_ms as f64 <= until_ms);
        let Some(now_ms) = due else {
            return false;
        };
        self.next_report_ms = Some(now_ms + EVERY_MS);
        for machine in 0..self.nodes.len() {
            self.report(machine, now_ms);
        }
        true
    }

    fn report(&mut self, machine: usize, now_ms: i64) {
        if self.nodes[machine].machine.executors().is_empty() {
            return;
        }
        // Slots that end now end after the report.
        self.come_to(machine, (now_ms as f64).next_down());
        self.advance(machine, now_ms as f64);
        let following = self.settings.following;
        let mut changed = false;
        for executor in self.nodes[machine].machine.executors_mut() {
            let exact = Progress::new(executor.progress().clamp(0.0, 1.0)).ok();
            let Some(followed) = &mut executor.followed else {
                continue;
            };
            if let Some(sample) =
                followed.sample(self.manager.corrected_by(&executor.container), now_ms)
            {
                changed |= self.manager.used(&executor.container, &sample, now_ms);
            }
            let progress = match following.progress {
                ProgressSource::None => None,
                ProgressSource::Usage => followed.estimated(),
                ProgressSource::Exact => exact,
            };
            if let Some(progress) = progress {
                changed |= self
                    .manager
                    .progressed(&executor.container, progress, now_ms);
            }
        }
        changed |= self.manager.reprovision(machine, now_ms);
        if let Some(limits) = &following.limits {
            self.limit(machine, limits, now_ms);
        }
        if changed {
            self.manager.changed(machine);
            self.nodes[machine].changed = true;
            self.wake(machine, now_ms);
        }
    }

    fn limit(&mut self, machine: usize, settings: &elastane_core::plan::PlanSettings, now_ms: i64) {
        let limits = self.manager.limits(machine, settings, now_ms);
        let mut changed = false;
        for executor in self.nodes[machine].machine.executors_mut() {
            if let Some(followed) = &mut executor.followed {
                changed |= followed.limit(limits.get(&executor.container));
            }
        }
        if changed {
            self.change(machine, now_ms as f64);
            self.plan_work(machine);
        }
    }
}

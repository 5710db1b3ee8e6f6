//! Nodes' agents report what their containers use, and get limits for it.

use std::collections::HashMap;

use elastane_core::{Progress, SLOT_MS};
use elastane_protocol::{ContainerSamples, Limits};

use super::Engine;
use crate::simulator::SimulationError;
use crate::simulator::resource_manager::measured;
use crate::simulator::settings::ProgressSource;

/// How often agents report: one sample.
const EVERY_MS: i64 = SLOT_MS as i64;

/// The time of the first report. As on a real cluster, reports do not coincide with the slots of plans.
pub(super) const FIRST_MS: i64 = 1_000;

impl Engine<'_> {
    /// Has all agents report if containers are followed and a report is due by `until_ms`. Returns whether
    /// one was.
    pub(super) fn report_until(&mut self, until_ms: f64) -> Result<bool, SimulationError> {
        let due = self.next_report_ms.filter(|at_ms| *at_ms as f64 <= until_ms);
        let Some(now_ms) = due else {
            return Ok(false);
        };
        self.next_report_ms = Some(now_ms + EVERY_MS);
        for machine in 0..self.nodes.len() {
            if !self.nodes[machine].machine.executors().is_empty() {
                self.report_followed(machine, now_ms)?;
            }
        }
        Ok(true)
    }

    fn report_followed(&mut self, machine: usize, now_ms: i64) -> Result<(), SimulationError> {
        // Slots that end now end after the report.
        self.come_to(machine, (now_ms as f64).next_down());
        self.advance(machine, now_ms as f64);
        let mut containers = Vec::new();
        for executor in self.nodes[machine].machine.executors_mut() {
            let progress = Progress::new(executor.progress().clamp(0.0, 1.0));
            if self.settings.following.progress == ProgressSource::Exact
                && let Ok(progress) = progress
            {
                self.manager.progressed(&executor.container, progress);
            }
            let container = &executor.container;
            let followed = executor.followed.as_mut();
            containers.extend(followed.and_then(|followed| followed.sample(container, now_ms)));
        }
        let limits = self.tell(machine, containers, now_ms)?;
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
        self.manager.changed(machine);
        self.wake(machine, now_ms);
        Ok(())
    }

    /// Brings machines up to date, for a reader of their plans.
    pub(super) fn read(
        &mut self,
        machines: impl IntoIterator<Item = usize>,
        now_ms: i64,
    ) -> Result<(), SimulationError> {
        for machine in machines {
            self.come_to(machine, now_ms as f64);
            self.report(machine, now_ms)?;
        }
        Ok(())
    }

    /// Reports the machine's size at the start, and later the memory of containers that are not followed,
    /// for a round that reads it now.
    pub(super) fn report(&mut self, machine: usize, now_ms: i64) -> Result<(), SimulationError> {
        let is_followed = self.next_report_ms.is_some();
        if is_followed && now_ms > 0 {
            return Ok(());
        }
        let executors = self.nodes[machine].machine.executors().iter();
        let containers = executors
            .filter(|_| !is_followed)
            .map(|executor| measured(&executor.container, executor.demand, SLOT_MS, 0.0))
            .collect();
        self.tell(machine, containers, now_ms)?;
        Ok(())
    }

    fn tell(
        &mut self,
        machine: usize,
        containers: Vec<ContainerSamples>,
        now_ms: i64,
    ) -> Result<HashMap<String, Limits>, SimulationError> {
        let capacity = self.nodes[machine].machine.capacity;
        let limits = self.settings.following.limits.is_some();
        self.manager.reported(machine, capacity, containers, limits, now_ms)
    }
}

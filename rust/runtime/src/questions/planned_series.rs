//! Planned use over the next ten minutes.

use elastane_core::{Available, Demand, Resources, SLOT_MS};
use serde::Serialize;

/// Ten minutes.
const SLOTS: usize = 200;

/// The planned use of all containers together in each slot from now on.
#[derive(Debug, Serialize)]
pub(crate) struct PlannedSeries {
    slot_ms: u32,
    cpu_cores: Vec<f64>,
    memory_bytes: Vec<f64>,
    network_bytes_per_s: Vec<f64>,
    disk_bytes_per_s: Vec<f64>,
}

impl PlannedSeries {
    /// Of one node.
    pub(crate) fn of(available: &Available) -> Self {
        let mut sum = PlannedSum::default();
        sum.add(available);
        sum.series()
    }
}

/// The sum over nodes.
pub(crate) struct PlannedSum {
    slots: [Resources; SLOTS],
}

impl Default for PlannedSum {
    fn default() -> Self {
        Self { slots: [Resources::ZERO; SLOTS] }
    }
}

impl PlannedSum {
    /// Adds the amounts that are planned on a node at the beginning of each slot.
    pub(crate) fn add(&mut self, available: &Available) {
        let until_ms = SLOTS as i64 * i64::from(SLOT_MS);
        let nothing = Demand::for_life(Resources::ZERO);
        let capacity = available.capacity();
        let mut slots = (0_i64..).step_by(SLOT_MS as usize).zip(&mut self.slots).peekable();
        for segment in available.segments(&nothing, until_ms) {
            let planned = (capacity - segment.available).map(|amount| amount.max(0.0));
            while let Some((_, slot)) = slots.next_if(|(from_ms, _)| *from_ms < segment.to_ms) {
                *slot += planned;
            }
        }
    }

    pub(crate) fn series(&self) -> PlannedSeries {
        let column = |of: fn(&Resources) -> f64| self.slots.iter().map(of).collect();
        PlannedSeries {
            slot_ms: SLOT_MS,
            cpu_cores: column(|it| it.cpu_cores),
            memory_bytes: column(|it| it.memory_bytes),
            network_bytes_per_s: column(|it| it.network_bytes_per_s),
            disk_bytes_per_s: column(|it| it.disk_bytes_per_s),
        }
    }
}

#[cfg(test)]
mod tests;

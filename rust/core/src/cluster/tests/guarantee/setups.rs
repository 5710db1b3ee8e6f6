//! Queues and their applications, as they are made up.

use super::*;

pub(super) const MB: u64 = 1_000_000;
pub(super) const NODE_CORES: f64 = 64.0;
pub(super) const NODE_VCORES: u32 = 512;

#[derive(Debug, Clone)]
pub(super) struct QueueSetup {
    pub(super) name: String,
    pub(super) capacity: f64,
    pub(super) maximum: f64,
    /// Demand over request of what it ran alone for an hour before; none if it has run nothing yet.
    pub(super) past_ratio: Option<f64>,
    pub(super) applications: Vec<ApplicationSetup>,
}

#[derive(Debug, Clone)]
pub(super) struct ApplicationSetup {
    /// Demand over request; none where it is not known.
    pub(super) known_ratio: Option<f64>,
    pub(super) request_mb: u64,
    /// It demands that much in the first third of each minute and a half, counted from its start, and otherwise this
    /// part of it.
    pub(super) between_peaks: f64,
    /// Of a node's 64.
    pub(super) cpu_cores: f64,
    /// How many containers it asks for at the beginning, and 20 s later.
    pub(super) asks: [u32; 2],
}

impl ApplicationSetup {
    /// By its request where nothing is known.
    pub(super) fn planned_cores(&self) -> f64 {
        let requested = NODE_CORES / f64::from(NODE_VCORES);
        self.known_ratio.map_or(requested, |_| self.cpu_cores)
    }

    pub(super) fn demands(&self, ratio: f64) -> Demands {
        let peak_bytes = (self.request_mb * MB) as f64 * ratio;
        let slots = (0..2_000).map(|slot| {
            let part = if slot % 30 < 10 { 1.0 } else { self.between_peaks };
            Resources::from_array([self.cpu_cores, peak_bytes * part, 0.0, 0.0])
        });
        let slots: Vec<_> = slots.collect();
        let demand = Demand::series(crate::SLOT_MS, &slots).unwrap();
        executors(demand, 0.0)
    }
}

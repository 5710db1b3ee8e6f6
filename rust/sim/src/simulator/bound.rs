//! A lower bound of the makespan under any policy.

use elastane_core::{Resource, Resources};

use crate::workload::Workload;

/// The least time that a workload takes.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct LowerBound {
    /// All work over the capacity of all machines, for the resource that takes longest.
    pub work_s: f64,
    /// That resource.
    pub resource: &'static str,
    /// From the first submission to the last end, if every executor started when its application came and
    /// nothing slowed it down.
    pub chain_s: f64,
}

impl LowerBound {
    /// The larger of the two.
    pub fn seconds(&self) -> f64 {
        self.work_s.max(self.chain_s)
    }

    /// The bound of a workload, with the executors of this seed.
    pub fn new(workload: &Workload, seed: u64) -> Self {
        let mut work = Resources::ZERO;
        let mut last_end_ms = 0.0_f64;
        for (place, application) in workload.applications.iter().enumerate() {
            let slot_ms = f64::from(application.actual.slot_ms());
            for number in 0..application.executors {
                let slots = application.executor(seed, place, number);
                let end_ms = application.submitted_ms as f64 + slots.len() as f64 * slot_ms;
                for slot in slots {
                    work += slot * (slot_ms / 1e3);
                }
                last_end_ms = last_end_ms.max(end_ms);
            }
        }
        let first_ms = workload.applications.iter().map(|one| one.submitted_ms);
        let first_ms = first_ms.min().unwrap_or(0) as f64;
        let capacity = workload.capacity();
        let (work_s, resource) = Resource::ALL
            .into_iter()
            .filter(|resource| capacity.get(*resource) > 0.0)
            .map(|resource| (work.get(resource) / capacity.get(resource), resource.name()))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap_or((0.0, ""));
        Self { work_s, resource, chain_s: (last_end_ms - first_ms) / 1e3 }
    }
}

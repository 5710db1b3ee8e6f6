//! What is recorded of a container in one interval.

use elastane_core::{Resource, Resources};
use serde::{Deserialize, Serialize};

use crate::crowding::Crowding;

/// More than any node has of anything, and so little that no sum over a run is infinite.
const MOST_AMOUNT: f64 = 1e30;

/// The measured use of a container over some time, and how much of that time the same takes on free nodes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ContainerSample {
    /// Its end, since the container's start.
    pub end_since_start_ms: i64,
    /// The time that it covers.
    pub length_ms: u32,
    /// The mean over that time; of memory the largest reading.
    pub usage: Resources,
    /// 0 to 1.
    left_on_free_nodes: f32,
}

impl ContainerSample {
    /// A sample of a container that lost nothing to others.
    pub fn new(end_since_start_ms: i64, length_ms: u32, usage: Resources) -> Self {
        Self { end_since_start_ms, length_ms, usage, left_on_free_nodes: 1.0 }
    }

    /// The same of a container that was crowded, `master` being how its application master was at the time. It
    /// is not shortened below the time in which a node of this `capacity` can do as much; an amount of 0 is not
    /// known.
    #[must_use]
    pub fn crowded(
        self,
        crowding: &Crowding,
        master: Option<&Crowding>,
        capacity: Resources,
    ) -> Self {
        let part = |flow| {
            let (used, most) = (self.usage.get(flow), capacity.get(flow));
            if most > 0.0 { used / most } else { 0.0 }
        };
        let at_capacity = Resource::FLOWS.into_iter().map(part).fold(0.0, f64::max);
        let left = crowding.left_on_free_nodes(master).max(at_capacity).min(1.0);
        Self { left_on_free_nodes: left as f32, ..self }
    }

    /// What of `length_ms` is left on free nodes: at least 1 of what is not 0, at most all.
    pub(crate) fn left_ms(&self, length_ms: i64) -> i64 {
        let left = (length_ms as f64 * f64::from(self.left_on_free_nodes)).ceil() as i64;
        left.max(1).min(length_ms)
    }

    pub(crate) fn is_valid(&self) -> bool {
        let amounts = self.usage.to_array();
        amounts.iter().all(|amount| (0.0..=MOST_AMOUNT).contains(amount))
            && (0.0..=1.0).contains(&self.left_on_free_nodes)
    }
}

//! Tetris: the executor whose peaks align best with the capacity that the peaks of others leave.

use elastane_core::fit::Excess;
use elastane_core::policy::by_request::fit_once;
use elastane_core::policy::{Candidate, Detail, Place, Policy, bounded};
use elastane_core::{Resource, Resources};

/// Tetris (Grandl et al., SIGCOMM 2014), section 3.2: with p the peak demand of the executor and A
/// what the peaks of those that run leave, both over the capacity, `alignment = Σ over r of A_r · p_r`,
/// the highest wins. `Σ p_r ≤ capacity_r` for all four resources.
///
/// Departs from it in leaving out the fairness knob, the barrier hint and the remaining work (SRTF):
/// Elasecutor and Prophet compare against packing alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tetris;

impl Policy for Tetris {
    fn name(&self) -> &'static str {
        "tetris"
    }

    fn looks_ahead(&self) -> bool {
        false
    }

    fn fits(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Result<(), Excess> {
        let taken = peaks(place) + candidate.needed.peak();
        fit_once(place, taken, place.node.capacity, &Resource::ALL)
    }

    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        let alignment = Alignment::new(place, candidate);
        bounded(-alignment.product.to_array().into_iter().sum::<f64>())
    }

    fn highest_wins(&self) -> bool {
        true
    }

    fn detail(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Detail {
        let alignment = Alignment::new(place, candidate);
        let capacity = place.node.capacity;
        Detail::default()
            .resources("available_share", &Resource::ALL, capacity, alignment.available)
            .resources("peak_share", &Resource::ALL, capacity, alignment.peak)
            .resources("alignment", &Resource::ALL, capacity, alignment.product)
    }
}

/// The terms of the dot product per resource; 0 for a resource of capacity 0.
struct Alignment {
    available: Resources,
    peak: Resources,
    product: Resources,
}

impl Alignment {
    fn new(place: &Place<'_>, candidate: &Candidate<'_>) -> Self {
        let capacity = place.node.capacity;
        let available = (capacity - peaks(place)).share_of(capacity);
        let peak = candidate.demand.peak().share_of(capacity);
        let product = available.zip(peak, |available, peak| available * peak);
        Self { available, peak, product }
    }
}

/// The sum of the peaks of the running executors, each over its whole life: Tetris knows no time.
fn peaks(place: &Place<'_>) -> Resources {
    place.node.running().fold(Resources::ZERO, |sum, executor| {
        let peak = executor.demand.peak();
        let memory_bytes = peak.memory_bytes.max(executor.measured_memory_bytes);
        sum + Resources { memory_bytes, ..peak }
    })
}

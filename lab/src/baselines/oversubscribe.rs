//! Oversubscribe: every node counts as a multiple of its size.

use elastane_core::Resources;
use elastane_core::fit::Excess;
use elastane_core::policy::by_request::fit_by_request;
use elastane_core::policy::{Candidate, Place, Policy};

use super::Capacity;

/// Plain oversubscription, as by registering nodes larger than they are (Ursa, EuroSys 2020, table 5,
/// does it with CPU): `Σ request_r ≤ factor_r · capacity_r` for CPU and memory, whatever is used. The
/// order is [`Capacity`]'s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Oversubscribe {
    /// Its name in comparisons.
    pub name: &'static str,
    /// How many times each core is booked.
    pub cpu_factor: f64,
    /// How many times each byte of memory is booked.
    pub memory_factor: f64,
}

impl Oversubscribe {
    /// CPU and memory at once, by each factor that is compared with.
    pub const ALL: [Self; 4] = [
        Self::by("oversubscribe-1.5", 1.5),
        Self::by("oversubscribe", 2.0),
        Self::by("oversubscribe-2.5", 2.5),
        Self::by("oversubscribe-3", 3.0),
    ];

    const fn by(name: &'static str, factor: f64) -> Self {
        Self { name, cpu_factor: factor, memory_factor: factor }
    }
}

impl Policy for Oversubscribe {
    fn name(&self) -> &'static str {
        self.name
    }

    fn looks_ahead(&self) -> bool {
        false
    }

    fn most_booked(&self) -> Option<f64> {
        Some(self.cpu_factor.max(self.memory_factor).max(1.0))
    }

    fn fits(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Result<(), Excess> {
        let capacity = place.node.capacity;
        let bookable = Resources {
            cpu_cores: self.cpu_factor * capacity.cpu_cores,
            memory_bytes: self.memory_factor * capacity.memory_bytes,
            ..capacity
        };
        fit_by_request(place, candidate, bookable)
    }

    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        Capacity.score(place, candidate)
    }

    fn highest_wins(&self) -> bool {
        Capacity.highest_wins()
    }
}

//! Watermark: a node counts for more than its size while it is little used.

use elastane_core::fit::Excess;
use elastane_core::policy::by_request::fit_by_request;
use elastane_core::policy::{Candidate, Detail, Place, Policy};
use elastane_core::{Resource, Resources};

use super::Capacity;

/// Yahoo's overcommit of YARN nodes (YARN-5202; J. Lowe, "Investigating the Effects of Overcommitting
/// YARN Resources", Hadoop Summit 2016): with u the node's utilization now,
/// `factor = max` where u ≤ low, `1` where u ≥ high, and on the line between the two otherwise;
/// `Σ request_r ≤ factor_r · capacity_r` for CPU and memory. The order is [`Capacity`]'s.
///
/// Departs from it in three points. Yahoo overcommits memory on clusters that book nothing else; here
/// CPU is booked too, and each of the two has the factor of its own utilization. Utilization is the
/// predicted one, where Yahoo measures it. Preemption above the high mark is left out: it is not
/// placement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Watermark {
    /// How many times an unused node is booked.
    pub max_factor: f64,
    /// The utilization up to which `max_factor` applies.
    pub low: f64,
    /// The utilization from which on the factor is 1.
    pub high: f64,
}

impl Default for Watermark {
    fn default() -> Self {
        Self { max_factor: 1.5, low: 0.6, high: 0.8 }
    }
}

impl Watermark {
    fn factor(&self, utilization: f64) -> f64 {
        if utilization <= self.low {
            self.max_factor
        } else if utilization < self.high {
            let above_low = (utilization - self.low) / (self.high - self.low);
            self.max_factor - (self.max_factor - 1.0) * above_low
        } else {
            1.0
        }
    }

    fn factors(&self, place: &Place<'_>) -> Resources {
        let capacity = place.node.capacity;
        capacity
            .zip(place.available.now(), |capacity, left| self.factor((capacity - left) / capacity))
    }
}

impl Policy for Watermark {
    fn name(&self) -> &'static str {
        "watermark"
    }

    fn most_booked(&self) -> Option<f64> {
        Some(self.max_factor.max(1.0))
    }

    fn fits(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Result<(), Excess> {
        let factors = self.factors(place);
        let bookable = place.node.capacity.zip(factors, |capacity, factor| capacity * factor);
        fit_by_request(place, candidate, bookable)
    }

    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        Capacity.score(place, candidate)
    }

    fn highest_wins(&self) -> bool {
        Capacity.highest_wins()
    }

    fn detail(&self, place: &Place<'_>, _candidate: &Candidate<'_>) -> Detail {
        let booked_by = [Resource::Cpu, Resource::Memory];
        let factors = self.factors(place);
        Detail::default().resources("factor", &booked_by, place.node.capacity, factors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_overcommit_up_to_the_low_mark_and_none_from_the_high_one_on() {
        let watermark = Watermark::default();
        for (utilization, factor) in [
            (0.0, 1.5),
            (0.6, 1.5),
            (0.65, 1.375),
            (0.7, 1.25),
            (0.75, 1.125),
            (0.8, 1.0),
            (1.3, 1.0),
        ] {
            let got = watermark.factor(utilization);
            assert!((got - factor).abs() < 1e-12, "{utilization}: {got}");
        }
    }
}

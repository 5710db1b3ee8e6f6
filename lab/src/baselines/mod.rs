//! Policies that exist only to be compared with, one file each, with the formula in its source's notation.

/// The part of a [`elastane_core::policy::Policy`] that places by request and books a node once.
macro_rules! fits_by_request_alone {
    () => {
        fn looks_ahead(&self) -> bool {
            false
        }

        fn most_booked(&self) -> Option<f64> {
            Some(1.0)
        }

        fn fits(
            &self,
            place: &elastane_core::policy::Place<'_>,
            candidate: &elastane_core::policy::Candidate<'_>,
        ) -> Result<(), elastane_core::fit::Excess> {
            let capacity = place.node.capacity;
            elastane_core::policy::by_request::fit_by_request(place, candidate, capacity)
        }
    };
}

mod drf;
mod dynamic_allocation;
mod oversubscribe;
mod static_allocation;
mod tetris;
mod watermark;

pub use drf::Drf;
pub use dynamic_allocation::DynamicAllocation;
pub use oversubscribe::Oversubscribe;
pub use static_allocation::StaticAllocation;
pub use tetris::Tetris;
pub use watermark::Watermark;

pub use elastane_sim::capacity::Capacity;
use elastane_sim::simulator::{Policies, PolicyToSimulate};

/// The product's policies and the baselines.
pub fn policies() -> Policies {
    Policies::with(baselines)
}

fn baselines() -> Vec<PolicyToSimulate> {
    let by_request =
        |policy: PolicyToSimulate| PolicyToSimulate { books_as_registered: true, ..policy };
    [
        by_request(PolicyToSimulate::new(Capacity)),
        by_request(PolicyToSimulate::new(Drf)),
        PolicyToSimulate::new(Tetris),
        by_request(PolicyToSimulate::new(StaticAllocation)),
        PolicyToSimulate {
            asks_by_backlog: true,
            ..by_request(PolicyToSimulate::new(DynamicAllocation))
        },
        PolicyToSimulate::new(Watermark::default()),
    ]
    .into_iter()
    .chain(Oversubscribe::ALL.map(PolicyToSimulate::new))
    .collect()
}

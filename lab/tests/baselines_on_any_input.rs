//! The baselines, iSpark's packing and Ursa's estimate of memory accept every value of their types.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "../../rust/core/tests/properties/on_any_input.rs"]
mod on_any_input;

use elastane_core::policy::{Policy, PolicyOptions, names};
use elastane_lab::baselines;
use elastane_lab::ispark::IsparkParameters;
use elastane_lab::ispark::packing::{LatestIteration, pack, provision};
use elastane_lab::monotasks::memory_estimate_bytes;
use proptest::prelude::*;

use on_any_input::{moment, number, numbers};

fn policies(options: PolicyOptions) -> Vec<Box<dyn Policy>> {
    let all = baselines::policies();
    let baselines = all.names().into_iter();
    baselines
        .filter(|name| !names().contains(name))
        .map(|name| all.named(name, options).unwrap().policy)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn packing_and_estimates_have_an_answer_too(
        usage in prop::collection::vec(numbers(), 0..6),
        highest in numbers(),
        settings in (number(), number(), number()),
        times in (moment(), moment()),
        estimate in prop::array::uniform4(number()),
    ) {
        let parameters = IsparkParameters {
            threshold: settings.0,
            trigger: settings.1,
            slowdown: settings.2,
            ..IsparkParameters::default()
        };
        let iteration = LatestIteration { elapsed_ms: times.0, expected_ms: times.1, highest };
        let _ = provision(&usage, &iteration, &parameters);
        prop_assert!(pack(&usage, highest).len() <= usage.len());
        let [share, memory, memory_to_input, input] = estimate;
        let bytes = memory_estimate_bytes(share, memory, memory_to_input, input);
        prop_assert!(bytes.is_finite() && bytes >= 0.0);
    }
}

//! `crate::policies` return an answer and a finite score for any input that the types allow.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use elastane_core::fit::{Excess, Peaks};
use elastane_core::node::ExecutorId;
use elastane_core::policy::{Candidate, Place, PolicyOptions, Rates, Waiting};
use elastane_core::{Available, Demand, Node, Resource, Resources, Running};
use proptest::prelude::*;

/// Amounts that a demand accepts.
fn amount() -> BoxedStrategy<f64> {
    prop_oneof![
        Just(0.0),
        Just(f64::from_bits(1)),
        Just(f64::MIN_POSITIVE),
        0.0..8.0,
        Just(1e300),
        Just(f64::MAX),
    ]
    .boxed()
}

/// Numbers that a public field accepts.
pub fn number() -> BoxedStrategy<f64> {
    prop_oneof![
        4 => amount(),
        1 => amount().prop_map(|amount| -amount),
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(f64::NEG_INFINITY),
    ]
    .boxed()
}

fn amounts() -> impl Strategy<Value = Resources> {
    prop::array::uniform4(amount()).prop_map(Resources::from_array)
}

pub fn numbers() -> impl Strategy<Value = Resources> {
    prop::array::uniform4(number()).prop_map(Resources::from_array)
}

pub fn moment() -> impl Strategy<Value = i64> {
    prop_oneof![
        Just(i64::MIN),
        Just(i64::MIN + 1),
        -5_000_i64..5_000,
        Just(1_763_736_000_000),
        Just(i64::MAX - 1),
        Just(i64::MAX),
    ]
}

fn demand() -> impl Strategy<Value = Demand> {
    let slot_ms = prop_oneof![Just(1), Just(3_000), Just(u32::MAX)];
    let series = (slot_ms, prop::collection::vec(amounts(), 1..5))
        .prop_map(|(slot_ms, slots)| Demand::series(slot_ms, &slots).unwrap());
    let for_life = amounts().prop_map(Demand::for_life);
    prop_oneof![3 => series, 1 => for_life]
}

fn running() -> impl Strategy<Value = Running> {
    (moment(), demand(), number()).prop_map(|(start_ms, demand, measured_memory_bytes)| Running {
        start_ms,
        demand,
        measured_memory_bytes,
    })
}

fn waiting() -> impl Strategy<Value = Waiting> {
    let share = prop::option::of(numbers());
    (moment(), moment(), any::<(u32, u32, bool)>(), number(), share).prop_map(
        |(
            submitted_ms,
            queued_ms,
            (executors, running, whole),
            dominant_share,
            remaining_share,
        )| {
            Waiting {
                submitted_ms,
                queued_ms,
                executors,
                running,
                dominant_share,
                whole,
                remaining_share,
            }
        },
    )
}

fn rates() -> impl Strategy<Value = Rates> {
    (number(), numbers(), numbers()).prop_map(|(expected_processing_s, per_s, assigned)| Rates {
        expected_processing_s,
        per_s,
        assigned,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn every_score_is_a_number_and_so_is_all_of_its_detail(
        capacity in prop_oneof![4 => amounts(), 1 => numbers()],
        running in prop::collection::vec(running(), 0..4),
        booked in numbers(),
        now_ms in moment(),
        rates in prop::option::of(rates()),
        demand in demand(),
        margin in amount(),
        request in numbers(),
        waiting in waiting(),
    ) {
        let mut node = Node::new(capacity);
        for (id, executor) in running.into_iter().enumerate() {
            node.insert(ExecutorId(id as u64), executor);
        }
        let place = Place {
            node: &node,
            available: &node.available(now_ms),
            booked,
            now_ms,
            rates: rates.as_ref(),
        };
        let candidate = Candidate {
            demand: &demand,
            needed: &demand.with_margin(margin),
            request,
            waiting,
        };
        for peaks in [Peaks::Strict, Peaks::Soft] {
            let options = PolicyOptions { peaks: Some(peaks), ..PolicyOptions::default() };
            for policy in crate::policies(options) {
                let name = policy.name();
                let fits = policy.fits(&place, &candidate);
                if let Err(excess) = &fits {
                    prop_assert!(!excess.to_string().is_empty());
                }
                let score = policy.score(&place, &candidate);
                if !policy.looks_ahead() {
                    let empty = Place { available: &Available::new(capacity, [], now_ms), ..place };
                    let same = |a: &Result<(), Excess>, b: &Result<(), Excess>| {
                        format!("{a:?}") == format!("{b:?}")
                    };
                    prop_assert!(same(&policy.fits(&empty, &candidate), &fits), "{}", name);
                    prop_assert_eq!(policy.score(&empty, &candidate), score, "{}", name);
                }
                prop_assert!(score.is_finite(), "{}: {}", name, score);
                if let (Ok(()), Some(most_booked)) = (&fits, policy.most_booked()) {
                    for resource in [Resource::Cpu, Resource::Memory] {
                        let (asked, size) = ((booked + request).get(resource), capacity.get(resource));
                        let is_booked = asked <= size * most_booked * (1.0 + 1e-6);
                        prop_assert!(size == 0.0 || is_booked, "{}: {} of {}", name, asked, size);
                    }
                }
                if let Some(own) = policy.rates(&node, now_ms) {
                    let unmeasured = Place { rates: None, ..place };
                    let known = Place { rates: Some(&own), ..place };
                    let fits = |place| format!("{:?}", policy.fits(place, &candidate));
                    prop_assert_eq!(fits(&unmeasured), fits(&known), "{}", name);
                    let score = |place| policy.score(place, &candidate);
                    prop_assert_eq!(score(&unmeasured), score(&known), "{}", name);
                }
                let detail = policy.detail(&place, &candidate);
                let parts = detail.per_resource.values().flat_map(|part| part.values());
                for part in parts.chain(detail.numbers.values()) {
                    prop_assert!(part.is_finite(), "{}: {:?}", name, detail);
                }
            }
        }
    }

    #[test]
    fn every_application_gets_a_turn(
        waiting in prop::collection::vec(waiting(), 0..6), now_ms in moment(),
    ) {
        for policy in crate::policies(PolicyOptions::default()) {
            prop_assert_eq!(policy.turns(&waiting, now_ms).len(), waiting.len());
        }
    }
}

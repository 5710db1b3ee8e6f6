//! Every policy against a plain reference: the same fits, the same scores, the same choice.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod reference;

use elastane_core::Available;
use elastane_core::policy::{Policy, PolicyOptions, named, names};
use proptest::prelude::*;

use reference::{Asked, NOW_MS, Scene, amounts, policies, running, scene, waiting};

/// Scores within this fraction of each other are equal, as in `elastane what-if`.
const TIE: f64 = 1e-9;

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= TIE * a.abs().max(b.abs()).max(1e-3)
}

/// The best of those that fit; among equals the one queued longest, then the first.
fn choice(scene: &Scene, scores: &[Option<f64>]) -> Option<usize> {
    let best = scores.iter().flatten().copied().reduce(f64::min)?;
    let ties =
        (0..scores.len()).filter(|at| scores[*at].is_some_and(|score| is_close(score, best)));
    ties.min_by_key(|at| (scene.asked[*at].waiting.queued_ms, *at))
}

fn check(policy: &dyn Policy, scene: &Scene) -> Result<(), TestCaseError> {
    let name = policy.name();
    let node = scene.node();
    let available = node.available(NOW_MS);
    let place = scene.place(&node, &available);
    let sign = if policies::highest_wins(name) {
        -1.0
    } else {
        1.0
    };
    let expected = |asked: &Asked| {
        let fits = policies::fits(name, scene, asked);
        fits.then(|| sign * policies::score(name, scene, asked))
    };
    let got = |asked: &Asked| {
        let candidate = asked.candidate();
        let fits = policy.fits(&place, &candidate).is_ok();
        fits.then(|| policy.score(&place, &candidate))
    };
    let expected: Vec<_> = scene.asked.iter().map(expected).collect();
    let got: Vec<_> = scene.asked.iter().map(got).collect();
    for (got, expected) in got.iter().zip(&expected) {
        let same = match (got, expected) {
            (Some(got), Some(expected)) => is_close(*got, *expected),
            (None, None) => true,
            _ => false,
        };
        prop_assert!(same, "{}: {:?} is not {:?}", name, got, expected);
    }
    prop_assert_eq!(choice(scene, &got), choice(scene, &expected), "{}", name);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn every_policy_fits_scores_and_chooses_as_the_reference(scene in scene()) {
        for name in names() {
            check(named(name, PolicyOptions::default()).unwrap().as_ref(), &scene)?;
        }
    }

    #[test]
    fn the_order_of_insertion_does_not_matter(
        mut running in prop::collection::vec(running(), 0..6), capacity in amounts(),
    ) {
        let forward = Available::new(capacity, &running, NOW_MS);
        running.reverse();
        prop_assert_eq!(forward, Available::new(capacity, &running, NOW_MS));
    }

    #[test]
    fn no_policy_depends_on_the_order_of_what_runs_or_waits(scene in scene()) {
        let mut turned = scene.clone();
        turned.running.reverse();
        turned.asked.reverse();
        let (node, other_node) = (scene.node(), turned.node());
        let (available, other_available) = (node.available(NOW_MS), other_node.available(NOW_MS));
        for name in names() {
            let policy = named(name, PolicyOptions::default()).unwrap();
            let answers = |scene: &Scene, node, available: &Available| -> Vec<_> {
                let place = scene.place(node, available);
                let ask = |asked: &Asked| {
                    let candidate = asked.candidate();
                    (policy.fits(&place, &candidate), policy.score(&place, &candidate))
                };
                scene.asked.iter().map(ask).collect()
            };
            let mut other = answers(&turned, &other_node, &other_available);
            other.reverse();
            for (one, other) in answers(&scene, &node, &available).into_iter().zip(other) {
                prop_assert_eq!(one.0, other.0, "{}", name);
                prop_assert!(is_close(one.1, other.1), "{}: {} and {}", name, one.1, other.1);
            }
        }
    }

    #[test]
    fn prophets_turns_are_the_references(waiting in prop::collection::vec(waiting(), 0..12)) {
        let prophet = named("prophet", PolicyOptions::default()).unwrap();
        prop_assert!(prophet.needs_gangs());
        prop_assert_eq!(prophet.turns(&waiting, NOW_MS), policies::turns(&waiting));
    }
}

#[test]
fn the_reference_knows_which_policies_show_their_score_the_other_way_round() {
    for name in names() {
        let policy = named(name, PolicyOptions::default()).unwrap();
        assert_eq!(
            policy.highest_wins(),
            policies::highest_wins(name),
            "{name}"
        );
    }
}

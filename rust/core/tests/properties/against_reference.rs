//! Each of `crate::policies` against the plain `crate::fits`, `crate::score` and
//! `crate::highest_wins`: equal fits, scores and choices.

use elastane_core::node::ExecutorId;
use elastane_core::policy::Policy;
use elastane_core::{Available, Node, Running};
use proptest::prelude::*;

use crate::reference::{Asked, NOW_MS, Scene, scene};

/// Scores within this fraction of each other are equal, as in `elastane what-if`.
const TIE: f64 = 1e-9;

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= TIE * a.abs().max(b.abs()).max(1e-3)
}

/// The best fitting executor; of equal scores the one queued longest, then the first.
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
    let sign = if crate::highest_wins(name) { -1.0 } else { 1.0 };
    let expected = |asked: &Asked| {
        let fits = crate::fits(name, scene, asked);
        fits.then(|| sign * crate::score(name, scene, asked))
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
        for policy in crate::policies() {
            check(policy.as_ref(), &scene)?;
        }
    }

    #[test]
    fn no_policy_depends_on_the_order_of_running_or_waiting_executors(scene in scene()) {
        let mut turned = scene.clone();
        turned.running.reverse();
        turned.asked.reverse();
        let (node, other_node) = (scene.node(), turned.node());
        let (available, other_available) = (node.available(NOW_MS), other_node.available(NOW_MS));
        for policy in crate::policies() {
            let name = policy.name();
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
    fn an_executor_that_ends_leaves_the_node_as_it_was(scene in scene()) {
        let mut node = scene.node();
        let before = node.available(NOW_MS);
        let scores = |node: &Node| -> Vec<f64> {
            let available = node.available(NOW_MS);
            let place = scene.place(node, &available);
            let policies = crate::policies().into_iter();
            policies
                .map(|policy| policy.score(&place, &scene.asked[0].candidate()))
                .collect()
        };
        let scores_before = scores(&node);
        let id = ExecutorId(1_000);
        node.insert(id, Running::new(NOW_MS, scene.asked[0].demand.clone()));
        node.remove(id);
        prop_assert_eq!(node.available(NOW_MS), before);
        prop_assert_eq!(scores(&node), scores_before);
    }
}

#[test]
fn the_reference_knows_for_which_policies_the_highest_score_wins() {
    for policy in crate::policies() {
        let name = policy.name();
        assert_eq!(policy.highest_wins(), crate::highest_wins(name), "{name}");
    }
}

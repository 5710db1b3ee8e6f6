#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use elastane_core::node::ExecutorId;
use elastane_core::{Demand, Running};
use proptest::prelude::*;

use super::*;

fn cpu(cores: &[f64]) -> Needed {
    let in_slot = |cores: &f64| Resources {
        cpu_cores: *cores,
        ..Resources::ZERO
    };
    Needed::in_slots(cores.iter().map(in_slot).collect())
}

fn running(cores: &[f64]) -> Node {
    let slots = cores.iter().map(|cores| Resources {
        cpu_cores: *cores,
        ..Resources::ZERO
    });
    let demand = Demand::series(SLOT_MS, &slots.collect::<Vec<_>>()).unwrap();
    let mut node = Node::new(Resources::from_array([4.0; 4]));
    node.insert(ExecutorId(1), Running::new(0, demand));
    node
}

/// The first slot of what runs has passed.
fn first_fit(taken: &[f64], needed: &[f64]) -> usize {
    first_fit_held_to(&Resource::ALL, taken, needed)
}

fn first_fit_held_to(resources: &[Resource], taken: &[f64], needed: &[f64]) -> usize {
    let node = running(taken);
    let needed = cpu(needed);
    let mut computed = Computed::default();
    let mut outlook = Outlook::new(&node, Resources::ZERO, &mut computed, i64::from(SLOT_MS));
    let held = Held::to(&needed, resources, node.capacity);
    let end = outlook.end();
    outlook.first_fit(&held, end)
}

/// Every start tried, with a look at every slot.
fn first_fit_slowly(taken: &[f64], needed: &[f64]) -> usize {
    let ahead = &taken[1..];
    let last = taken[taken.len() - 1];
    let fits = |start: usize| {
        needed.iter().enumerate().all(|(slot, needed)| {
            let taken = ahead.get(start + slot).copied();
            let taken = if slot == 0 {
                taken.or(Some(last))
            } else {
                taken
            };
            taken.is_none_or(|taken| taken == 0.0 || needed + taken <= 4.0)
        })
    };
    (0..=ahead.len())
        .find(|start| fits(*start))
        .unwrap_or(ahead.len() + 1)
}

proptest! {
    #[test]
    fn a_look_at_blocks_first_finds_what_a_look_at_every_slot_finds(
        taken in prop::collection::vec((0_u8..5, 1_usize..40), 1..12),
        needed in prop::collection::vec((0_u8..5, 1_usize..40), 1..8),
    ) {
        let cores = |runs: &[(u8, usize)]| -> Vec<f64> {
            let runs = runs.iter();
            runs.flat_map(|(cores, slots)| vec![f64::from(*cores); *slots]).collect()
        };
        let (taken, needed) = (cores(&taken), cores(&needed));
        prop_assert_eq!(first_fit(&taken, &needed), first_fit_slowly(&taken, &needed));
    }
}

#[test]
fn what_fits_now_fits_at_once() {
    assert_eq!(first_fit(&[9.0, 2.0, 2.0], &[2.0; 5]), 0);
}

#[test]
fn a_peak_keeps_it_out_until_it_would_come_later() {
    // Its second slot must not meet the third of what is left of the other.
    assert_eq!(first_fit(&[0.0, 3.0, 3.0, 3.0, 1.0], &[1.0, 3.0]), 2);
    assert_eq!(first_fit(&[0.0, 3.0, 3.0, 3.0, 1.0], &[3.0, 1.0]), 3);
}

#[test]
fn what_outlives_its_prediction_is_in_the_way_until_it_ends() {
    assert_eq!(first_fit(&[0.0, 2.0, 3.0], &[1.0, 2.0, 1.0]), 1);
    // Not within its prediction, nor after that.
    assert_eq!(first_fit(&[0.0, 2.0, 3.0], &[2.0, 2.0]), 3);
}

#[test]
fn demands_above_the_capacity_fit_once_nothing_runs() {
    assert_eq!(first_fit(&[0.0, 1.0, 1.0, 0.0], &[9.0]), 2);
}

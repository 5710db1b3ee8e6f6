//! Scores, by hand.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use elastane_core::{Demand, Resources};
use elastane_predict::score;

fn cpu(slot_ms: u32, cores: &[f64]) -> Demand {
    let slots: Vec<Resources> =
        cores.iter().map(|cores| Resources::from_array([*cores, 0.0, 0.0, 0.0])).collect();
    Demand::series(slot_ms, &slots).unwrap()
}

#[test]
fn past_the_end_of_the_bound_its_last_value_holds() {
    let used = cpu(3_000, &[1.0, 2.0, 2.0, 4.0]);
    let total = Resources::from_array([36.0, 0.0, 0.0, 0.0]);
    let [cpu, memory, ..] = score(&cpu(3_000, &[1.0, 3.0]), total, &used);
    assert_eq!(cpu.coverage, 0.75);
    assert!((cpu.waste.unwrap() - 10.0 / 9.0).abs() < 1e-12);
    assert!((cpu.total.unwrap() - 36.0 / 27.0).abs() < 1e-12);
    // Nothing of nothing is covered, and has no ratio.
    assert_eq!((memory.coverage, memory.waste, memory.total), (1.0, None, None));
}

#[test]
fn slots_of_other_lengths_are_met_by_overlap() {
    // From 3 s to 4 s the use of 2 is above the bound of 1.
    let used = cpu(3_000, &[1.0, 2.0]);
    let [cpu, ..] = score(&cpu(2_000, &[1.0, 1.0, 2.0]), Resources::ZERO, &used);
    assert!((cpu.coverage - 5.0 / 6.0).abs() < 1e-12);
    assert!((cpu.waste.unwrap() - 8.0 / 9.0).abs() < 1e-12);
}

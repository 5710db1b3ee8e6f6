//! The benefit of each part of Ursa, and the parameters that decide it.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use elastane_lab::monotasks::{COSTS, Cost, JobOrder, Metric, Removed, VARIATIONS, costs};

/// The growth of EJF's mean completion by removals under a variation, in percent, on one seed.
fn percent<const N: usize>(parameter: &str, value: &str, removals: [Removed; N]) -> [f64; N] {
    let variation =
        VARIATIONS.iter().find(|it| (it.parameter, it.value) == (parameter, value)).unwrap();
    removals.map(|removed| {
        let cost =
            Cost { removed, order: JobOrder::EarliestFirst, grows: Metric::CompletionGrowth };
        assert!(COSTS.contains(&cost));
        costs(&[cost], variation, &[1], 1).unwrap()[0].values[0]
    })
}

#[test]
fn as_it_is_no_removal_costs_anything() {
    let removals = [Removed::StageAwareness, Removed::OrderOfMonotasks, Removed::NetworkDemand];
    for percent in percent("as it is", "", removals) {
        assert!(percent.abs() < 1.0, "{percent}");
    }
}

#[test]
fn awareness_of_stages_pays_where_a_round_has_room_for_whole_ones() {
    let [percent] = percent("round", "3 s", [Removed::StageAwareness]);
    assert!(percent > 10.0, "{percent}");
}

#[test]
fn awareness_of_stages_pays_where_f_outweighs_the_order_of_jobs() {
    let value = "EPT 1 s, memory 1.5 times";
    let [percent] = percent("F, and W 0.0003", value, [Removed::StageAwareness]);
    assert!(percent > 5.0, "{percent}");
}

#[test]
fn the_order_of_monotasks_pays_where_workers_have_much_work_ahead() {
    let [percent] = percent("EPT", "20 s", [Removed::OrderOfMonotasks]);
    assert!(percent > 5.0, "{percent}");
}

#[test]
fn demand_for_the_network_pays_where_tasks_of_a_stage_differ() {
    let unlike = "unlike in network to CPU";
    let [percent] = percent("tasks of a stage", unlike, [Removed::NetworkDemand]);
    assert!(percent > 2.0, "{percent}");
}

//! Areas between a demand and the available resources.

use crate::available::Available;
use crate::demand::Demand;
use crate::resources::Resources;

/// F and O, in seconds of the whole capacity; 0 for unknown resources.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Areas {
    /// F: available resources above the demand, weighted by stage.
    pub(super) fragmented: Resources,
    /// O: demand above the available resources, weighted by stage.
    pub(super) over: Resources,
}

pub(super) fn areas(available: &Available, demand: &Demand) -> Areas {
    let stage_count = 1 + demand.slots().windows(2).filter(|slots| slots[0] != slots[1]).count();
    let mut fragmented = Resources::ZERO;
    let mut over = Resources::ZERO;
    let mut stage = 0;
    let mut before: Option<Resources> = None;
    for segment in available.segments(demand, evaluated_ms(available, demand)) {
        if before.is_some_and(|before| before != segment.demand) {
            stage += 1;
        }
        before = Some(segment.demand);
        let weight = 1.0 - f64::from(stage) / stage_count as f64;
        let weighted_s = weight * segment.length_ms() as f64 / 1e3;
        let left = segment.available - segment.demand;
        fragmented += left.max(Resources::ZERO) * weighted_s;
        over += (left * -1.0).max(Resources::ZERO) * weighted_s;
    }
    let capacity = available.capacity();
    Areas { fragmented: fragmented.share_of(capacity), over: over.share_of(capacity) }
}

/// The evaluated time: the executor's life, or without an end until one slot after the last change
/// of the available resources.
fn evaluated_ms(available: &Available, demand: &Demand) -> i64 {
    demand.duration_ms().unwrap_or_else(|| {
        let mut before = available.now();
        let mut last_change_ms: i64 = 0;
        for segment in available.segments(demand, i64::MAX) {
            if segment.available != before {
                last_change_ms = segment.from_ms;
                before = segment.available;
            }
        }
        last_change_ms.saturating_add(i64::from(demand.slot_ms()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::running::Running;

    const CAPACITY: f64 = 10.0;

    fn network(amounts: &[f64]) -> Demand {
        let slots: Vec<_> =
            amounts.iter().map(|amount| Resources::from_array([0.0, 0.0, *amount, 0.0])).collect();
        Demand::series(1_000, &slots).unwrap()
    }

    /// Available network, second by second.
    fn leaving(amounts: &[f64]) -> Available {
        let used: Vec<_> = amounts.iter().map(|left| CAPACITY - left).collect();
        let capacity = Resources::from_array([0.0, 0.0, CAPACITY, 0.0]);
        Available::new(capacity, &[Running::new(0, network(&used))], 0)
    }

    fn f_and_o(available: &[f64], demand: &[f64]) -> (f64, f64) {
        let areas = areas(&leaving(available), &network(demand));
        let both = [areas.fragmented, areas.over].map(|area| area.network_bytes_per_s * CAPACITY);
        (both[0], both[1])
    }

    fn assert_areas(available: &[f64], demand: &[f64], expected: (f64, f64)) {
        let got = f_and_o(available, demand);
        let close = |got: f64, expected: f64| (got - expected).abs() < 1e-9;
        assert!(
            close(got.0, expected.0) && close(got.1, expected.1),
            "{demand:?} in {available:?}: {got:?} is not {expected:?}"
        );
    }

    #[test]
    fn a_demand_below_the_available_network_only_fragments() {
        assert_areas(&[6.0, 8.0], &[2.0, 2.0], (4.0 + 6.0, 0.0));
    }

    #[test]
    fn a_demand_above_the_available_network_is_only_over_allocated() {
        assert_areas(&[3.0, 1.0], &[5.0, 5.0], (0.0, 2.0 + 4.0));
    }

    #[test]
    fn a_demand_that_crosses_from_below_to_above_does_both() {
        assert_areas(&[9.0, 6.0, 2.0, 1.0], &[4.0; 4], (5.0 + 2.0, 2.0 + 3.0));
    }

    #[test]
    fn a_demand_that_crosses_from_above_to_below_does_both() {
        assert_areas(&[1.0, 3.0, 5.0, 9.0], &[4.0; 4], (1.0 + 5.0, 3.0 + 1.0));
    }

    #[test]
    fn a_demand_equal_to_the_available_network_does_neither() {
        assert_areas(&[4.0, 4.0], &[4.0, 4.0], (0.0, 0.0));
    }

    #[test]
    fn a_demand_may_cross_within_a_slot() {
        let mut running = Running::new(-500, network(&[8.0, 2.0]));
        running.measured_memory_bytes = 0.0;
        let capacity = Resources::from_array([0.0, 0.0, CAPACITY, 0.0]);
        let available = Available::new(capacity, &[running], 0);
        let areas = areas(&available, &network(&[4.0]));
        assert_eq!(areas.over.network_bytes_per_s * CAPACITY, 0.5 * 2.0);
        assert_eq!(areas.fragmented.network_bytes_per_s * CAPACITY, 0.5 * 4.0);
    }

    #[test]
    fn later_stages_weigh_less() {
        // Weights 1, 2/3 and 1/3; above, below and above the available network.
        let expected = (2.0 / 3.0 * 3.0, 2.0 + 1.0 / 3.0 * 1.0);
        assert_areas(&[4.0, 4.0, 4.0], &[6.0, 1.0, 5.0], expected);
    }

    #[test]
    fn a_stage_is_a_period_without_a_change_of_any_resource() {
        // Two stages of 2 s: the weights are 1 and 1/2.
        assert_areas(&[5.0; 4], &[3.0, 3.0, 1.0, 1.0], (2.0 * 2.0 + 0.5 * 4.0 * 2.0, 0.0));
        // CPU changes and network does not: two stages of 1 s.
        let slots = [[1.0, 0.0, 3.0, 0.0], [2.0, 0.0, 3.0, 0.0]].map(Resources::from_array);
        let demand = Demand::series(1_000, &slots).unwrap();
        let areas = areas(&leaving(&[5.0; 2]), &demand);
        assert!((areas.fragmented.network_bytes_per_s * CAPACITY - (2.0 + 0.5 * 2.0)).abs() < 1e-9);
    }

    #[test]
    fn a_value_that_returns_starts_another_stage() {
        // Stages 3, 1, 3 with weights 1, 2/3, 1/3.
        let expected = (2.0 + 2.0 / 3.0 * 4.0 + 1.0 / 3.0 * 2.0, 0.0);
        assert_areas(&[5.0; 3], &[3.0, 1.0, 3.0], expected);
    }

    #[test]
    fn areas_are_fractions_of_the_capacity_and_0_without_one() {
        let areas = areas(&leaving(&[6.0]), &network(&[2.0]));
        assert_eq!(areas.fragmented.network_bytes_per_s, 0.4);
        assert_eq!(areas.fragmented.disk_bytes_per_s, 0.0);
    }

    #[test]
    fn a_demand_without_an_end_is_evaluated_until_a_slot_after_the_last_change() {
        let demand = Demand::for_life(Resources::from_array([0.0, 0.0, 4.0, 0.0]));
        let areas = areas(&leaving(&[3.0, 3.0]), &demand);
        assert_eq!(areas.over.network_bytes_per_s * CAPACITY, 2.0 * 1.0);
        let slot_s = f64::from(crate::SLOT_MS) / 1e3;
        assert!((areas.fragmented.network_bytes_per_s * CAPACITY - slot_s * 6.0).abs() < 1e-9);
    }
}

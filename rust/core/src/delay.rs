//! What it costs an executor that peaks meet.

use crate::available::Available;
use crate::demand::Demand;
use crate::resources::{Resource, Resources};

/// How much later the work of `demand` is done on a node of which `available` is left, in
/// milliseconds of the node: max over CPU, network and disk of
/// `∫ max(0, min(demand, demand − available)) dt ÷ capacity`, which is Prophet's O (section IV-B)
/// over the node's speed instead of a weight.
///
/// A demand without an end is not delayed: it is held to every slot.
#[must_use]
pub fn delay_ms(available: &Available, demand: &Demand) -> i64 {
    let Some(life_ms) = demand.duration_ms() else {
        return 0;
    };
    let late = available
        .segments(demand, life_ms)
        .fold(Resources::ZERO, |sum, segment| {
            let above = (segment.demand - segment.available).zip(segment.demand, f64::min);
            sum + above.max(Resources::ZERO) * segment.length_ms() as f64
        });
    Resource::FLOWS
        .into_iter()
        .filter(|resource| available.capacity().get(*resource) > 0.0)
        .map(|resource| late.get(resource) / available.capacity().get(resource))
        .fold(0.0, f64::max) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::running::Running;

    fn series(cores: &[f64]) -> Demand {
        let slots: Vec<_> = cores.iter().map(|cores| amounts(*cores, 0.0)).collect();
        Demand::series(1_000, &slots).unwrap()
    }

    fn amounts(cpu_cores: f64, disk_bytes_per_s: f64) -> Resources {
        Resources::from_array([cpu_cores, 1.0, 0.0, disk_bytes_per_s])
    }

    fn left_by(running: &[f64]) -> Available {
        Available::new(amounts(2.0, 10.0), &[Running::new(0, series(running))], 0)
    }

    #[test]
    fn peaks_that_do_not_meet_cost_nothing() {
        assert_eq!(delay_ms(&left_by(&[2.0, 0.0]), &series(&[0.0, 2.0])), 0);
    }

    #[test]
    fn work_above_what_is_left_is_done_later_at_the_nodes_speed() {
        // One core-second and half a core-second do not fit; the node does two a second.
        assert_eq!(delay_ms(&left_by(&[2.0, 1.5]), &series(&[1.0, 1.0])), 750);
    }

    #[test]
    fn a_node_that_is_overfull_already_delays_no_more_than_the_work_itself() {
        assert_eq!(delay_ms(&left_by(&[9.0]), &series(&[1.0])), 500);
    }

    #[test]
    fn the_slowest_resource_decides_and_memory_is_none_of_them() {
        let demand =
            Demand::series(1_000, &[Resources::from_array([1.0, 99.0, 5.0, 30.0])]).unwrap();
        assert_eq!(delay_ms(&left_by(&[2.0]), &demand), 2_000);
    }

    #[test]
    fn a_request_is_not_delayed() {
        let request = Demand::for_life(amounts(2.0, 0.0)).unwrap();
        assert_eq!(delay_ms(&left_by(&[2.0]), &request), 0);
    }
}

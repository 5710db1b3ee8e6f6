//! Delay of an executor by coinciding peaks.

use crate::available::Available;
use crate::demand::Demand;
use crate::resources::{Resource, Resources};

/// The time by which the work of `demand` is delayed on a node with `available`, in milliseconds: max over CPU,
/// network and disk of `∫ max(0, min(demand, demand − available)) dt ÷ capacity`. This is Prophet's
/// over-allocation O (section IV-B) divided by the node's speed instead of weighted.
///
/// A demand without an end has no delay: its fit holds in every slot.
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

    fn available_beside(running: &[f64]) -> Available {
        Available::new(amounts(2.0, 10.0), &[Running::new(0, series(running))], 0)
    }

    #[test]
    fn peaks_that_do_not_coincide_delay_nothing() {
        assert_eq!(
            delay_ms(&available_beside(&[2.0, 0.0]), &series(&[0.0, 2.0])),
            0
        );
    }

    #[test]
    fn work_above_the_available_cores_is_delayed_by_the_nodes_speed() {
        // 1 + 0.5 core-seconds lack, and the node does 2 core-seconds a second.
        assert_eq!(
            delay_ms(&available_beside(&[2.0, 1.5]), &series(&[1.0, 1.0])),
            750
        );
    }

    #[test]
    fn an_over_allocated_node_delays_no_more_than_the_work_itself() {
        assert_eq!(delay_ms(&available_beside(&[9.0]), &series(&[1.0])), 500);
    }

    #[test]
    fn the_slowest_resource_decides_and_memory_does_not_count() {
        let demand =
            Demand::series(1_000, &[Resources::from_array([1.0, 99.0, 5.0, 30.0])]).unwrap();
        assert_eq!(delay_ms(&available_beside(&[2.0]), &demand), 2_000);
    }

    #[test]
    fn a_request_is_not_delayed() {
        let request = Demand::for_life(amounts(2.0, 0.0)).unwrap();
        assert_eq!(delay_ms(&available_beside(&[2.0]), &request), 0);
    }
}

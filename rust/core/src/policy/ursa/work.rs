//! Work: the integral of a demand, and the part assigned to a node.

use crate::demand::Demand;
use crate::node::Node;
use crate::policy::Rates;
use crate::resources::Resources;
use crate::running::Running;

/// The integral of a demand over its life: core-seconds, byte-seconds of memory, and bytes;
/// infinite without an end.
pub fn work(demand: &Demand) -> Resources {
    remaining(demand, 0)
}

impl Rates {
    /// Rates without measurements: the speed is the node's capacity, and the assigned work is the
    /// rest of the running executors' demands. An executor past its prediction has one slot left.
    pub fn derived(node: &Node, now_ms: i64, expected_processing_s: f64) -> Self {
        let executors = node.running();
        Self {
            expected_processing_s,
            per_s: node.capacity,
            assigned: executors.map(|executor| remaining_of(executor, now_ms)).sum(),
        }
    }
}

/// The share of all applications' work, for each resource; none for work without an end. The caller
/// leaves work without an end out of `all`, because every other share would be 0 beside it.
pub fn share_of_work(part: Resources, all: Resources) -> Option<Resources> {
    let has_end = part.to_array().into_iter().all(f64::is_finite);
    has_end.then(|| part.share_of(all))
}

/// The remaining work of a running executor. One past its prediction has one slot left.
pub fn remaining_of(executor: &Running, now_ms: i64) -> Resources {
    remaining(&executor.demand, now_ms.saturating_sub(executor.start_ms))
}

/// The rest of a demand `elapsed_ms` after its start.
fn remaining(demand: &Demand, elapsed_ms: i64) -> Resources {
    let last = demand.at(i64::MAX);
    let Some(duration_ms) = demand.duration_ms() else {
        return last.map(|amount| if amount > 0.0 { f64::INFINITY } else { 0.0 });
    };
    let slot_ms = i64::from(demand.slot_ms());
    let elapsed_ms = elapsed_ms.max(0);
    if elapsed_ms >= duration_ms {
        return last * (slot_ms as f64 / 1e3);
    }
    let now_slot = demand.slot_at(elapsed_ms);
    let now_left_ms = slot_ms - elapsed_ms % slot_ms;
    let later = demand.slots()[now_slot + 1..].iter();
    let later: Resources = later.map(|slot| *slot * (slot_ms as f64 / 1e3)).sum();
    demand.slots()[now_slot] * (now_left_ms as f64 / 1e3) + later
}

/// The mean of a demand over its life.
pub(super) fn mean(demand: &Demand) -> Resources {
    let sum: Resources = demand.slots().iter().copied().sum();
    sum * (1.0 / demand.slots().len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::ExecutorId;
    use crate::resources::cpu;

    fn assigned(executors: &[(i64, Demand)]) -> Resources {
        let mut node = Node::new(cpu(8.0));
        for (at, (start_ms, demand)) in executors.iter().enumerate() {
            node.insert(ExecutorId(at as u64), Running::new(*start_ms, demand.clone()));
        }
        Rates::derived(&node, 10_000, 60.0).assigned
    }

    fn series(cores: &[f64]) -> Demand {
        let slots: Vec<_> = cores.iter().copied().map(cpu).collect();
        Demand::series(2_000, &slots).unwrap()
    }

    #[test]
    fn work_is_the_integral_over_the_life() {
        assert_eq!(work(&series(&[1.0, 3.0])), cpu(8.0));
    }

    #[test]
    fn a_demand_without_an_end_is_infinite_work_of_each_resource_in_use() {
        let forever = Demand::for_life(cpu(1.0));
        assert_eq!(work(&forever), cpu(f64::INFINITY));
    }

    #[test]
    fn a_running_executor_has_the_rest_of_its_demand_left() {
        // Half of the first slot, and the second.
        assert_eq!(assigned(&[(9_000, series(&[1.0, 3.0]))]), cpu(7.0));
        let both = [(9_000, series(&[1.0, 3.0])), (10_000, series(&[0.5]))];
        assert_eq!(assigned(&both), cpu(8.0));
    }

    #[test]
    fn an_executor_past_its_prediction_has_one_slot_left() {
        assert_eq!(assigned(&[(0, series(&[1.0, 3.0]))]), cpu(6.0));
        assert_eq!(assigned(&[(i64::MIN, series(&[1.0, 3.0]))]), cpu(6.0));
    }

    #[test]
    fn an_executor_before_its_start_has_all_its_work_left() {
        assert_eq!(assigned(&[(i64::MAX, series(&[1.0, 3.0]))]), cpu(8.0));
    }
}

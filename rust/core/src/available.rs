//! Available resources of a node over the coming time.

use crate::demand::Demand;
use crate::resources::Resources;
use crate::running::Running;

/// Capacity less the demand of the running executors, as a step function of the time from `now` on.
///
/// An executor that outlives its prediction keeps its last value for one slot from `now`, and its
/// end sets no horizon.
#[derive(Debug, Clone, PartialEq)]
pub struct Available {
    capacity: Resources,
    steps: Vec<Level>,
    first_end_ms: Option<i64>,
    least: Resources,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Level {
    offset_ms: i64,
    amounts: Resources,
}

/// A period in which neither the available resources nor a demand change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// Milliseconds from `now`.
    pub from_ms: i64,
    /// Milliseconds from `now`; [`i64::MAX`] for the last period.
    pub to_ms: i64,
    /// Available resources before the demand is placed; negative where the node is over-allocated.
    pub available: Resources,
    /// The demand.
    pub demand: Resources,
}

impl Segment {
    /// Its length in milliseconds.
    pub fn length_ms(&self) -> i64 {
        self.to_ms - self.from_ms
    }
}

impl Available {
    /// The resources that `running` leaves of `capacity` from `now_ms` on.
    pub fn new<'a>(
        capacity: Resources,
        running: impl IntoIterator<Item = &'a Running>,
        now_ms: i64,
    ) -> Self {
        let mut now_taken = Resources::ZERO;
        let mut changes: Vec<(i64, Resources)> = Vec::new();
        let mut first_end_ms = None;
        for executor in running {
            now_taken += executor.changes_from(now_ms, &mut changes);
            first_end_ms = match (first_end_ms, executor.end_from(now_ms)) {
                (Some(a), Some(b)) => Some(i64::min(a, b)),
                (a, b) => a.or(b),
            };
        }
        // The changes of each executor are sorted already, which this sort exploits.
        changes.sort_by_key(|(offset_ms, _)| *offset_ms);

        let mut left = capacity - now_taken;
        let mut steps = vec![Level { offset_ms: 0, amounts: left }];
        for (offset_ms, change) in changes {
            left -= change;
            match steps.last_mut() {
                Some(step) if step.offset_ms == offset_ms => step.amounts = left,
                _ => steps.push(Level { offset_ms, amounts: left }),
            }
        }
        let least = steps.iter().fold(capacity, |least, step| least.zip(step.amounts, f64::min));
        Self { capacity, steps, first_end_ms, least }
    }

    /// The physical size of the node.
    pub fn capacity(&self) -> Resources {
        self.capacity
    }

    /// The earliest predicted end of the running executors, in milliseconds from `now`.
    pub fn first_end_ms(&self) -> Option<i64> {
        self.first_end_ms
    }

    /// The minimum of each resource over time.
    pub fn least(&self) -> Resources {
        self.least
    }

    /// Available resources now.
    pub fn now(&self) -> Resources {
        self.steps.first().map_or(self.capacity, |step| step.amounts)
    }

    /// The periods of `demand` placed now, up to `until_ms` or the demand's end.
    pub fn segments<'a>(
        &'a self,
        demand: &'a Demand,
        until_ms: i64,
    ) -> impl Iterator<Item = Segment> + 'a {
        let until_ms = until_ms.min(demand.duration_ms().unwrap_or(i64::MAX));
        let mut step = 0;
        let mut from_ms = 0;
        std::iter::from_fn(move || {
            if from_ms >= until_ms {
                return None;
            }
            let next_step_ms = self.steps.get(step + 1).map_or(i64::MAX, |next| next.offset_ms);
            let slot = demand.slot_at(from_ms);
            let next_slot_ms = if slot + 1 < demand.slots().len() {
                (slot as i64 + 1) * i64::from(demand.slot_ms())
            } else {
                i64::MAX
            };
            let segment = Segment {
                from_ms,
                to_ms: next_step_ms.min(next_slot_ms).min(until_ms),
                available: self.steps[step].amounts,
                demand: demand.slots()[slot],
            };
            from_ms = segment.to_ms;
            if from_ms == next_step_ms {
                step += 1;
            }
            Some(segment)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::cpu;

    fn running(start_ms: i64, cores: &[f64]) -> Running {
        let slots: Vec<_> = cores.iter().copied().map(cpu).collect();
        Running::new(start_ms, Demand::series(1_000, &slots).unwrap())
    }

    fn steps(available: &Available) -> Vec<(i64, f64)> {
        available.steps.iter().map(|step| (step.offset_ms, step.amounts.cpu_cores)).collect()
    }

    #[test]
    fn a_running_demand_is_subtracted_until_its_end() {
        let available = Available::new(cpu(4.0), &[running(0, &[1.0, 3.0])], 0);
        assert_eq!(steps(&available), [(0, 3.0), (1_000, 1.0), (2_000, 4.0)]);
        assert_eq!(available.first_end_ms(), Some(2_000));
        assert_eq!(available.least(), cpu(1.0));
    }

    #[test]
    fn executors_may_start_within_each_others_slots() {
        let available =
            Available::new(cpu(4.0), &[running(-500, &[1.0, 2.0]), running(0, &[1.0])], 0);
        assert_eq!(steps(&available), [(0, 2.0), (500, 1.0), (1_000, 2.0), (1_500, 4.0)]);
    }

    #[test]
    fn an_overdue_executor_holds_its_last_value_for_a_slot_and_sets_no_horizon() {
        let available = Available::new(cpu(4.0), &[running(-9_000, &[1.0, 2.0])], 0);
        assert_eq!(steps(&available), [(0, 2.0), (1_000, 4.0)]);
        assert_eq!(available.first_end_ms(), None);
    }

    #[test]
    fn measured_memory_above_the_demand_is_not_available() {
        let mut executor = running(0, &[1.0, 1.0]);
        executor.measured_memory_bytes = 7.0;
        let capacity = Resources { memory_bytes: 10.0, ..cpu(4.0) };
        let available = Available::new(capacity, &[executor], 0);
        assert_eq!(available.now().memory_bytes, 3.0);
    }

    #[test]
    fn segments_end_where_the_demand_or_the_available_resources_change() {
        let available = Available::new(cpu(4.0), &[running(-500, &[1.0, 2.0])], 0);
        let demand = Demand::series(1_000, &[cpu(1.0), cpu(2.0)]).unwrap();
        let pieces: Vec<_> = available
            .segments(&demand, i64::MAX)
            .map(|s| (s.from_ms, s.to_ms, s.available.cpu_cores, s.demand.cpu_cores))
            .collect();
        assert_eq!(
            pieces,
            [
                (0, 500, 3.0, 1.0),
                (500, 1_000, 2.0, 1.0),
                (1_000, 1_500, 2.0, 2.0),
                (1_500, 2_000, 4.0, 2.0)
            ]
        );
    }
}

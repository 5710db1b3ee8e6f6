//! How an application asks for its executors.
//!
//! By default it asks for all of them when it comes. With Spark's dynamic allocation it asks for
//! one, and for twice as many more each second while it has a backlog; an executor that had nothing
//! to do for a minute is released, and asked for again when there is work for it.

use elastane_core::{Resource, Resources};

/// `spark.dynamicAllocation.sustainedSchedulerBacklogTimeout`.
pub(super) const BACKLOG_INTERVAL_MS: i64 = 1_000;

/// `spark.dynamicAllocation.executorIdleTimeout`.
const IDLE_TIMEOUT_MS: f64 = 60_000.0;

/// An executor that uses less than this part of its peak, of CPU, network and disk, has no task.
const IDLE_BELOW: f64 = 0.05;

/// A time in which an executor is idle for longer than the timeout.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Idle {
    /// The last slot before it is released.
    pub(super) released_after: usize,
    /// The slot with which its work begins again.
    pub(super) resumes_with: usize,
}

/// The first such time from slot `from` on, where work follows.
pub(super) fn first_idle(slots: &[Resources], slot_ms: f64, from: usize) -> Option<Idle> {
    let peak = slots.iter().fold(Resources::ZERO, |peak, slot| peak.max(*slot));
    let works = |slot: &Resources| {
        Resource::FLOWS
            .iter()
            .any(|resource| slot.get(*resource) > IDLE_BELOW * peak.get(*resource))
    };
    let timeout_slots = (IDLE_TIMEOUT_MS / slot_ms).ceil() as usize;
    let mut idle = 0;
    for (slot, amounts) in slots.iter().enumerate().skip(from) {
        if !works(amounts) {
            idle += 1;
            continue;
        }
        if idle > timeout_slots {
            return Some(Idle {
                released_after: slot - idle + timeout_slots - 1,
                resumes_with: slot,
            });
        }
        idle = 0;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_executor_is_released_a_minute_after_its_last_task() {
        let cpu = |cores| Resources::from_array([cores, 1.0, 0.0, 0.0]);
        let slots = [vec![cpu(2.0); 5], vec![cpu(0.01); 30], vec![cpu(1.0); 5]].concat();
        assert_eq!(
            first_idle(&slots, 3_000.0, 0),
            Some(Idle { released_after: 24, resumes_with: 35 })
        );
        assert_eq!(first_idle(&slots[..35], 3_000.0, 0), None, "no work follows");
        assert_eq!(first_idle(&slots, 3_000.0, 20), None, "shorter than a minute");
    }
}

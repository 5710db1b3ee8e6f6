//! When the JVMs of a container shrink and may grow.
//!
//! To shrink: ask the JVM, wait until resident memory has fallen; the limit falls with it. To grow:
//! raise the limit, then tell the JVM.

use std::time::{Duration, Instant};

/// A JVM takes seconds to give memory back; it is asked again after this time.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(5);
/// The minimum beside the heap: metaspace, code, threads, buffers.
const LEAST_OUTSIDE_HEAP_BYTES: u64 = 48 * 1024 * 1024;

/// The memory of a container now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContainerMemory {
    /// Resident memory without pages that can be written back.
    pub resident_bytes: u64,
    /// The free space to keep between resident memory and the limit.
    pub margin_bytes: u64,
    /// The limit in force, if any.
    pub limit_bytes: Option<u64>,
}

/// An action for the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeapStep {
    /// Ask the JVM to fit a limit.
    Shrink { limit_bytes: u64 },
    /// The JVM has shrunk or will not shrink: tell it to stop trying.
    Hold,
    /// Tell the JVM that it may grow up to a limit.
    Grow { limit_bytes: u64 },
    /// The JVM did not give enough memory back in time.
    GaveUp {
        /// How far the limit stays above the plan's.
        above_plan_bytes: u64,
    },
}

/// Follows the plan for one container.
#[derive(Debug)]
pub struct HeapFollower {
    give_up_after: Duration,
    asked: Option<AskedHeap>,
}

/// A request to fit a limit.
#[derive(Debug, Clone, Copy)]
struct AskedHeap {
    limit_bytes: u64,
    since: Instant,
    last: Instant,
    state: AskedState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AskedState {
    Waiting,
    Fits,
    GaveUp,
}

impl HeapFollower {
    /// `give_up_after` is how long a JVM may take to give memory back.
    pub fn new(give_up_after: Duration) -> Self {
        Self { give_up_after, asked: None }
    }

    /// The steps to take now, in order. Without a planned limit the JVM is not followed.
    pub fn follow(
        &mut self,
        planned: Option<u64>,
        reading: ContainerMemory,
        now: Instant,
    ) -> Vec<HeapStep> {
        // The sum overflows only for a wrong reading, by which no JVM may shrink.
        let least = reading.resident_bytes.checked_add(reading.margin_bytes);
        let Some((planned, least)) = planned.zip(least) else {
            self.asked = None;
            return Vec::new();
        };
        if reading.limit_bytes.is_some_and(|limit| limit < planned) {
            let asked = self.asked.take();
            return asked.map(|_| HeapStep::Grow { limit_bytes: planned }).into_iter().collect();
        }
        if least <= planned { self.hold(planned) } else { self.shrink(planned, least, now) }
    }

    /// The resident memory fits the planned limit.
    fn hold(&mut self, planned: u64) -> Vec<HeapStep> {
        match &mut self.asked {
            Some(asked) if asked.limit_bytes < planned => {
                self.asked = None;
                vec![HeapStep::Grow { limit_bytes: planned }]
            }
            Some(asked) if asked.state != AskedState::Fits => {
                let was_waiting = asked.state == AskedState::Waiting;
                asked.state = AskedState::Fits;
                was_waiting.then_some(HeapStep::Hold).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// The resident memory and its margin, `least`, exceed the planned limit.
    fn shrink(&mut self, planned: u64, least: u64, now: Instant) -> Vec<HeapStep> {
        let ask = HeapStep::Shrink { limit_bytes: planned };
        let fresh =
            AskedHeap { limit_bytes: planned, since: now, last: now, state: AskedState::Waiting };
        let asked = match &mut self.asked {
            Some(asked) if asked.limit_bytes == planned => asked,
            other => {
                *other = Some(fresh);
                return vec![ask];
            }
        };
        let is_time = now.saturating_duration_since(asked.last) >= ASK_AGAIN_AFTER;
        match asked.state {
            AskedState::Waiting
                if now.saturating_duration_since(asked.since) >= self.give_up_after =>
            {
                asked.state = AskedState::GaveUp;
                vec![HeapStep::GaveUp { above_plan_bytes: least - planned }, HeapStep::Hold]
            }
            AskedState::Waiting if is_time => {
                asked.last = now;
                vec![ask]
            }
            // It had fitted the limit, and has grown above the plan again.
            AskedState::Fits if is_time => {
                *asked = fresh;
                vec![ask]
            }
            AskedState::Waiting | AskedState::Fits | AskedState::GaveUp => Vec::new(),
        }
    }
}

/// The heap size with which a JVM fits a limit; resident memory outside the heap stays.
pub fn heap_for_limit(
    limit_bytes: u64,
    resident_bytes: u64,
    committed_bytes: u64,
    margin_bytes: u64,
) -> u64 {
    let outside = resident_bytes.saturating_sub(committed_bytes);
    let outside = outside.max(LEAST_OUTSIDE_HEAP_BYTES);
    limit_bytes.saturating_sub(outside.saturating_add(margin_bytes))
}

#[cfg(test)]
mod tests;

//! The order in which a container's memory limit and its JVM's heap change.
//!
//! To shrink: ask the JVM, wait until resident memory has fallen, then lower the limit. To grow:
//! raise the limit, then tell the JVM. The limit never falls below resident memory plus a margin.

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
pub enum Step {
    /// Ask the JVM to fit a limit.
    Shrink { limit_bytes: u64 },
    /// The JVM has shrunk or will not shrink: tell it to stop trying.
    Hold,
    /// Set the limit.
    SetLimit {
        /// `None`: no limit.
        bytes: Option<u64>,
    },
    /// Tell the JVM that it may grow.
    Grow {
        /// The limit in force; `None`: as far as the JVM was started with.
        limit_bytes: Option<u64>,
    },
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
    asked: Option<Asked>,
}

/// A request to fit a limit.
#[derive(Debug, Clone, Copy)]
struct Asked {
    limit_bytes: u64,
    since: Instant,
    last: Instant,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Fits,
    GaveUp,
}

impl HeapFollower {
    /// `give_up_after` is how long a JVM may take to give memory back.
    pub fn new(give_up_after: Duration) -> Self {
        Self { give_up_after, asked: None }
    }

    /// The steps to take now, in order. If setting a limit fails, skip the steps after it; the next
    /// reading gives new ones.
    pub fn follow(
        &mut self,
        planned: Option<u64>,
        reading: ContainerMemory,
        now: Instant,
    ) -> Vec<Step> {
        // The sum overflows only for a wrong reading, which must not set a limit.
        let least = reading.resident_bytes.checked_add(reading.margin_bytes);
        let (Some(planned), Some(least)) = (planned, least) else {
            return self.lift(reading);
        };
        match reading.limit_bytes {
            Some(limit) if planned > limit => {
                let mut steps = vec![set(planned.max(least))];
                if self.asked.take().is_some() {
                    steps.push(Step::Grow { limit_bytes: Some(planned) });
                }
                steps
            }
            Some(limit) if planned == limit && least <= limit => self.hold(planned),
            limit => self.shrink(planned, least, limit, now),
        }
    }

    fn lift(&mut self, reading: ContainerMemory) -> Vec<Step> {
        let lifted = reading.limit_bytes.map(|_| Step::SetLimit { bytes: None });
        let grown = self.asked.take().map(|_| Step::Grow { limit_bytes: None });
        lifted.into_iter().chain(grown).collect()
    }

    /// The limit is as planned.
    fn hold(&mut self, planned: u64) -> Vec<Step> {
        match &mut self.asked {
            Some(asked) if asked.limit_bytes < planned => {
                self.asked = None;
                vec![Step::Grow { limit_bytes: Some(planned) }]
            }
            Some(asked) if asked.state != State::Fits => {
                let was_waiting = asked.state == State::Waiting;
                asked.state = State::Fits;
                was_waiting.then_some(Step::Hold).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// The limit is above the planned one, or has to be.
    fn shrink(&mut self, planned: u64, least: u64, limit: Option<u64>, now: Instant) -> Vec<Step> {
        let mut steps = Vec::new();
        if limit.is_some_and(|limit| limit < least) {
            steps.push(set(least));
        }
        let ask = Step::Shrink { limit_bytes: planned };
        let fresh = Asked { limit_bytes: planned, since: now, last: now, state: State::Waiting };
        let asked = match &mut self.asked {
            Some(asked) if asked.limit_bytes == planned => asked,
            other => {
                *other = Some(fresh);
                steps.push(ask);
                return steps;
            }
        };
        let is_time = now.saturating_duration_since(asked.last) >= ASK_AGAIN_AFTER;
        if least <= planned {
            // The JVM is told to hold once a reading shows the limit in force.
            steps.push(set(planned));
            return steps;
        }
        match asked.state {
            State::Waiting if now.saturating_duration_since(asked.since) >= self.give_up_after => {
                asked.state = State::GaveUp;
                if limit.is_none_or(|limit| limit > least) {
                    steps.push(set(least));
                }
                let above_plan_bytes = least - planned;
                steps.extend([Step::GaveUp { above_plan_bytes }, Step::Hold]);
            }
            State::Waiting if is_time => {
                asked.last = now;
                steps.push(ask);
            }
            // It had fitted the limit, and has grown above the plan again.
            State::Fits if is_time => {
                *asked = fresh;
                steps.push(ask);
            }
            State::Waiting | State::Fits | State::GaveUp => {}
        }
        steps
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

fn set(bytes: u64) -> Step {
    Step::SetLimit { bytes: Some(bytes) }
}

#[cfg(test)]
mod tests;

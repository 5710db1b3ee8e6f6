//! An executor and its queues of monotasks.

use std::collections::VecDeque;

use crate::monotasks::job::Kind;
use crate::monotasks::world::World;

#[derive(Debug)]
pub(super) struct MonotaskExecutor {
    pub(super) job: usize,
    pub(super) machine: usize,
    pub(super) runs_from_s: f64,
    pub(super) idle_since_s: f64,
    pub(super) tasks: usize,
    lanes: [Lane; 3],
}

/// Monotasks of one kind; up to `limit` run at a time.
#[derive(Debug)]
struct Lane {
    limit: usize,
    active: usize,
    waiting: VecDeque<u32>,
}

impl MonotaskExecutor {
    /// `limits` are the maximum concurrent monotasks of each kind.
    pub(super) fn new(job: usize, machine: usize, runs_from_s: f64, limits: [usize; 3]) -> Self {
        Self {
            job,
            machine,
            runs_from_s,
            idle_since_s: runs_from_s,
            tasks: 0,
            lanes: limits.map(|limit| Lane { limit, active: 0, waiting: VecDeque::new() }),
        }
    }

    pub(super) fn runs(&self, now_s: f64) -> bool {
        self.runs_from_s <= now_s
    }

    pub(super) fn submit(&mut self, world: &mut World<'_>, kind: Kind, task: u32) {
        let lane = &mut self.lanes[kind as usize];
        if lane.active < lane.limit {
            lane.active += 1;
            world.submit(self.machine, kind, task, 0.0);
        } else {
            lane.waiting.push_back(task);
        }
    }

    pub(super) fn monotask_ended(&mut self, world: &mut World<'_>, kind: Kind) {
        let lane = &mut self.lanes[kind as usize];
        match lane.waiting.pop_front() {
            Some(task) => world.submit(self.machine, kind, task, 0.0),
            None => lane.active -= 1,
        }
    }
}

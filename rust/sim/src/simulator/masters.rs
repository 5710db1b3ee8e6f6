//! Application masters that wait until their queue's limit has room for them, as in CapacityScheduler.

use std::collections::HashMap;

use crate::workload::{QueueSpec, Workload};

/// Masters, and what each queue's take.
#[derive(Debug, Default)]
pub(super) struct Masters {
    masters: Vec<Master>,
    /// By application, its master; none for those that need none.
    of: Vec<Option<usize>>,
    queues: Vec<QueueSpec>,
    /// By queue, the memory of the masters that run.
    used_bytes: Vec<u64>,
    /// Masters in the order in which they began to wait.
    waiting: Vec<usize>,
}

#[derive(Debug)]
struct Master {
    memory_bytes: u64,
    queue: usize,
    /// The first submission of its applications.
    submitted_ms: i64,
    started_ms: Option<i64>,
    /// Applications that have not ended.
    left: usize,
    /// Applications that have been submitted and wait for it.
    held: Vec<Held>,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    application: usize,
    submitted_ms: i64,
}

/// An application that may arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Released {
    pub(super) application: usize,
    pub(super) at_ms: i64,
}

impl Masters {
    pub(super) fn new(workload: &Workload) -> Self {
        if workload.masters.is_empty() {
            return Self::default();
        }
        let specs = workload.masters.iter();
        let memory: HashMap<&str, u64> =
            specs.map(|it| (it.name.as_str(), it.memory_bytes)).collect();
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut masters: Vec<Master> = Vec::new();
        let of = workload.applications.iter().map(|spec| {
            let name = spec.name.as_str();
            let memory_bytes = *memory.get(name)?;
            let place = *places.entry(name).or_insert(masters.len());
            if place == masters.len() {
                masters.push(Master {
                    memory_bytes,
                    queue: spec.queue,
                    submitted_ms: spec.submitted_ms,
                    started_ms: None,
                    left: 0,
                    held: Vec::new(),
                });
            }
            let master = &mut masters[place];
            master.submitted_ms = master.submitted_ms.min(spec.submitted_ms);
            master.left += 1;
            Some(place)
        });
        let of = of.collect();
        let queues = workload.queues.clone();
        Self { masters, of, used_bytes: vec![0; queues.len()], queues, waiting: Vec::new() }
    }

    /// An application is submitted. Who may arrive now or later because of it; it itself is among them once its master
    /// runs, as long after the master's start as it was submitted after the first one.
    pub(super) fn submitted(
        &mut self,
        application: usize,
        now_ms: i64,
        bookable_bytes: u64,
    ) -> Vec<Released> {
        let Some(place) = self.of.get(application).copied().flatten() else {
            return vec![Released { application, at_ms: now_ms }];
        };
        let master = &mut self.masters[place];
        let held = Held { application, submitted_ms: now_ms };
        if let Some(started_ms) = master.started_ms {
            return vec![master.released(held, started_ms)];
        }
        if master.held.is_empty() {
            self.waiting.push(place);
        }
        self.masters[place].held.push(held);
        self.start(now_ms, bookable_bytes)
    }

    /// Whether an application is the first one that its master holds back.
    pub(super) fn holds_first(&self, application: usize) -> bool {
        let master = self.of.get(application).copied().flatten();
        let first = master.and_then(|place| self.masters[place].held.first());
        first.is_some_and(|held| held.application == application)
    }

    /// Whether a master waits.
    pub(super) fn any_waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// An application ended. Returns who may arrive because of it.
    pub(super) fn ended(
        &mut self,
        application: usize,
        now_ms: i64,
        bookable_bytes: u64,
    ) -> Vec<Released> {
        let Some(place) = self.of.get(application).copied().flatten() else {
            return Vec::new();
        };
        let master = &mut self.masters[place];
        master.left -= 1;
        if master.left > 0 {
            return Vec::new();
        }
        if let Some(used_bytes) = self.used_bytes.get_mut(master.queue) {
            *used_bytes -= master.memory_bytes;
        }
        self.start(now_ms, bookable_bytes)
    }

    /// Starts the masters that have room, in their order; one too large for what is left lets smaller ones pass.
    pub(super) fn start(&mut self, now_ms: i64, bookable_bytes: u64) -> Vec<Released> {
        let mut released = Vec::new();
        let Self { masters, queues, used_bytes, waiting, .. } = self;
        waiting.retain(|place| {
            let master = &mut masters[*place];
            if let Some(used_bytes) = used_bytes.get_mut(master.queue) {
                let QueueSpec { maximum, masters: part, .. } = &queues[master.queue];
                let limit_bytes = bookable_bytes as f64 * maximum * part;
                let together_bytes = *used_bytes + master.memory_bytes;
                // CapacityScheduler starts one in any case.
                if *used_bytes > 0 && together_bytes as f64 > limit_bytes {
                    return true;
                }
                *used_bytes = together_bytes;
            }
            master.started_ms = Some(now_ms);
            let held = std::mem::take(&mut master.held);
            released.extend(held.into_iter().map(|held| master.released(held, now_ms)));
            false
        });
        released
    }
}

impl Master {
    fn released(&self, held: Held, started_ms: i64) -> Released {
        let Held { application, submitted_ms } = held;
        Released { application, at_ms: started_ms + submitted_ms - self.submitted_ms }
    }
}

#[cfg(test)]
mod tests;

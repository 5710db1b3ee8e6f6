//! Application masters that wait until their queue's limit has room for them, as in CapacityScheduler.

use std::collections::HashMap;

use elastane_core::cluster::Request;

use crate::workload::{MasterSpec, Workload};

/// Masters, and what each queue's take.
#[derive(Debug, Default)]
pub(super) struct Masters {
    masters: Vec<Master>,
    /// By application, its master; none for those that need none.
    of: Vec<Option<usize>>,
    /// By queue, the requests of the masters that run.
    used: Vec<Request>,
    /// Masters in the order in which they began to wait.
    waiting: Vec<usize>,
}

#[derive(Debug)]
struct Master {
    spec: MasterSpec,
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
        let specs: HashMap<&str, &MasterSpec> =
            workload.masters.iter().map(|it| (it.name.as_str(), it)).collect();
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut masters: Vec<Master> = Vec::new();
        let of = workload.applications.iter().map(|application| {
            let spec = *specs.get(application.name.as_str())?;
            let place = *places.entry(&spec.name).or_insert(masters.len());
            if place == masters.len() {
                masters.push(Master {
                    spec: spec.clone(),
                    queue: application.queue,
                    submitted_ms: application.submitted_ms,
                    started_ms: None,
                    left: 0,
                    held: Vec::new(),
                });
            }
            let master = &mut masters[place];
            master.submitted_ms = master.submitted_ms.min(application.submitted_ms);
            master.left += 1;
            Some(place)
        });
        let of = of.collect();
        let queues = workload.queues.len().max(1);
        Self { masters, of, used: vec![Request::default(); queues], waiting: Vec::new() }
    }

    /// An application is submitted. When it may arrive: as long after its master's start as it was submitted after the
    /// first one; none while its master waits. `limit` is what the masters of a queue may take.
    pub(super) fn submitted(
        &mut self,
        application: usize,
        now_ms: i64,
        limit: impl Fn(usize) -> Option<Request>,
    ) -> Option<i64> {
        let Some(place) = self.place_of(application) else {
            return Some(now_ms);
        };
        let master = &mut self.masters[place];
        if master.started_ms.is_none() && master.held.is_empty() {
            let used = &mut self.used[master.queue];
            if !master.starts(used, &limit, now_ms) {
                self.waiting.push(place);
            }
        }
        if master.started_ms.is_none() {
            master.held.push(Held { application, submitted_ms: now_ms });
        }
        master.arrives_ms(now_ms)
    }

    /// Whether an application is the first one that its master holds back.
    pub(super) fn holds_first(&self, application: usize) -> bool {
        let master = self.place_of(application);
        let first = master.and_then(|place| self.masters[place].held.first());
        first.is_some_and(|held| held.application == application)
    }

    /// Whether a master waits.
    pub(super) fn any_waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// An application ended. How long its master runs on, in milliseconds, if it was its last one.
    pub(super) fn ended(&mut self, application: usize) -> Option<i64> {
        let place = self.place_of(application)?;
        let master = &mut self.masters[place];
        master.left -= 1;
        (master.left == 0).then_some(master.spec.lasts_ms)
    }

    /// The master of an application ended.
    pub(super) fn master_ended(&mut self, application: usize) {
        if let Some(place) = self.place_of(application) {
            let master = &self.masters[place];
            let used = &mut self.used[master.queue];
            *used = used.minus(master.spec.request);
        }
    }

    /// Starts the masters that have room, in their order; one too large for what is left lets smaller ones pass.
    pub(super) fn start(
        &mut self,
        now_ms: i64,
        limit: impl Fn(usize) -> Option<Request>,
    ) -> Vec<Released> {
        let mut released = Vec::new();
        let Self { masters, used, waiting, .. } = self;
        waiting.retain(|place| {
            let master = &mut masters[*place];
            let starts = master.starts(&mut used[master.queue], &limit, now_ms);
            if starts {
                let held = std::mem::take(&mut master.held).into_iter();
                released.extend(held.filter_map(|Held { application, submitted_ms }| {
                    let at_ms = master.arrives_ms(submitted_ms)?;
                    Some(Released { application, at_ms })
                }));
            }
            !starts
        });
        released
    }

    /// The place of an application's master.
    fn place_of(&self, application: usize) -> Option<usize> {
        self.of.get(application).copied().flatten()
    }
}

impl Master {
    /// Starts it if its queue has room. CapacityScheduler starts one in any case.
    fn starts(
        &mut self,
        used: &mut Request,
        limit: impl Fn(usize) -> Option<Request>,
        now_ms: i64,
    ) -> bool {
        let with_it = used.plus(self.spec.request);
        let fits = || limit(self.queue).is_none_or(|limit| with_it.fits_into(limit));
        let starts = self.spec.runs_already || *used == Request::default() || fits();
        if starts {
            *used = with_it;
            self.started_ms = Some(now_ms);
        }
        starts
    }

    /// When an application that was submitted at this time arrives; none while the master waits.
    fn arrives_ms(&self, submitted_ms: i64) -> Option<i64> {
        Some(self.started_ms? + submitted_ms - self.submitted_ms)
    }
}

#[cfg(test)]
mod tests;

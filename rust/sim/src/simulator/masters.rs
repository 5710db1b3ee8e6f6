//! Application masters that wait until the limits of their queue and user have room for them, as in CapacityScheduler.

mod taken;

pub(super) use taken::MastersLimits;

use std::collections::HashMap;

use taken::{Payer, Taken};

use crate::workload::{MasterSpec, Workload};

/// Masters, and what those of each queue and user take.
#[derive(Debug, Default)]
pub(super) struct Masters {
    masters: Vec<Master>,
    /// By application, its master; none for those that need none.
    of: Vec<Option<usize>>,
    taken: Taken,
    /// Masters in the order in which they began to wait.
    waiting: Vec<usize>,
}

#[derive(Debug)]
struct Master {
    spec: MasterSpec,
    payer: Payer,
    /// The first of its applications in the workload.
    application: usize,
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
        let mut taken = Taken::new(workload.queues.len().max(1));
        let of = workload.applications.iter().enumerate().map(|(number, application)| {
            let spec = *specs.get(application.name.as_str())?;
            let place = *places.entry(&spec.name).or_insert(masters.len());
            if place == masters.len() {
                masters.push(Master {
                    spec: spec.clone(),
                    payer: taken.payer(application),
                    application: number,
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
        Self { masters, of, taken, waiting: Vec::new() }
    }

    /// An application is submitted. When it may arrive: as long after its master's start as it was submitted after the
    /// first one; none while its master waits. `limits` are what the masters of an application's queue and
    /// user may take.
    pub(super) fn submitted(
        &mut self,
        application: usize,
        now_ms: i64,
        limits: impl Fn(usize) -> MastersLimits,
    ) -> Option<i64> {
        let Some(place) = self.place_of(application) else {
            return Some(now_ms);
        };
        let master = &mut self.masters[place];
        if master.started_ms.is_none()
            && master.held.is_empty()
            && !master.starts(&mut self.taken, &limits, now_ms)
        {
            self.waiting.push(place);
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
            self.taken.ended(master.payer, master.spec.request);
        }
    }

    /// Starts the masters that have room, in their order; one too large for what is left lets smaller ones pass.
    pub(super) fn start(
        &mut self,
        now_ms: i64,
        limits: impl Fn(usize) -> MastersLimits,
    ) -> Vec<Released> {
        let mut released = Vec::new();
        let Self { masters, taken, waiting, .. } = self;
        waiting.retain(|place| {
            let master = &mut masters[*place];
            let starts = master.starts(taken, &limits, now_ms);
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
    /// Starts it if there is room.
    fn starts(
        &mut self,
        taken: &mut Taken,
        limits: impl Fn(usize) -> MastersLimits,
        now_ms: i64,
    ) -> bool {
        let request = self.spec.request;
        let has_room = || taken.has_room(self.payer, request, || limits(self.application));
        let starts = self.spec.runs_already || has_room();
        if starts {
            taken.started(self.payer, request);
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
pub(super) mod tests;

//! A machine and the executors that work on it: fluid progress between events.

use elastane_core::Resources;

use super::allocation::Idle;
use super::contention::Contention;
use super::followed::Followed;
use crate::workload::ExecutorSlots;

/// Rounding must not leave a slot open for ever.
const SLOT_END_TOLERANCE_MS: f64 = 1e-6;

/// An executor that works.
#[derive(Debug, Clone)]
pub(super) struct Executor {
    /// Its application's place in the workload.
    pub(super) application: usize,
    /// Its number within the application.
    pub(super) number: u32,
    /// YARN's id of its container.
    pub(super) container: String,
    /// Its undisturbed use in the current slot.
    pub(super) demand: Resources,
    /// Its undisturbed use in the later slots.
    pub(super) coming: ExecutorSlots,
    /// The largest memory use of any slot.
    pub(super) most_memory_bytes: f64,
    /// The current slot.
    pub(super) slot: usize,
    /// The slot after which it is done, or released because it is idle.
    pub(super) last_slot: usize,
    /// Why it is released before its work is done.
    pub(super) idle: Option<Idle>,
    /// Progress in the current slot, in milliseconds of undisturbed progress.
    pub(super) into_slot_ms: f64,
    /// The length of a slot.
    pub(super) slot_ms: f64,
    /// The agent's measurements and limits; none where containers are not followed.
    pub(super) followed: Option<Box<Followed>>,
}

impl Executor {
    /// The completed part of its work.
    pub(super) fn progress(&self) -> f64 {
        let slots = self.slot + 1 + self.coming.len();
        (self.slot as f64 + self.into_slot_ms / self.slot_ms) / slots as f64
    }

    /// The speed under its limits; 1 is undisturbed.
    fn limited_rate(&self) -> f64 {
        let followed = self.followed.as_ref();
        followed.map_or(1.0, |followed| followed.limited_rate(self.demand))
    }

    /// The least time to its end.
    fn left_ms(&self) -> f64 {
        let slots = (self.last_slot - self.slot).min(self.coming.len());
        (slots + 1) as f64 * self.slot_ms - self.into_slot_ms
    }

    /// Goes on to the next slot if the current one is done. Returns whether that was the last.
    fn settle(&mut self) -> bool {
        if self.into_slot_ms < self.slot_ms - SLOT_END_TOLERANCE_MS {
            return false;
        }
        let next = if self.slot == self.last_slot { None } else { self.coming.next() };
        let Some(demand) = next else {
            return true;
        };
        self.demand = demand;
        self.slot += 1;
        self.into_slot_ms = 0.0;
        false
    }
}

/// A machine between two events.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    pub(super) capacity: Resources,
    executors: Vec<Executor>,
    rates: Vec<f64>,
    demands: Vec<Resources>,
    /// Resources in use until the next event.
    usage: Resources,
    /// Resources wanted until the next event.
    wanted: Resources,
    at_ms: f64,
}

/// A stretch of time in which nothing on a machine changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    pub(super) from_ms: f64,
    pub(super) to_ms: f64,
    pub(super) usage: Resources,
    pub(super) wanted: Resources,
    /// The number of executors.
    pub(super) executors: usize,
}

impl Machine {
    pub(super) fn new(capacity: Resources) -> Self {
        Self {
            capacity,
            executors: Vec::new(),
            rates: Vec::new(),
            demands: Vec::new(),
            usage: Resources::ZERO,
            wanted: Resources::ZERO,
            at_ms: 0.0,
        }
    }

    pub(super) fn executors(&self) -> &[Executor] {
        &self.executors
    }

    /// The executors and the current use of each.
    pub(super) fn in_use(&self) -> impl Iterator<Item = (&Executor, Resources)> {
        let rates = self.executors.iter().zip(&self.rates);
        rates.map(|(executor, rate)| (executor, use_at(executor.demand, *rate)))
    }

    /// The executors, for their node's agent.
    pub(super) fn executors_mut(&mut self) -> &mut [Executor] {
        &mut self.executors
    }

    pub(super) fn start(&mut self, executor: Executor) {
        self.executors.push(executor);
    }

    /// Lets time pass; nothing on the machine may change before `now_ms`.
    pub(super) fn advance(&mut self, now_ms: f64) -> Option<Stretch> {
        let passed_ms = now_ms - self.at_ms;
        if passed_ms <= 0.0 {
            return None;
        }
        for (executor, rate) in self.executors.iter_mut().zip(&self.rates) {
            executor.into_slot_ms += passed_ms * rate;
            if let Some(followed) = &mut executor.followed {
                let usage = use_at(executor.demand, *rate);
                followed.use_for(usage, executor.demand, passed_ms);
            }
        }
        let from_ms = std::mem::replace(&mut self.at_ms, now_ms);
        (!self.executors.is_empty()).then_some(Stretch {
            from_ms,
            to_ms: now_ms,
            usage: self.usage,
            wanted: self.wanted,
            executors: self.rates.len(),
        })
    }

    /// A time before which no executor ends or is killed: no executor is faster than an undisturbed one.
    pub(super) fn quiet_until_ms(&self, contention: &Contention) -> f64 {
        let memory = self.executors.iter().map(|one| one.most_memory_bytes);
        let most = Resources { memory_bytes: memory.sum(), ..Resources::ZERO };
        if contention.kills(self.capacity, most) {
            return self.at_ms;
        }
        let left_ms = self.executors.iter().map(Executor::left_ms);
        self.at_ms + left_ms.fold(f64::INFINITY, f64::min)
    }

    /// Moves executors on whose slot is done, and returns the ended ones.
    pub(super) fn settle(&mut self) -> Vec<Executor> {
        self.executors.extract_if(.., Executor::settle).collect()
    }

    /// Removes the executor that started last if memory is far too short.
    pub(super) fn kill(&mut self, contention: &Contention) -> Option<Executor> {
        let wanted = self.executors.iter().map(|executor| executor.demand).sum();
        if self.executors.len() > 1 && contention.kills(self.capacity, wanted) {
            self.executors.pop()
        } else {
            None
        }
    }

    /// Shares the machine out anew. Returns the time of the next change.
    pub(super) fn share_out(&mut self, contention: &Contention) -> Option<f64> {
        self.demands.clear();
        self.demands.extend(
            self.executors.iter().map(|executor| use_at(executor.demand, executor.limited_rate())),
        );
        contention.rates(self.capacity, &self.demands, &mut self.rates);
        self.wanted = self.demands.iter().copied().sum();
        self.usage = Resources::ZERO;
        for (demand, rate) in self.demands.iter().zip(&self.rates) {
            self.usage += use_at(*demand, *rate);
        }
        for (executor, rate) in self.executors.iter().zip(&mut self.rates) {
            *rate *= executor.limited_rate();
        }
        let left_ms = self.executors.iter().zip(&self.rates);
        left_ms
            .map(|(executor, rate)| (executor.slot_ms - executor.into_slot_ms) / rate)
            .min_by(f64::total_cmp)
            .map(|left_ms| self.at_ms + left_ms.max(0.0))
    }
}

/// Work is done at the executor's rate. Memory does not depend on the rate.
fn use_at(demand: Resources, rate: f64) -> Resources {
    Resources { memory_bytes: demand.memory_bytes, ..demand * rate }
}

//! The course of one executor: its progress and use, and the corrections of its demand that follow.

use super::factors::{Range, bounded, raised, uses_less};
use super::throttling::Throttling;
use super::unused::{Unused, restored};
use super::{ReprovisionSettings, Slow, Used};
use crate::demand::Demand;
use crate::progress::{Pace, Progress};
use crate::resources::{Resource, Resources};

/// An executor that uses less than this part of every predicted resource is idle.
const IDLE_BELOW: f64 = 0.1;

/// Maximum number of doublings of the time between windows of a throttled executor.
const MOST_DOUBLINGS: u32 = 10;

/// A measurement that differs from the prediction by at most this fraction confirms it.
const CONFIRMS: f64 = 0.1;

/// An executor with a prediction.
#[derive(Debug, Clone)]
pub(crate) struct Course {
    /// The prediction at the executor's start.
    predicted: Demand,
    progress: Progress,
    /// When the progress was reported.
    progress_ms: i64,
    pace: Pace,
    /// Factors measured in windows.
    measured: Resources,
    /// Factors lowered for unused demand.
    lowered: Resources,
    unused: Unused,
    throttling: Throttling,
    /// When it last had a window, or found too little left for one.
    checked_ms: Option<i64>,
    /// Number of consecutive windows in which the throttled executor wanted no more.
    in_vain: u32,
    /// End of its newest sample.
    sampled_to_ms: Option<i64>,
}

impl Course {
    pub(crate) fn new(predicted: &Demand) -> Self {
        Self {
            predicted: predicted.clone(),
            progress: Progress::START,
            progress_ms: 0,
            pace: Pace::default(),
            measured: Resources::ONE,
            lowered: Resources::ONE,
            unused: Unused::default(),
            throttling: Throttling::default(),
            checked_ms: None,
            in_vain: 0,
            sampled_to_ms: None,
        }
    }

    pub(crate) fn predicted(&self) -> &Demand {
        &self.predicted
    }

    /// Factors of the rest of its demand.
    pub(crate) fn factors(&self) -> Resources {
        self.measured.zip(self.lowered, |measured, lowered| bounded(measured * lowered))
    }

    /// Its corrected demand, capped at the node's capacity.
    pub(crate) fn demand(&self, capacity: Resources) -> Demand {
        let factors = self.factors();
        if factors == Resources::ONE {
            return self.predicted.clone();
        }
        self.predicted.scaled(factors).capped(capacity)
    }

    pub(crate) fn record_sample(&mut self, used: Used) {
        self.sampled_to_ms = Some(used.to_ms);
        let length_ms = used.to_ms.saturating_sub(used.from_ms);
        self.throttling.add(used.throttled, used.usage.cpu_cores, length_ms);
    }

    pub(crate) fn sampled_to_ms(&self) -> Option<i64> {
        self.sampled_to_ms
    }

    /// Records a progress. Returns its slot in the demand if that differs from `slot`, the planned
    /// one. An estimate varies a little with each sample, so a difference of one slot is ignored
    /// until the demand is over.
    pub(crate) fn update_progress(
        &mut self,
        progress: Progress,
        slot: i64,
        now_ms: i64,
    ) -> Option<i64> {
        self.progress = progress;
        self.progress_ms = now_ms;
        self.pace.observe(progress, now_ms);
        let slot_now = progress.slots_of(&self.predicted) as i64;
        let is_overdue = slot >= self.predicted.slots().len() as i64;
        let differs = slot_now.abs_diff(slot) > 1 || is_overdue && slot_now < slot;
        differs.then_some(slot_now)
    }

    /// Its slowness, if the executor is slow and may have a window.
    pub(crate) fn due_slowness(&self, settings: &ReprovisionSettings, now_ms: i64) -> Option<Slow> {
        if self.rests(settings.every_ms, now_ms) {
            return None;
        }
        let is_slow = |slow: &Slow| slow.times() > settings.slow_from;
        let behind = self.slowness(now_ms).map(Slow::Behind).filter(is_slow);
        // A limit set to a mean throttles every burst, so an executor with bursts is always
        // throttled. Each window in vain doubles the time to the next.
        let doubled = 1 << self.in_vain.min(MOST_DOUBLINGS);
        if behind.is_some() || self.rests(settings.every_ms.saturating_mul(doubled), now_ms) {
            return behind;
        }
        self.throttled(settings).filter(is_slow)
    }

    fn rests(&self, every_ms: i64, now_ms: i64) -> bool {
        self.checked_ms
            .is_some_and(|checked_ms| (0..every_ms).contains(&now_ms.saturating_sub(checked_ms)))
    }

    /// The slowness by throttling, once the throttled executor has lost as much time as a slow one:
    /// a throttled start or burst is over by then.
    fn throttled(&self, settings: &ReprovisionSettings) -> Option<Slow> {
        let expected_ms = self.predicted.duration_ms()? as f64;
        let lost_ms = (settings.slow_from - 1.0) * expected_ms;
        self.throttling.slow(lost_ms.min(settings.every_ms as f64))
    }

    pub(crate) fn mark_checked(&mut self, now_ms: i64) {
        self.checked_ms = Some(now_ms);
    }

    fn slowness(&self, now_ms: i64) -> Option<f64> {
        let expected_ms = self.predicted.duration_ms()?;
        self.pace.slowness(self.progress, expected_ms, now_ms)
    }

    /// Takes in the sample of a window. Returns whether it measured the executor: one that uses less than
    /// predicted, although all remaining resources were its own, is held up by something else, and the
    /// window tells neither its demand nor its pace.
    pub(crate) fn close_window(
        &mut self,
        used: Resources,
        predicted: Range,
        slow: Slow,
        capacity: Resources,
    ) -> bool {
        let former = self.factors();
        let measured = raised(former, used, predicted.where_throttled(slow), capacity);
        let wanted_more = Resource::ALL
            .into_iter()
            .any(|resource| measured.get(resource) > (1.0 + CONFIRMS) * former.get(resource));
        self.in_vain = match slow {
            Slow::Throttled { .. } if !wanted_more => self.in_vain + 1,
            _ => 0,
        };
        if !wanted_more && uses_less(used, predicted.least, capacity, 1.0 - CONFIRMS) {
            return false;
        }
        self.measured = measured;
        self.lowered = Resources::ONE;
        // It uses what was predicted, so its work takes longer than expected. By how much is known only
        // for an executor that is behind.
        if let Slow::Behind(slowness) = slow
            && !wanted_more
        {
            self.pace.accept_as_own(slowness);
        }
        true
    }

    /// Restarts the measurement of pace, unused demand and throttling.
    pub(crate) fn restart_measuring(&mut self, now_ms: i64) {
        self.pace.begin(self.progress, now_ms);
        self.unused = Unused::default();
        self.throttling = Throttling::default();
    }

    /// Takes in a sample outside of a window. `predicted` is the mean prediction for its period, and `around`
    /// the range of predictions within a slot of it. Returns whether the demand changed.
    pub(crate) fn record_use(
        &mut self,
        used: Used,
        predicted: Resources,
        around: Range,
        capacity: Resources,
        settings: &ReprovisionSettings,
    ) -> bool {
        let was_on_time = self.was_on_time(settings);
        let length_ms = used.to_ms.saturating_sub(used.from_ms);
        if uses_less(used.usage, predicted, capacity, IDLE_BELOW) {
            self.pace.idled(length_ms);
        }
        let before = self.lowered;
        self.lowered = restored(self.lowered, used.usage, predicted);
        if !was_on_time || self.lowered != before {
            self.unused = Unused::default();
        } else if let Some(enough) = self.unused.add(used.usage, around.least, capacity) {
            let enough = Resources {
                memory_bytes: if self.memory_peak_is_past() { enough.memory_bytes } else { 1.0 },
                ..enough
            };
            let lowered = self.lowered.zip(enough, |lowered, enough| lowered * enough);
            self.lowered = lowered.map(bounded);
        }
        self.lowered != before
    }

    /// Whether it was on time against the prediction at its latest progress. An executor at a
    /// slower pace of its own may be held up for good by a full node: it uses less at a time, and
    /// would use all its demand as soon as it could.
    fn was_on_time(&self, settings: &ReprovisionSettings) -> bool {
        let slowness = self.predicted.duration_ms().and_then(|expected_ms| {
            self.pace.slowness_against_prediction(
                self.progress,
                expected_ms as f64,
                self.progress_ms,
            )
        });
        slowness.is_some_and(|slowness| slowness <= settings.slow_from)
    }

    /// Whether no later slot is predicted to hold more memory than the completed ones.
    fn memory_peak_is_past(&self) -> bool {
        let slots = self.predicted.slots();
        let (past, to_come) = slots.split_at(self.progress.slots_of(&self.predicted));
        let most_bytes = |slots| Resources::peak_of(slots).memory_bytes;
        most_bytes(past) >= most_bytes(to_come)
    }
}

/// The range of a demand between two times since its start, plus and minus one slot.
pub(crate) fn range_around(demand: &Demand, from_ms: i64, to_ms: i64) -> Range {
    let slot_ms = i64::from(demand.slot_ms());
    let first = demand.slot_at(from_ms.saturating_sub(slot_ms));
    let last = demand.slot_at(to_ms.saturating_add(slot_ms).saturating_sub(1));
    let slots = demand.slots().get(first..=last).unwrap_or_default();
    let around = |pick: fn(f64, f64) -> f64| {
        let slots = slots.iter().copied();
        slots.reduce(|a, b| a.zip(b, pick)).unwrap_or_default()
    };
    Range { least: around(f64::min), most: around(f64::max) }
}

/// The mean of a demand between two times since its start; of memory the peak.
pub(crate) fn mean_between(demand: &Demand, from_ms: i64, to_ms: i64) -> Resources {
    let slot_ms = i64::from(demand.slot_ms());
    let (mut sum, mut length_ms, mut memory_bytes) = (Resources::ZERO, 0, 0.0_f64);
    let mut at_ms = from_ms;
    while at_ms < to_ms {
        let end_ms = (at_ms.div_euclid(slot_ms) + 1) * slot_ms;
        let part_ms = end_ms.min(to_ms) - at_ms;
        let slot = demand.at(at_ms);
        sum += slot * part_ms as f64;
        memory_bytes = memory_bytes.max(slot.memory_bytes);
        length_ms += part_ms;
        at_ms += part_ms;
    }
    if length_ms == 0 {
        return demand.at(from_ms);
    }
    Resources { memory_bytes, ..sum * (1.0 / length_ms as f64) }
}

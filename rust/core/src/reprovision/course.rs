//! How one executor gets on, and what that makes of its demand.

use super::factors::{Range, bounded, is_held_up, needs, raised};
use super::throttling::Throttling;
use super::unused::{Unused, restored};
use super::{ReprovisionSettings, Slow, Used};
use crate::demand::Demand;
use crate::progress::{Pace, Progress};
use crate::resources::{Resource, Resources};

/// An executor that uses less than this part of all that is predicted does not want it now.
const IDLE_BELOW: f64 = 0.1;

/// Windows in vain after which an executor that is throttled waits no longer: a thousand times as long.
const MOST_DOUBLINGS: u32 = 10;

/// Where a measurement differs from the prediction by no more, it confirms it.
const CONFIRMS: f64 = 0.1;

/// What the use in a window says of an executor that is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finding {
    /// It uses more than was predicted where it can.
    WantsMore,
    /// It uses what was predicted: its work takes longer than expected, and it is not slow for that
    /// again.
    OwnPace,
    /// It uses less, though all that was left was its own: something else holds it up, and neither its
    /// demand nor its pace is known from that.
    HeldUp,
}

/// An executor of which a prediction is known.
#[derive(Debug, Clone)]
pub(crate) struct Course {
    /// As it was when the executor started.
    predicted: Demand,
    progress: Progress,
    /// When that was told.
    told_ms: i64,
    pace: Pace,
    /// By what was measured in windows.
    measured: Resources,
    /// By what keeps being unused.
    lowered: Resources,
    unused: Unused,
    throttling: Throttling,
    /// When it last had a window, or its node too little for one.
    looked_at_ms: Option<i64>,
    /// How many windows in a row it had for being throttled and wanted no more in.
    in_vain: u32,
    /// When the newest sample of it ended.
    sampled_to_ms: Option<i64>,
}

impl Course {
    pub(crate) fn new(predicted: &Demand) -> Self {
        Self {
            predicted: predicted.clone(),
            progress: Progress::START,
            told_ms: 0,
            pace: Pace::default(),
            measured: Resources::ONE,
            lowered: Resources::ONE,
            unused: Unused::default(),
            throttling: Throttling::default(),
            looked_at_ms: None,
            in_vain: 0,
            sampled_to_ms: None,
        }
    }

    pub(crate) fn predicted(&self) -> &Demand {
        &self.predicted
    }

    /// What the rest of its demand is multiplied by.
    pub(crate) fn factors(&self) -> Resources {
        self.measured.zip(self.lowered, |measured, lowered| {
            bounded(measured * lowered)
        })
    }

    /// Its demand as it is now, nowhere above what the node has.
    pub(crate) fn demand(&self, capacity: Resources) -> Demand {
        let factors = self.factors();
        if factors == Resources::ONE {
            return self.predicted.clone();
        }
        self.predicted.scaled(factors).capped(capacity)
    }

    pub(crate) fn sampled(&mut self, used: Used) {
        self.sampled_to_ms = Some(used.to_ms);
        let length_ms = used.to_ms.saturating_sub(used.from_ms);
        self.throttling
            .add(used.throttled, used.usage.cpu_cores, length_ms);
    }

    pub(crate) fn sampled_to_ms(&self) -> Option<i64> {
        self.sampled_to_ms
    }

    /// In which slot of its demand it is now, where that has to be told apart from `slot`, the one
    /// that it is taken to be in. An estimate moves a little with each sample, so that one slot
    /// makes no difference until the demand is over.
    pub(crate) fn told(&mut self, progress: Progress, slot: i64, now_ms: i64) -> Option<i64> {
        self.progress = progress;
        self.told_ms = now_ms;
        self.pace.told(progress, now_ms);
        let told = progress.slots_of(&self.predicted) as i64;
        let is_overdue = slot >= self.predicted.slots().len() as i64;
        let differs = told.abs_diff(slot) > 1 || is_overdue && told < slot;
        differs.then_some(told)
    }

    /// By how much it is slow, where it is and may have a window.
    pub(crate) fn is_due(&self, settings: &ReprovisionSettings, now_ms: i64) -> Option<Slow> {
        if self.rests(settings.every_ms, now_ms) {
            return None;
        }
        let is_slow = |slow: &Slow| slow.times() > settings.slow_from;
        let behind = self.slowness(now_ms).map(Slow::Behind).filter(is_slow);
        // A limit to a mean holds back whatever comes in bursts, and such an executor always is: twice as
        // long with each window that says so.
        let doubled = 1 << self.in_vain.min(MOST_DOUBLINGS);
        if behind.is_some() || self.rests(settings.every_ms.saturating_mul(doubled), now_ms) {
            return behind;
        }
        self.throttled(settings).filter(is_slow)
    }

    fn rests(&self, every_ms: i64, now_ms: i64) -> bool {
        self.looked_at_ms.is_some_and(|looked_at_ms| {
            (0..every_ms).contains(&now_ms.saturating_sub(looked_at_ms))
        })
    }

    /// What its CPU limit makes of it, once that cost it as much time as makes another slow: a start or
    /// a burst that is held back is over by then.
    fn throttled(&self, settings: &ReprovisionSettings) -> Option<Slow> {
        let expected_ms = self.predicted.duration_ms()? as f64;
        let lost_ms = (settings.slow_from - 1.0) * expected_ms;
        self.throttling.slow(lost_ms.min(settings.every_ms as f64))
    }

    pub(crate) fn looked_at(&mut self, now_ms: i64) {
        self.looked_at_ms = Some(now_ms);
    }

    fn slowness(&self, now_ms: i64) -> Option<f64> {
        let expected_ms = self.predicted.duration_ms()?;
        self.pace.slowness(self.progress, expected_ms, now_ms)
    }

    /// Takes in what the executor used in a window that it had for being slow.
    pub(crate) fn measured(
        &mut self,
        used: Resources,
        predicted: Range,
        slow: Slow,
        capacity: Resources,
    ) -> Finding {
        let former = self.factors();
        let measured = raised(former, used, predicted.where_throttled(slow), capacity);
        let wanted_more = Resource::ALL
            .into_iter()
            .any(|resource| measured.get(resource) > (1.0 + CONFIRMS) * former.get(resource));
        self.in_vain = match slow {
            Slow::Throttled { .. } if !wanted_more => self.in_vain + 1,
            _ => 0,
        };
        if !wanted_more && is_held_up(used, predicted, capacity, 1.0 - CONFIRMS) {
            return Finding::HeldUp;
        }
        self.measured = measured;
        self.lowered = Resources::ONE;
        if wanted_more {
            return Finding::WantsMore;
        }
        // Of one that is not behind no pace is known.
        if let Slow::Behind(slowness) = slow {
            self.pace.is_own(slowness);
        }
        Finding::OwnPace
    }

    /// Its speed is measured from now on.
    pub(crate) fn begin(&mut self, now_ms: i64) {
        self.pace.begin(self.progress, now_ms);
        self.unused = Unused::default();
        self.throttling = Throttling::default();
    }

    /// Takes in a sample; `predicted` is the mean prediction for its time, and `around` the range of
    /// predictions give or take a slot. Returns whether the sample changes the demand.
    pub(crate) fn used(
        &mut self,
        used: Used,
        predicted: Resources,
        around: Range,
        capacity: Resources,
        settings: &ReprovisionSettings,
    ) -> bool {
        let was_on_time = self.was_on_time(settings);
        let length_ms = used.to_ms.saturating_sub(used.from_ms);
        if is_idle(used.usage, predicted, capacity) {
            self.pace.idled(length_ms);
        }
        let before = self.lowered;
        self.lowered = restored(self.lowered, used.usage, predicted);
        if !was_on_time || self.lowered != before {
            self.unused = Unused::default();
        } else if let Some(enough) = self.unused.add(used.usage, around.least, capacity) {
            let enough = Resources {
                memory_bytes: if self.memory_peak_is_behind() {
                    enough.memory_bytes
                } else {
                    1.0
                },
                ..enough
            };
            let lowered = self.lowered.zip(enough, |lowered, enough| lowered * enough);
            self.lowered = lowered.map(bounded);
        }
        self.lowered != before
    }

    /// Whether it was as fast as was predicted when its progress was told. One whose own pace is slower
    /// may be held up for good, by a full node: it uses less at a time, and would use all as soon as it
    /// can.
    fn was_on_time(&self, settings: &ReprovisionSettings) -> bool {
        let slowness = self.predicted.duration_ms().and_then(|expected_ms| {
            self.pace
                .slowness_at_first(self.progress, expected_ms, self.told_ms)
        });
        slowness.is_some_and(|slowness| slowness <= settings.slow_from)
    }

    /// Whether no slot to come is predicted to hold more than those behind.
    fn memory_peak_is_behind(&self) -> bool {
        let most = |slots: &[Resources]| {
            let held = slots.iter().map(|slot| slot.memory_bytes);
            held.fold(0.0, f64::max)
        };
        let slots = self.predicted.slots();
        let (behind, to_come) = slots.split_at(self.progress.slots_of(&self.predicted));
        most(behind) >= most(to_come)
    }
}

/// Whether it uses next to nothing of all that it needs.
fn is_idle(used: Resources, predicted: Resources, capacity: Resources) -> bool {
    let mut needed = Resource::FLOWS
        .into_iter()
        .filter(|resource| needs(*resource, predicted, capacity))
        .peekable();
    needed.peek().is_some()
        && needed.all(|resource| used.get(resource) < IDLE_BELOW * predicted.get(resource))
}

/// The least and the most demand between two moments since its start, give or take a slot.
pub(crate) fn range_around(demand: &Demand, from_ms: i64, to_ms: i64) -> Range {
    let slot_ms = i64::from(demand.slot_ms());
    let first = demand.slot_at(from_ms.saturating_sub(slot_ms));
    let last = demand.slot_at(to_ms.saturating_add(slot_ms).saturating_sub(1));
    let slots = demand.slots().get(first..=last).unwrap_or_default();
    let around = |pick: fn(f64, f64) -> f64| {
        let slots = slots.iter().copied();
        slots.reduce(|a, b| a.zip(b, pick)).unwrap_or_default()
    };
    Range {
        least: around(f64::min),
        most: around(f64::max),
    }
}

/// The mean demand between two moments since its start; of memory the most.
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
    Resources {
        memory_bytes,
        ..sum * (1.0 / length_ms as f64)
    }
}

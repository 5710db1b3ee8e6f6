//! The usage of an executor, in slots from its start.

use elastane_core::{Resources, SLOT_MS};
use elastane_predict::MAX_SLOTS;

use crate::memory::{MemoryPeaks, MemorySource};

const SLOT: i64 = SLOT_MS as i64;

/// Core-seconds, bytes received and sent over the network, bytes read from and written to disk.
pub(crate) type Flows = [f64; 3];

pub(crate) struct LoggedExecutor {
    /// The id of the resource profile.
    pub(crate) profile: i32,
    pub(crate) started_ms: i64,
    pub(crate) ended_ms: Option<i64>,
    flows: Vec<Flows>,
    /// Peaks per task: short intervals.
    pub(crate) task_memory: MemoryPeaks,
    /// Peaks per stage: long intervals.
    pub(crate) stage_memory: MemoryPeaks,
}

impl LoggedExecutor {
    pub(crate) fn new(profile: i32, started_ms: i64) -> Self {
        Self {
            profile,
            started_ms,
            ended_ms: None,
            flows: Vec::new(),
            task_memory: MemoryPeaks::default(),
            stage_memory: MemoryPeaks::default(),
        }
    }

    /// Spreads amounts evenly over a period.
    pub(crate) fn spread(&mut self, from_ms: i64, to_ms: i64, amounts: Flows) {
        let from = from_ms.saturating_sub(self.started_ms).max(0);
        let to = to_ms.saturating_sub(self.started_ms).max(from + 1);
        let length = (to - from) as f64;
        for (slot, overlap_ms) in overlaps(from, to) {
            if slot >= self.flows.len() {
                self.flows.resize(slot + 1, Flows::default());
            }
            for (sum, amount) in self.flows[slot].iter_mut().zip(amounts) {
                *sum += amount * overlap_ms as f64 / length;
            }
        }
    }

    /// The indices of the slots that a period touches.
    pub(crate) fn slots_between(&self, from_ms: i64, to_ms: i64) -> std::ops::Range<usize> {
        let from = from_ms.saturating_sub(self.started_ms).max(0);
        let to = to_ms.saturating_sub(self.started_ms).max(from + 1);
        let slot = |ms: i64| usize::try_from(ms / SLOT).unwrap_or(0).min(MAX_SLOTS);
        slot(from)..slot(to - 1).saturating_add(1).min(MAX_SLOTS)
    }

    /// Received bytes per slot, with the start of the slot.
    pub(crate) fn received(&self) -> impl Iterator<Item = (i64, f64)> {
        let slots = (0..).zip(&self.flows);
        let received = slots.filter(|(_, flows)| flows[1] > 0.0);
        received.map(|(slot, flows)| (self.started_ms + slot * SLOT, flows[1]))
    }

    /// The samples until `end_ms`: end since the start of the executor, length and usage.
    pub(crate) fn samples(
        &self,
        end_ms: i64,
        request_bytes: f64,
    ) -> (Vec<(i64, u32, Resources)>, MemorySource) {
        let longest_ms = MAX_SLOTS as i64 * SLOT;
        let lived_ms =
            (self.ended_ms.unwrap_or(end_ms).saturating_sub(self.started_ms)).clamp(1, longest_ms);
        let count = lived_ms.div_euclid(SLOT) + i64::from(lived_ms % SLOT > 0);
        let (memory, source) = MemoryPeaks::series(
            &self.task_memory,
            &self.stage_memory,
            count as usize,
            request_bytes,
        );
        let samples = (0..count).zip(memory).map(|(slot, memory_bytes)| {
            let length_ms = SLOT.min(lived_ms - slot * SLOT);
            let flows = self.flows.get(slot as usize).copied().unwrap_or_default();
            let [cpu_cores, network_bytes_per_s, disk_bytes_per_s] =
                flows.map(|amount| amount * 1e3 / length_ms as f64);
            let used = Resources { cpu_cores, memory_bytes, network_bytes_per_s, disk_bytes_per_s };
            (slot * SLOT + length_ms, length_ms as u32, used)
        });
        (samples.collect(), source)
    }
}

/// The slots that a period touches, each with its overlap in milliseconds. Slots from [`MAX_SLOTS`] on
/// are ignored.
fn overlaps(from: i64, to: i64) -> impl Iterator<Item = (usize, i64)> {
    let longest_ms = MAX_SLOTS as i64 * SLOT;
    let (from, to) = (from.min(longest_ms), to.min(longest_ms));
    (from / SLOT..(to + SLOT - 1) / SLOT).map(move |slot| {
        let overlap_ms = to.min((slot + 1) * SLOT) - from.max(slot * SLOT);
        (slot as usize, overlap_ms)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spread_over_slots_stays_as_much() {
        let mut executor = LoggedExecutor::new(0, 10_000);
        executor.spread(11_500, 17_500, [6.0, 60.0, 0.0]);
        let (samples, source) = executor.samples(19_000, 1e9);
        let cores: Vec<f64> = samples.iter().map(|(.., used)| used.cpu_cores).collect();
        assert_eq!(cores, [0.5, 1.0, 0.5]);
        assert_eq!(samples[1].2.network_bytes_per_s, 10.0);
        assert_eq!(samples.last().map(|sample| sample.0), Some(9_000));
        assert_eq!(source, MemorySource::Request);
    }

    #[test]
    fn the_last_slot_is_as_long_as_the_executor_lived() {
        let mut executor = LoggedExecutor::new(0, 0);
        executor.spread(3_000, 4_000, [1.0, 0.0, 0.0]);
        executor.ended_ms = Some(4_000);
        let (samples, _) = executor.samples(99_000, 1e9);
        assert_eq!(samples.len(), 2);
        assert_eq!((samples[1].0, samples[1].1), (4_000, 1_000));
        assert_eq!(samples[1].2.cpu_cores, 1.0);
    }

    #[test]
    fn clocks_that_disagree_and_days_do_no_harm() {
        let mut executor = LoggedExecutor::new(0, 1_000_000);
        executor.spread(0, 10, [1.0, 0.0, 0.0]);
        executor.spread(i64::MIN, i64::MAX, [1.0, 0.0, 0.0]);
        executor.spread(i64::MAX, i64::MIN, [1.0, 0.0, 0.0]);
        let (samples, _) = executor.samples(i64::MAX, 1e9);
        assert_eq!(samples.len(), MAX_SLOTS);
        let (samples, _) = executor.samples(0, 1e9);
        assert_eq!(samples.len(), 1);
    }
}
